package onto

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// TestOutOfItsWay: lines that would block the fabric's packets at a port are removed, and lines that the switch
// removes with them are typed again afterwards.
func TestOutOfItsWay(t *testing.T) {
	for os, c := range map[swconf.OS]struct{ port, line, undo, again string }{
		swconf.NXOS: {"interface Ethernet1/1\n", "  vrf member RED\n", "no vrf member RED",
			"ip address 10.0.0.0/31"},
		swconf.EOS:  {"interface Ethernet1\n", "   vrf RED\n", "no vrf RED", "ip address 10.0.0.0/31"},
		swconf.NVUE: {"", "nv set interface swp1 ip vrf RED\n", "nv unset interface swp1 ip vrf\n", ""},
		swconf.FRR:  {"", "", "", ""},
	} {
		want := rendered(t, "rail", os, same, design.Numbered)["seg-1-rail-1"]
		running := want + c.line
		if c.port != "" {
			running = strings.Replace(want, c.port, c.port+c.line, 1)
		}
		m, err := Onto("running", []byte(running), want, os, Options{InBand: true})
		if err != nil {
			t.Fatal(os, err)
		}
		undo, again := strings.Index(m.Script, c.undo), strings.Index(m.Script, c.again)
		if undo < 0 || again < 0 || c.again != "" && again < undo {
			t.Errorf("%s: %q at %d, %q at %d in %s", os, c.undo, undo, c.again, again, m.Script)
		}
	}
}

// TestAlsoTaken: lines that a switch removes with a command, and for which the fabric has no line, are reported
// with their position.
func TestAlsoTaken(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Numbered)["seg-1-rail-1"]
	running := strings.Replace(want, "interface Ethernet1/1\n",
		"interface Ethernet1/1\n  vrf member RED\n  ip pim sparse-mode\n", 1)
	m, err := Onto("running", []byte(running), want, swconf.NXOS, Options{InBand: true})
	if err != nil || len(m.Remarks) != 1 ||
		!strings.Contains(m.Remarks[0], `ip pim sparse-mode of Ethernet1/1 goes with`) {
		t.Errorf("%v %+v", err, m)
	}
}

// TestWhoSpeaksFromIt: a merge that removes an address that the device itself uses is rejected, unless the operator
// has another access. A disabled management port does not count.
func TestWhoSpeaksFromIt(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Numbered)["seg-1-rail-1"]
	const mgmt = "interface mgmt0\n  ip address 192.0.2.1/24\n"
	const lo = "ip tacacs source-interface loopback0\ninterface loopback0\n  ip address 10.9.9.9/32\n"
	const inBand = "interface Ethernet1/1\n  no switchport\n  ip address 198.51.100.1/24\n"
	for running, why := range map[string]string{
		"hostname a\n" + mgmt + lo: "speaks from loopback0",
		"hostname a\n" + mgmt + strings.Replace(lo, "loopback0\n", "mgmt0\n", 1): "",
		"hostname a\n" + mgmt + "  shutdown\n" + inBand:                          "it is unreachable",
		"hostname a\ninterface mgmt0\n  ipv6 address 2001:db8::1/64\n" + inBand:  "",
	} {
		_, err := Onto("running", []byte(running), want, swconf.NXOS, Options{})
		if why == "" && err != nil || why != "" && (err == nil || !strings.Contains(err.Error(), why)) {
			t.Errorf("%q: %v, want %q", running, err, why)
		}
		if _, err := Onto("running", []byte(running), want, swconf.NXOS, Options{InBand: true}); err != nil {
			t.Errorf("%q in band: %v", running, err)
		}
	}
	frr := rendered(t, "rail", swconf.FRR, same, design.Unnumbered)["spine-1"]
	running := strings.Replace(frr, "interface swp1\n", "interface swp1\n ip address 198.51.100.1/24\n", 1)
	if _, err := Onto("running", []byte(running), frr, swconf.FRR, Options{}); err == nil ||
		!strings.Contains(err.Error(), "no address at eth") {
		t.Errorf("FRR: %v", err)
	}
}

// TestManagedOverIt: without a management port, a device may be reached over a VLAN's address, over a bridge, or by
// a route learned by BGP.
func TestManagedOverIt(t *testing.T) {
	for _, c := range []struct {
		os           swconf.OS
		running, why string
	}{
		{swconf.NXOS, "hostname a\ninterface Vlan10\n  ip address 192.0.2.1/24\n" +
			"interface Ethernet1/1\n  mtu 1500\n",
			"running:4: Ethernet1/1 would get"},
		{swconf.NVUE, "nv set interface swp1 bridge domain br_default\n", "running:1: swp1 would get"},
		{swconf.NVUE, "nv set interface swp1 bridge domain br_default\n" +
			"nv set interface eth0 ip address dhcp\n", ""},
		{swconf.NXOS, "hostname a\ninterface Ethernet1/9\n  ip address 192.0.2.1/24\n" +
			"router bgp 4200010001\n  neighbor 10.64.0.1\n    remote-as 65001\n", "running:6: "},
	} {
		want := rendered(t, "rail", c.os, same, design.Numbered)["seg-1-rail-1"]
		number := regexp.MustCompile(`router bgp \d+`)
		if own := number.FindString(want); own != "" {
			c.running = number.ReplaceAllString(c.running, own)
		}
		_, err := Onto("running", []byte(c.running), want, c.os, Options{})
		if c.why == "" && err != nil ||
			c.why != "" && (err == nil || !strings.HasPrefix(err.Error(), c.why)) {
			t.Errorf("%s %q: %v, want %q", c.os, c.running, err, c.why)
		}
		if _, err := Onto("running", []byte(c.running), want, c.os, Options{InBand: true}); err != nil {
			t.Errorf("%s %q in band: %v", c.os, c.running, err)
		}
	}
}

