package frr

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/tell"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

func read(t testing.TB, text string) *swconf.Config {
	t.Helper()
	c, err := Parse("frr.conf", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return c
}

const bgp = "router bgp 65001\n"

// The meaning of FRR's lines.
func TestLines(t *testing.T) {
	story.Cases(t, "lines", func(text string) string { return tell.Facts(read(t, text)) })
}

// Names to which lines refer are defined, or noted for lint to report.
func TestNames(t *testing.T) {
	c := read(t, "route-map OUT permit 10\n match ip address prefix-list LO\nexit\n"+
		"ip prefix-list LO seq 5 permit 10.0.0.0/8 le 32\n"+bgp+
		" address-family ipv4 unicast\n  redistribute connected route-map OUT\n"+
		"  neighbor 10.0.0.2 route-map IN in\n")
	var have, use []string
	for _, o := range c.Objects {
		have = append(have, o.Kind+" "+o.Name)
	}
	for _, r := range c.Refs {
		use = append(use, r.Kind+" "+r.Name)
	}
	if got := fmt.Sprint(have,
		use); got != "[route-map OUT prefix-list LO] [prefix-list LO route-map OUT route-map IN]" {
		t.Error(got)
	}
	c = read(t, "route-map OUT permit 10\nexit\nno route-map OUT permit 10\n"+
		bgp+" address-family ipv4 unicast\n"+
		"  redistribute connected route-map OUT\n  no redistribute connected route-map OUT\n")
	if len(c.Objects) != 0 || len(c.Refs) != 0 {
		t.Errorf("%v %v are left behind no", c.Objects, c.Refs)
	}
}

// A second router bgp of the same table is told, with the line of the first.
func TestTwoRouters(t *testing.T) {
	c := read(t, bgp+"exit\nrouter bgp 65002\n")
	if len(c.Faults) != 1 || c.Faults[0].Rule != "duplicate-definition" || c.Faults[0].Line != 3 ||
		!strings.Contains(c.Faults[0].Message, "first on line 1") {
		t.Errorf("%+v", c.Faults)
	}
}

// The configuration of a switch of any fabric parses to the design: its ports, their far ends, its addresses and
// every session with the AS at its other end.
func TestWrittenSwitchesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1},
			Hosts: rapid.IntRange(1, 3).Draw(t, "hosts"), Segments: rapid.IntRange(1, 3).Draw(t, "segments"),
			Spines: rapid.IntRange(1, 3).Draw(t, "spines"), Uplinks: rapid.IntRange(1, 2).Draw(t, "uplinks"),
			HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000},
			Fabric:    topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
		if err != nil {
			t.Fatal(err)
		}
		addressing := rapid.SampledFrom([]string{design.Numbered, design.Unnumbered}).Draw(t, "addressing")
		d, err := design.Make(design.Fabric{Name: "f", Graph: g, Spec: func(int) queue.Spec {
			return queue.Default()
		},
			DataDSCP: 24, CNPDSCP: 48, OS: swconf.FRR, Addressing: addressing, Multihome: design.ESI})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Switches {
			files, err := Render(d, s)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Parse(files[0].Path, []byte(files[0].Text))
			if err != nil || len(c.Unknown)+len(c.Faults) > 0 {
				t.Fatalf("%s: %v %v %v", s.Name, err, c.Unknown, c.Faults)
			}
			if c.Hostname.V != s.Name || len(c.Ports) != len(s.Ports) ||
				Looks(swconf.Searched(files[0].Text)) < 5 {
				t.Fatalf("%s has %d ports, the text of %s %d", s.Name, len(s.Ports), c.Hostname.V,
					len(c.Ports))
			}
			for _, p := range s.Ports {
				q := c.Port(fmt.Sprintf("swp%d", p.Number))
				if q == nil || q.Number != p.Number || !strings.HasPrefix(q.Desc.V, "to "+p.FarName+" ") ||
					(len(q.Addrs) == 1) != p.Addr.IsValid() || len(q.Addrs) == 1 && q.Addrs[0].V != p.Addr {
					t.Fatalf("%s port %d is %+v in the text", s.Name, p.Number, q)
				}
			}
			if s.Routed() && (c.BGP == nil || c.BGP.ASN.V != s.ASN ||
				len(c.BGP.Neighbors) != len(s.Neighbors())) {
				t.Fatalf("%s: %+v", s.Name, c.BGP)
			}
			for i, p := range s.Neighbors() {
				n := c.BGP.Neighbors[i]
				want := fmt.Sprintf("swp%d", p.Number)
				if p.Addr.IsValid() && n.Addr != p.FarAddr || !p.Addr.IsValid() && n.Port != want {
					t.Fatalf("%s: neighbour %s on port %d", s.Name, n.Name(), p.Number)
				}
				if n.Remote.V != "external" || !n.Active {
					t.Fatalf("%s: %+v", s.Name, n)
				}
			}
		}
	})
}

