package onto

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/swconf/sonic"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// languages are those that can be merged.
var languages = []swconf.OS{swconf.NXOS, swconf.EOS, swconf.FRR, swconf.SONiC, swconf.NVUE, swconf.Junos}

// rendered are the texts of a fabric's switches by name.
func rendered(t testing.TB, kind string, os swconf.OS, change func(*queue.Spec),
	addressing string) map[string]string {
	t.Helper()
	ports := 1
	if kind == "dual-rail" || kind == "pod" {
		ports = 2
	}
	g, err := topo.Build(kind, topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: ports}, Hosts: 2,
		Segments: 2, Spines: 2, Uplinks: 1, K: 4, Tiers: 3,
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	if p := sonic.Known("ACS-SN5600"); os == swconf.SONiC {
		if err := sonic.Fit(g, func(int) *sonic.Profile { return p }); err != nil {
			t.Fatal(err)
		}
	}
	d, err := design.Make(design.Fabric{Name: "test", Graph: g, Spec: func(int) queue.Spec {
		s := queue.Default()
		s.Watchdog.On = true
		change(&s)
		return s
	}, DataDSCP: 24, CNPDSCP: 48, OS: os, Addressing: addressing, Multihome: dialect.Multihome(os)})
	if err != nil {
		t.Fatal(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		name := path.Base(f.Path)
		if strings.HasSuffix(name, ".cfg") || name == "frr.conf" && os == swconf.FRR ||
			name == "config_db.json" || name == "nvue.txt" {
			out[path.Dir(f.Path)] = f.Text
		}
	}
	for name := range out { // the first of each kind of switch represents the others
		if !strings.HasSuffix(name, "1") {
			delete(out, name)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s: nothing is rendered", os)
	}
	return out
}

func same(*queue.Spec) {}

// TestNothingToDo: a device that meets the fabric's needs gets no step, for any fabric.
func TestNothingToDo(t *testing.T) {
	for _, os := range languages {
		for _, kind := range []string{"rail", "dual-rail", "pod", "single-rail", "fat-tree"} {
			for name, text := range rendered(t, kind, os, same, design.Unnumbered) {
				m, err := Onto("running", []byte(text), text, os, Options{})
				if err != nil || len(m.Steps) > 0 || m.Script != "" {
					t.Fatalf("%s %s %s: %v, %+v", os, kind, name, err, m)
				}
			}
		}
	}
}

// TestOntoAnother: a device with other thresholds and addresses then meets the fabric's needs, keeps its other
// lines, and a second merge has no step.
func TestOntoAnother(t *testing.T) {
	const theirs = "interface Ethernet1/40\n  description theirs\n  mtu 1500\n"
	for _, os := range languages {
		for _, kind := range []string{"rail", "fat-tree", "dual-rail"} {
			want := rendered(t, kind, os, same, design.Unnumbered)
			for name, old := range rendered(t, kind, os, func(s *queue.Spec) {
				s.Queues[3].WRED.Min, s.Queues[3].WRED.Max = 200*unit.KB, 2000*unit.KB
			}, design.Numbered) {
				switch os {
				case swconf.NVUE:
					old += "nv set interface swp40 link mtu 1500\nnv set interface swp40 description theirs\n"
				case swconf.Junos:
					old += "set interfaces et-0/0/39 mtu 1500\nset interfaces et-0/0/39 description theirs\n"
				case swconf.SONiC:
					old = strings.Replace(old, "{\n", "{\n    \"NTP_SERVER\": {\"10.1.1.1\": {}},\n", 1)
				default:
					old += strings.ReplaceAll(theirs, "Ethernet1/40",
						map[swconf.OS]string{swconf.NXOS: "Ethernet1/40",
							swconf.EOS: "Ethernet40", swconf.FRR: "swp40"}[os])
				}
				m, err := Onto("running", []byte(old), want[name], os, Options{InBand: true})
				if err != nil {
					t.Fatalf("%s %s %s: %v", os, kind, name, err)
				}
				if len(m.Steps) == 0 || m.Same == 0 || m.Kept == 0 {
					t.Errorf("%s %s %s: %d steps, %d the same, %d kept", os, kind, name, len(m.Steps), m.Same,
						m.Kept)
				}
				for _, own := range []string{"theirs", "mtu 1500"} {
					if os != swconf.SONiC && !strings.Contains(m.Text, own) {
						t.Errorf("%s %s %s: %q is gone", os, kind, name, own)
					}
				}
				if os == swconf.SONiC && !strings.Contains(m.Text, "10.1.1.1") {
					t.Errorf("%s %s %s: the time server is gone", os, kind, name)
				}
				if os == swconf.NVUE && m.Same < 40 { // only thresholds and addresses differ
					t.Errorf("%s %s: %d lines are the same", kind, name, m.Same)
				}
				again, err := Onto("merged", []byte(m.Text), want[name], os, Options{})
				if err != nil || len(again.Steps) > 0 {
					t.Fatalf("%s %s %s: once more: %v, %+v", os, kind, name, err, again)
				}
			}
		}
	}
}

// TestOntoRandomLines: for a device's text with lines removed, or doubled from another switch, the steps lead to
// the fabric's needs, and a second merge has no step.
func TestOntoRandomLines(t *testing.T) {
	texts := map[swconf.OS]map[string]string{}
	for _, os := range languages[:3] {
		texts[os] = rendered(t, "rail", os, same, design.Numbered)
	}
	rapid.Check(t, func(t *rapid.T) {
		os := rapid.SampledFrom(languages[:3]).Draw(t, "language")
		want := texts[os]["seg-1-rail-1"]
		lines := strings.SplitAfter(texts[os][rapid.SampledFrom([]string{"seg-1-rail-1",
			"spine-1"}).Draw(t, "switch")], "\n")
		var kept []string
		group := rapid.Bool().Draw(t, "the group of peers stays")
		gone := -1 // the indentation of a removed line, with everything below it
		for i, l := range lines {
			indent := len(l) - len(strings.TrimLeft(l, " "))
			if gone >= 0 && indent > gone {
				continue
			}
			if gone = -1; indent == 0 && strings.HasPrefix(l, "router bgp") {
				l = "router bgp 4200010001\n"
			}
			if strings.Contains(l, "FABRIC") && strings.Contains(l, "neighbor") && !group {
				continue // no device has lines about a group that does not exist
			}
			if indent == 0 || strings.HasSuffix(l, " peer-group\n") ||
				strings.HasSuffix(l, " peer group\n") ||
				rapid.IntRange(0, 4).Draw(t, fmt.Sprint("keep ", i)) > 0 {
				kept = append(kept, l)
			} else {
				gone = indent
			}
		}
		m, err := Onto("running", []byte(strings.Join(kept, "")), want, os, Options{InBand: true})
		if err != nil {
			if refused := (*Refused)(nil); errors.As(err, &refused) && refused.Line > 0 {
				t.Skip("refused with its line")
			}
			t.Fatal(err, strings.Join(kept, ""))
		}
		again, err := Onto("merged", []byte(m.Text), want, os, Options{InBand: true})
		if err != nil || len(again.Steps) > 0 {
			t.Fatalf("once more: %v, %+v", err, again)
		}
	})
}

// TestRefused: a merge that would isolate the device, or that needs to interrupt something outside the fabric, is
// rejected.
func TestRefused(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Numbered)["seg-1-rail-1"]
	arista := rendered(t, "rail", swconf.EOS, same, design.Numbered)["seg-1-rail-1"]
	db := rendered(t, "rail", swconf.SONiC, same, design.Numbered)["seg-1-rail-1"]
	const mgmt = "interface mgmt0\n  vrf member management\n  ip address 192.0.2.1/24\n"
	const inBand = "hostname a\ninterface Ethernet1/1\n  no switchport\n  ip address 198.51.100.1/24\n"
	for _, c := range []struct {
		os      swconf.OS
		running string
		opt     Options
		why     string // "" where it is done
	}{
		{swconf.NXOS, inBand, Options{}, "it is unreachable afterwards"},
		{swconf.NXOS, inBand, Options{InBand: true}, ""},
		{swconf.NXOS, inBand + mgmt, Options{}, ""},
		{swconf.NXOS, "hostname a\nrouter bgp 65001\n" + mgmt, Options{}, "another AS number"},
		{swconf.NXOS, "hostname a\nclass-map type qos match-all ROCE\n  match dscp 24\n" + mgmt, Options{},
			"rename yours"},
		{swconf.NXOS, "a# hostname a\na(config)# feature bgp\n", Options{}, "follows a prompt"},
		{swconf.EOS, strings.ReplaceAll(inBand, "Ethernet1/1", "Ethernet1"), Options{}, "no address at Management"},
		{swconf.EOS, strings.ReplaceAll(inBand, "Ethernet1/1", "Ethernet1") +
			"interface Management1\n   ip address 192.0.2.1/24\n", Options{}, ""},
		{swconf.SONiC, `{"PORT": {"Ethernet0": {"lanes": "1"}}}`, Options{}, "which the fabric cables"},
		{swconf.SONiC, strings.Replace(db, `"INTERFACE": {`,
			`"INTERFACE": {"Ethernet0|198.51.100.1/24": {},`, 1), Options{}, "MGMT_INTERFACE has no address"},
		{swconf.SONiC, strings.Replace(db, `"INTERFACE": {`,
			`"INTERFACE": {"Ethernet0|198.51.100.1/24": {},`, 1), Options{InBand: true}, ""},
	} {
		text := map[swconf.OS]string{swconf.NXOS: want, swconf.EOS: arista, swconf.SONiC: db}[c.os]
		_, err := Onto("running", []byte(c.running), text, c.os, c.opt)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s %.60q: %v, want %q", c.os, c.running, err, c.why)
		}
	}
}

