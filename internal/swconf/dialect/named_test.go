package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/site"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// A fabric of one model, leaves with ports in two parts towards servers and whole ones up.
func modelled(t testing.TB, model, os string, split int) *topo.Graph {
	t.Helper()
	rack := site.Pairs{{Key: "rack", Value: "2"}}
	cable := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := (&site.Site{
		Types: []site.Type{{Name: "host", GPUs: 8, NICs: 8, NICRate: 200 * unit.Gbps},
			{Name: "leaf", Model: model, OS: os, Split: split},
			{Name: "spine", Model: model, OS: os, Role: "spine"}},
		Nodes: []site.Group{{Name: "host", Type: "host", Per: rack, Count: 2},
			{Name: "leaf", Type: "leaf", Per: rack}, {Name: "spine", Type: "spine", Count: 4}},
		Cables: []site.Rule{{From: "host", To: "leaf", Same: []string{"rack"}},
			{From: "leaf", To: "spine", Count: 2}},
	}).Build(site.Defaults{Host: cable, Fabric: cable})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Ports of a known model are written by the device's names, whole and broken out, in every language. The output
// parses with every cable at its port, and equals the design.
func TestPortsAsOnTheDevice(t *testing.T) {
	want := map[string][]string{ // leaf-1: the second cable of its first port, and its first whole port
		"nxos":  {"interface Ethernet1/1/2", "interface Ethernet1/9", "breakout module 1 port 1 map 200g-2x"},
		"eos":   {"interface Ethernet1/5", "interface Ethernet9/1"},
		"sonic": {`"Ethernet4"`, `"Ethernet64"`, `"etp1b"`, `"lanes": "4,5,6,7"`},
		"frr":   {"interface swp1s1", "interface swp9"},
	}
	for _, os := range dialect.Written() {
		for _, addressing := range []string{design.Unnumbered, design.Numbered} {
			g := modelled(t, "tomahawk4", "", 2)
			d, err := plan(g, spec(), swconf.OS(os), addressing, "", "")
			if err != nil {
				t.Fatal(err)
			}
			cs, text := configs(t, d)
			for _, f := range lint(g, cs) {
				if f.Rule == "buffer-sum" && f.Severity == swconf.Info {
					continue // xOFF of 24 ports is above 64 MiB
				}
				t.Errorf("%s: %s:%d: %s: %s", os, f.File, f.Line, f.Rule, f.Message)
			}
			sameSpecs(t, d, cs)
			all := ""
			for name, s := range text {
				if strings.HasPrefix(name, "leaf-1/") {
					all += s
				}
			}
			for _, w := range want[os] {
				if !strings.Contains(all, w) {
					t.Errorf("%s: leaf-1 has no %s", os, w)
				}
			}
			for i, l := range g.Links { // every cable of a switch is found in its text, both ends of it
				for _, c := range cs {
					n := g.Node(c.Name())
					if n != l.A && n != l.B || len(c.Ports) == 0 {
						continue
					}
					if p := c.Plugged(g.Nodes[n].Panel, g.Jack(i, n)); p == nil {
						t.Errorf("%s: cable %s is at no port of the text", os, g.End(i, n))
					}
				}
			}
		}
	}
}

// Impossible parts are rejected with the possible ones; SONiC's depend on its device.
func TestPartsThatNoPortHas(t *testing.T) {
	for _, c := range []struct {
		os    swconf.OS
		ports string
		nic   unit.Rate
		split int
		want  string
	}{
		{swconf.NXOS, "64x800Gbps", 200, 4, ""},
		{swconf.NXOS, "64x800Gbps", 100, 8, "would be broken out by map 100g-8x; accepted: 10g-4x, 25g-4x"},
		{swconf.EOS, "64x800Gbps", 100, 8, ""},
		{swconf.NVUE, "64x800Gbps", 100, 8, ""},
		{swconf.EOS, "64x800Gbps", 200, 3, "is one of 3 that a port is broken out into (split); accepted: 2, 4, 8"},
		{swconf.NXOS, "64x800Gbps", 200, 3, "accepted: 2, 4, 8"},
		{swconf.NVUE, "64x800Gbps", 200, 3, "accepted: 2, 4, 8"},
		{swconf.FRR, "64x800Gbps", 200, 3, ""},
		{swconf.SONiC, "64x800Gbps", 200, 3, "Ethernet0 of ACS-SN5600 cannot be broken out into 3 so"},
		{swconf.SONiC, "64x800Gbps", 200, 4, ""},
	} {
		rack := site.Pairs{{Key: "rack", Value: "2"}}
		cable := topo.Cable{Rate: 800 * unit.Gbps, LengthMM: 3000}
		g, err := (&site.Site{
			Types: []site.Type{{Name: "host", GPUs: 4, NICs: 4, NICRate: c.nic * unit.Gbps},
				{Name: "leaf", Ports: c.ports, Split: c.split, Role: "leaf"},
				{Name: "spine", Ports: c.ports, Role: "spine"}},
			Nodes: []site.Group{{Name: "host", Type: "host", Per: rack, Count: 2},
				{Name: "leaf", Type: "leaf", Per: rack}, {Name: "spine", Type: "spine", Count: 2}},
			Cables: []site.Rule{{From: "host", To: "leaf", Same: []string{"rack"}},
				{From: "leaf", To: "spine", Count: 1}},
		}).Build(site.Defaults{Host: cable, Fabric: cable})
		if err != nil {
			t.Fatal(err)
		}
		d, err := plan(g, spec(), c.os, design.Numbered, "", "")
		if err == nil {
			_, err = dialect.Render(d)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s into %d: %v, want %s", c.os, c.ports, c.split, err, c.want)
		}
	}
}

// A port missing in the text is named by the switch's name for it.
func TestMissingPortIsNamed(t *testing.T) {
	g := modelled(t, "tomahawk4", "", 2)
	d, err := plan(g, spec(), swconf.NXOS, design.Unnumbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	_, text := configs(t, d)
	file := "leaf-1/nxos.cfg"
	from := strings.Index(text[file], "interface Ethernet1/1/2\n")
	to := from + strings.Index(text[file][from:], "no shutdown\n") + len("no shutdown\n")
	c, err := dialect.Parse(file, []byte(text[file][:from]+text[file][to:]), "")
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, f := range lint(g, []*swconf.Config{c}) {
		said += f.Message + "\n"
	}
	if !strings.Contains(said, "leaf-1 has cables on ports Ethernet1/1/2, which the configuration does not cont") {
		t.Error(said)
	}
}

// The graph itself has the port names of a switch whose system is known, and numbers otherwise.
func TestNamesInTheGraph(t *testing.T) {
	for _, c := range []struct{ model, os, first, second string }{
		{"n9k-c9364d-gx2a", "", "Ethernet1/1/1", "Ethernet1/1/2"},
		{"7060x5-64s", "", "Ethernet1/1", "Ethernet1/5"},
		{"sn4700", "sonic", "Ethernet0", "Ethernet4"},
		{"sn4700", "frr", "swp1s0", "swp1s1"},
		{"tomahawk4", "junos", "et-0/0/0:0", "et-0/0/0:1"},
		{"tomahawk4", "", "Eth1", "Eth2"},
	} {
		g := modelled(t, c.model, c.os, 2)
		l, k := g.Links[0], g.Links[1]
		if got := fmt.Sprint(l.BPort, " ", k.BPort); got != c.first+" "+c.second {
			t.Errorf("%s with %q: %s, want %s %s", c.model, c.os, got, c.first, c.second)
		}
		if link, node, ok := g.FindPort("leaf-1:" + c.second); !ok || link != 1 || node != k.B {
			t.Errorf("%s: %s is not found", c.model, c.second)
		}
	}
}
