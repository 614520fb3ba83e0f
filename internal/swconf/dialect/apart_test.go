package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// Ports of NICs without a bundle have separate VLANs, subnets and addresses in every language, and no channel or
// peer link. What is written is read back without a finding.
func TestPortsApart(t *testing.T) {
	for _, kind := range []string{"pod", "dual-rail"} {
		g := fabric(t, kind)
		g.Apart()
		for _, os := range dialect.Written() {
			d, err := plan(g, spec(), swconf.OS(os), design.Unnumbered, design.MLAG, "")
			if err != nil {
				t.Fatal(err)
			}
			cs, text := configs(t, d)
			for _, f := range lint(g, cs) {
				t.Errorf("%s %s: %s:%d: %s: %s", kind, os, f.File, f.Line, f.Rule, f.Message)
			}
			vlans := map[int]bool{}
			for _, s := range d.Switches {
				if s.Peer != nil || len(s.Channels()) > 0 {
					t.Errorf("%s %s: %s is of a pair, or has channels", kind, os, s.Name)
				}
				for _, v := range s.VLANs {
					vlans[v.ID] = true
				}
			}
			for _, id := range []int{101, 102, 701, 702} {
				if !vlans[id] || len(vlans) != 4 {
					t.Errorf("%s %s: VLANs %v", kind, os, vlans)
				}
			}
			for _, h := range d.Hosts {
				for i, n := range h.NICs {
					if n.Port != i%2+1 || len(n.Own) != 1 ||
						i > 0 && n.Addr.Masked() == h.NICs[i-1].Addr.Masked() {
						t.Errorf("%s %s: %s: %+v", kind, os, h.Name, n)
					}
				}
			}
			if !strings.Contains(text["addressing.csv"], "nic1 port 2") {
				t.Errorf("%s %s: no address of a second port", kind, os)
			}
		}
	}
}

// Both ports in one VLAN, and a port in a channel, are found at their lines.
func TestPortsApartFindings(t *testing.T) {
	g := fabric(t, "pod")
	g.Apart()
	d, err := plan(g, spec(), swconf.NXOS, design.Unnumbered, design.MLAG, "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := dialect.Render(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, from, to, say string }{
		{"rail-2", "switchport access vlan 701", "switchport access vlan 101",
			"Ethernet1/1 and Ethernet1/1 of rail-1 are in VLAN 101, and lead to one NIC without a bundle"},
		{"rail-1", "switchport access vlan 102\n",
			"switchport access vlan 102\n  channel-group 7 mode active\n",
			"Ethernet1/2 is in port channel 7, and host-1/nic-2p1 has no bundle"},
		{"rail-1", "switchport access vlan 102", "switchport access vlan 103", ""},
	} {
		var cs []*swconf.Config
		for _, f := range files {
			if !strings.HasSuffix(f.Path, "nxos.cfg") {
				continue
			}
			text := f.Text
			if strings.HasPrefix(f.Path, c.file+"/") {
				text = strings.Replace(text, c.from, c.to, 1)
			}
			x, err := dialect.Parse(f.Path, []byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, x)
		}
		var said []string
		for _, f := range lint(g, cs) {
			if f.Rule == "nic-vlans" {
				said = append(said, f.Message)
			}
		}
		if got := strings.Join(said, "; "); c.say == "" && got != "" || !strings.HasPrefix(got, c.say) {
			t.Errorf("%s: %q, want %q", c.to, got, c.say)
		}
	}
}