// TestManagementIsNotTouched: for any fabric, no step is below a line that manages the device.
func TestManagementIsNotTouched(t *testing.T) {
	const mgmt = "interface mgmt0\n  ip address 192.0.2.1/24\n"
	want := mgmt[:len(mgmt)-len("192.0.2.1/24\n")] + "192.0.2.99/24\nssh key rsa 512\nhostname b\n"
	m, err := Onto("running", []byte("hostname a\n"+mgmt+"ssh key rsa 2048\n"), want, swconf.NXOS, Options{})
	if err != nil || len(m.Steps) > 0 {
		t.Errorf("%v, %+v", err, m)
	}
}

// TestLoopback: addresses of NVUE's one loopback outside the fabric belong to tunnels, other routing and in-band
// management, so they stay. On a port the fabric's replace them.
func TestLoopback(t *testing.T) {
	const own = "nv set interface lo ip address 10.99.0.1/32\n" +
		"nv set interface lo ipv4 address 10.99.0.2/32\n" +
		"nv set nve vxlan source address 10.99.0.2\n" +
		"nv set interface eth0 ip address 192.0.2.5/24\n"
	want := "nv set interface lo ip address 10.255.0.1/32\nnv set interface swp1 ip address 10.0.0.0/31\n"
	running := own + "nv set interface swp1 ip address 10.7.0.0/31\n"
	m, err := Onto("running", []byte(running), want, swconf.NVUE, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for line, in := range map[string]bool{"nv set interface lo ip address 10.255.0.1/32\n": true,
		"nv set interface swp1 ip address 10.0.0.0/31\n": true, "nv unset interface swp1 ip address": true,
		"nv unset interface lo": false} {
		if strings.Contains(m.Script, line) != in {
			t.Errorf("%q: not %v in\n%s", line, in, m.Script)
		}
	}
	if !strings.Contains(m.Text, own) {
		t.Errorf("the loopback's own are gone:\n%s", m.Text)
	}
}

// TestOthersPorts: if a redefined item is in use on ports outside the fabric, that is reported, also through the
// device's own policy.
func TestOthersPorts(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Numbered)["seg-1-rail-1"]
	const policy = "policy-map type qos MINE\n  class ROCE\n    set qos-group 2\n"
	for _, c := range []struct{ policy, says string }{{"MINE", "also changes Ethernet1/30"},
		{"NONE", "packets change class: those whose new class has no PFC are dropped"}} {
		m, err := Onto("running", []byte("hostname a\nclass-map type qos match-any ROCE\n  match dscp 26\n"+policy+
			"interface Ethernet1/30\n  service-policy type qos input "+c.policy+"\n"), want,
			swconf.NXOS, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, s := range m.Steps {
			if s.Text == "no match dscp 26" {
				said = s.Effect
			}
		}
		if !strings.HasPrefix(said, c.says) {
			t.Errorf("%s: %q", c.policy, said)
		}
	}
}

// TestLeaves: lines of NVUE set leaves, whose old value they replace, and lists, to which they add.
func TestLeaves(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"nv set interface swp1 link mtu 9216", "nv set interface swp1 link mtu 1500", true},
		{"nv set interface swp1 link mtu 9216", "nv set interface swp2 link mtu 9216", false},
		{"nv set interface swp1 ip address 10.0.0.1/31", "nv set interface swp1 ip address 10.0.0.3/31", false},
		{"nv set interface swp1 description 'a b'", "nv set interface swp1 description 'c d e'", true},
		{"nv set qos roce", "nv set qos pfc default-global tx enable", false},
		{"nv set qos mapping default-global dscp 24 switch-priority 3",
			"nv set qos mapping default-global dscp 24 switch-priority 1", true},
		{"nv set qos pfc default-global switch-priority 3", "nv set qos pfc default-global switch-priority 4", false},
	} {
		if got := nvueLeaf(c.a).same(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// TestPatch: for SONiC the merge is a JSON patch that leads from one database to the other.
func TestPatch(t *testing.T) {
	db := rendered(t, "rail", swconf.SONiC, same, design.Numbered)["seg-1-rail-1"]
	was := strings.NewReplacer(`"mtu": "9216"`, `"mtu": "1500"`, `"24": "3"`,
		`"24": "1", "99": "2"`).Replace(db)
	was = strings.Replace(was, `"BUFFER_PG": {`,
		`"BUFFER_PG": {"Ethernet0,Ethernet72|3-4": {"profile": "x"},`, 1)
	m, err := Onto("running", []byte(was), db, swconf.SONiC, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ops []operation
	if err := json.Unmarshal([]byte(m.Script), &ops); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, o := range ops {
		seen[o.Path] = o.Op
	}
	for path, op := range map[string]string{"/PORT/Ethernet0/mtu": "replace",
		"/DSCP_TO_TC_MAP/ROCE/24": "replace",
		"/DSCP_TO_TC_MAP/ROCE/99": "remove", "/BUFFER_PG/Ethernet0,Ethernet72|3-4": "remove",
		"/BUFFER_PG/Ethernet72|3-4": "add"} {
		if seen[path] != op {
			t.Errorf("%s: %q, want %q; all: %v", path, seen[path], op, seen)
		}
	}
	if got := pointer("INTERFACE", "Ethernet0|10.0.0.0/31",
		"a~b"); got != "/INTERFACE/Ethernet0|10.0.0.0~131/a~0b" {
		t.Error(got)
	}
}