// TestShellRemarks: NVUE's commands are typed into a shell, where ! turns a command's result around.
func TestShellRemarks(t *testing.T) {
	want := rendered(t, "rail", swconf.NVUE, same, design.Numbered)["seg-1-rail-1"]
	m, err := Onto("running", []byte("nv set system hostname a\n"), want, swconf.NVUE, Options{})
	if err != nil || !strings.Contains(m.Script, "\n# interrupts: ") || strings.Contains(m.Script, "! ") {
		t.Errorf("%v: %.300s", err, m.Script)
	}
}

// TestNoEmptyTables: SONiC's updater rejects a database with an empty table, so the last key's removal removes its
// table. The operations applied one by one, as in RFC 6902, lead to the text.
func TestNoEmptyTables(t *testing.T) {
	db := rendered(t, "rail", swconf.SONiC, same, design.Numbered)["spine-1"]
	running := strings.Replace(db, "{\n", `{"VLAN": {"Vlan7": {}},
		"VLAN_MEMBER": {"Vlan7|Ethernet0": {"tagging_mode": "untagged"}},`+"\n", 1)
	running = strings.ReplaceAll(running, `"mtu": "9216"`, `"mtu": "1500"`)
	m, err := Onto("running", []byte(running), db, swconf.SONiC, Options{InBand: true})
	if err != nil {
		t.Fatal(err)
	}
	var doc, text map[string]any
	var ops []operation
	for s, v := range map[string]any{running: &doc, m.Text: &text, m.Script: &ops} {
		if err := json.Unmarshal([]byte(s), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range ops {
		path := strings.Split(o.Path, "/")[1:]
		at := doc
		for i, name := range path {
			name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
			_, there := at[name]
			switch {
			case i < len(path)-1:
				var ok bool
				if at, ok = at[name].(map[string]any); !ok {
					t.Fatalf("%s %s: there is no %s", o.Op, o.Path, name)
				}
			case o.Op != "add" && !there:
				t.Fatalf("%s %s: is not there", o.Op, o.Path)
			case o.Op == "remove":
				delete(at, name)
			default:
				at[name] = o.Value
			}
		}
	}
	if got, want := asJSON(t, doc), asJSON(t, text); got != want {
		t.Errorf("operations lead to\n%s\nthe text is\n%s", got, want)
	}
	if _, empty := doc["VLAN_MEMBER"]; empty {
		t.Error("VLAN_MEMBER is left empty")
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHalfAText: a text that ends within a command is not treated as complete, and an unknown line stays and is
// named.
func TestHalfAText(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Numbered)["seg-1-rail-1"]
	const head = "hostname a\ninterface Ethernet1/9\n"
	if _, err := Onto("running", []byte(head+"  switchport acc"), want, swconf.NXOS,
		Options{InBand: true}); err == nil || !strings.Contains(err.Error(), "running:3:17: ") ||
		!strings.Contains(err.Error(), "is it truncated?") {
		t.Errorf("half: %v", err)
	}
	m, err := Onto("running", []byte(head+"  frobnicate 7\n"), want, swconf.NXOS, Options{InBand: true})
	if err != nil || len(m.Remarks) != 1 || !strings.Contains(m.Text, "  frobnicate 7\n") ||
		!strings.Contains(m.Remarks[0], "running:3: \"frobnicate 7\" is not understood") {
		t.Errorf("a line: %v %+v", err, m)
	}
}

// TestLosesPFC: DSCPs that the device has lossless and the fabric does not are named.
func TestLosesPFC(t *testing.T) {
	for os, dscp := range map[swconf.OS]string{swconf.NXOS: "match dscp %d",
		swconf.NVUE: "dscp %d switch-priority 3"} {
		want := rendered(t, "rail", os, same, design.Numbered)["seg-1-rail-1"]
		is, was := fmt.Sprintf(dscp, 24), fmt.Sprintf(dscp, 26)
		if !strings.Contains(want, is) {
			t.Fatalf("%s: no %q in %s", os, is, want)
		}
		m, err := Onto("running", []byte(strings.Replace(want, is, was, 1)), want, os, Options{InBand: true})
		if err != nil {
			t.Fatal(os, err)
		}
		if got := strings.Join(m.Remarks, "\n"); !strings.Contains(got, "packets of DSCP 26 lose PFC on ") ||
			strings.Contains(got, "DSCP 24") {
			t.Errorf("%s: %q", os, got)
		}
	}
}