// FRR routes and does not bundle: a design with MLAG is refused with what would be possible.
func TestNoMLAG(t *testing.T) {
	g, err := topo.Build("pod", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 2},
		Hosts: 2, Segments: 1,
		Spines: 1, Uplinks: 1, HostCable: topo.Cable{Rate: 100 * unit.Gbps},
		Fabric: topo.Cable{Rate: 100 * unit.Gbps}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.Make(design.Fabric{Name: "f", Graph: g, Spec: func(int) queue.Spec {
		return queue.Default()
	},
		DataDSCP: 24, CNPDSCP: 48, OS: swconf.FRR, Addressing: design.Numbered, Multihome: design.MLAG})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Render(d, d.Switches[0]); err == nil || !strings.Contains(err.Error(), "--multihoming esi") {
		t.Error(err)
	}
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("router bgp 65001\n neighbor swp1 interface remote-as external\n address-family ipv4 unicast\n")
	f.Add("interface swp1\n ip address 10.0.0.1/31\n no ip address\nno interface swp1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("x", []byte(text)); err == nil && c.Read+c.Passed+len(c.Unknown) != c.Total {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}

// Neighbours in other ASes with policies in and out need no more, and those without are named. A port may borrow
// its switch's loopback address.
func TestPolicies(t *testing.T) {
	lint := func(text string) (all []string) {
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{read(t, text)}, DataDSCP: 24,
			CNPDSCP: 48, PathMTU: 4096}) {
			if f.Severity == swconf.Error {
				all = append(all, f.Rule+": "+f.Message)
			}
		}
		return all
	}
	two := "hostname leaf\nroute-map A permit 10\n" + bgp + " neighbor S peer-group\n" +
		" neighbor S remote-as 65100\n neighbor 10.0.0.1 peer-group S\n" +
		" neighbor 10.0.0.2 remote-as 65200\n neighbor 10.0.0.3 remote-as 65001\n" +
		" bgp bestpath as-path multipath-relax\n redistribute connected\n"
	for _, c := range []struct{ more, want string }{
		{"", "[bgp-policy: leaf filters every eBGP route]"},
		{" no bgp ebgp-requires-policy\n", "[]"},
		{" neighbor S route-map A in\n neighbor S route-map A out\n",
			"[bgp-policy: leaf filters every route of 10.0.0.2, which have no policies]"},
		{" address-family ipv4\n  neighbor S route-map A in\n  neighbor S prefix-list P out\n" +
			"  neighbor 10.0.0.2 route-map A in\n  neighbor 10.0.0.2 route-map A out\n" +
			"ip prefix-list P permit any\n",
			"[]"},
		{" neighbor S route-map A in\n neighbor S route-map A out\n neighbor 10.0.0.2 shutdown\n", "[]"},
		{" no bgp ebgp-requires-policy\ninterface swp1\n ip address 10.9.0.1/32\n" +
			"interface swp2\n ip address 10.9.0.1/32\n", "[]"},
		{" no bgp ebgp-requires-policy\ninterface swp1\n ip address 10.9.0.1/31\n" +
			"interface swp2\n ip address 10.9.0.1/31\n",
			"[address-duplicate: leaf swp2 has the address 10.9.0.1 of leaf swp1]"},
	} {
		if got := fmt.Sprint(lint(two + c.more)); got != c.want {
			t.Errorf("%q: %s, want %s", c.more, got, c.want)
		}
	}
}

// Policies alone are a partial text, whose lists may be in another. With BGP, undefined lists are missing, and so
// is an undefined route-map anywhere.
func TestPartsNameWhatIsElsewhere(t *testing.T) {
	const policy = "route-map OUT permit 10\n match ip address prefix-list LOOPBACKS\n"
	for text, missing := range map[string]int{
		policy: 0,
		policy + "router bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n": 1,
		"route-map OUT permit 10\n call OTHER\n":                          1,
	} {
		c, err := Parse("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		have, n := map[string]bool{}, 0
		for _, o := range c.Objects {
			have[o.Kind+o.Name] = true
		}
		for _, r := range c.Refs {
			if !have[r.Kind+r.Name] {
				n++
			}
		}
		if n != missing {
			t.Errorf("%d names are missing, expected %d, of\n%s", n, missing, text)
		}
	}
}
