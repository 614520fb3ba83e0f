package site

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// segment is the host segment of the source's figure 13-7: four servers of eight NICs of two ports each, on two
// Nexus 9348D-GX2A, with four spines above.
func segment(edit func(leaf *Type)) *Site {
	s := &Site{
		Types: []Type{
			{Name: "host", GPUs: 8, NICs: 8, NICPorts: 2, NICRate: 200 * unit.Gbps},
			{Name: "rail", Model: "n9k-c9348d-gx2a", Role: "rail", RailMap: railPanel},
			{Name: "spine", Model: "n9k-c9364d-gx2a", Role: "spine"},
		},
		Nodes: []Group{{Name: "host", Type: "host", Count: 4}, {Name: "rail", Type: "rail", Count: 2},
			{Name: "spine", Type: "spine", Count: 4}},
		Cables: []Rule{{From: "host", To: "rail", Match: pairs("n", "port")},
			{From: "rail", To: "spine", Count: 4}},
	}
	edit(&s.Types[1])
	return s
}

// rails writes which ports of a switch its rails have.
func rails(g *topo.Graph, name string) string {
	node := g.Node(name)
	var out []string
	rails, others := g.RailPorts(node)
	port := func(l int) string {
		j := g.Jack(l, node)
		if j.Parts > 1 {
			return fmt.Sprintf("%d/%d", j.Port, j.Part)
		}
		return fmt.Sprint(j.Port)
	}
	for _, r := range append(rails, topo.RailPorts{Rail: -1, Links: others}) {
		var ports []string
		for _, l := range r.Links {
			ports = append(ports, port(l))
		}
		out = append(out, fmt.Sprintf("%d: %s", r.Rail+1, strings.Join(ports, ", ")))
	}
	return strings.Join(out, "\n")
}

// figure is the source's figure 13-6 on a Nexus 9348D-GX2A, number by number; what it leaves is for spines.
const figure = `1: 1, 4, 7, 10
2: 13, 16, 19, 22
3: 25, 28, 31, 34
4: 37, 40, 43, 46
5: 2, 5, 8, 11
6: 14, 17, 20, 23
7: 26, 29, 32, 35
8: 38, 41, 44, 47
0: 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48`

// The panel's map of a 9348D is the source's, on both switches, and so is the same list written by hand.
func TestRailMapOfTheSeed(t *testing.T) {
	var own Pairs
	for _, line := range strings.Split(figure, "\n") {
		if rail, ports, _ := strings.Cut(line, ": "); rail != "0" {
			own = append(own, Pair{rail, strings.ReplaceAll(ports, " ", "")})
		}
	}
	for _, edit := range []func(*Type){func(*Type) {},
		func(t *Type) { t.RailMap, t.RailPorts = "", own }} {
		g, err := segment(edit).Build(defaults)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"rail-1", "rail-2"} {
			if got := rails(g, name); got != figure {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, figure)
			}
		}
		if end := g.End(g.NICs[3].Links[0], g.Node("rail-1")); end != "rail-1:Ethernet1/37" {
			t.Errorf("host-1's NIC 4 is in %s", end) // rail 4's first
		}
		if !g.Nodes[g.Node("rail-1")].RailMap || g.Nodes[g.Node("spine-1")].RailMap {
			t.Error("the graph does not know whose ports a map gives to rails")
		}
	}
}

// The other maps: server by server, as the groups of eight of the source's figure 13-4, and rail by rail.
func TestOtherRailMaps(t *testing.T) {
	for how, want := range map[string]string{"": "1: 1, 9, 17, 25\n", railOrder: "1: 1, 9, 17, 25\n",
		railBlocks: "1: 1, 2, 3, 4\n"} {
		g, err := segment(func(t *Type) { t.RailMap, t.Split = how, 1 }).Build(defaults)
		if err != nil {
			t.Fatal(err)
		}
		if got := rails(g, "rail-2"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", how, got)
		}
	}
}

// Ports that are too few are broken out, those that are left go to other switches.
func TestRailMapsBrokenOut(t *testing.T) {
	s := leafOf("n9k-c9332d-gx2b", 40, 100*unit.Gbps)
	s.Types[1].RailMap = railPanel
	g, err := s.Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	if got := rails(g, "leaf-1"); !strings.HasPrefix(got, "1: 1/1, 1/2, 1/3, 1/4, 3/1, 3/2,") {
		t.Error(got)
	}
	s = leafOf("n9k-c9332d-gx2b", 3, 100*unit.Gbps)
	s.Types[1].RailPorts = pairs("1", "5/2,7,9/4")
	if g, err = s.Build(defaults); err != nil {
		t.Fatal(err)
	}
	if got := rails(g, "leaf-1"); !strings.HasPrefix(got, "1: 5/2, 7, 9/4\n") {
		t.Error(got)
	}
}

// What is wrong with a map is told at its place.
func TestRailMapsThatAreWrong(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*Type)
	}{
		{`types[1].rail_map: "pannel" is not a map (did you mean "panel"?)`,
			func(t *Type) { t.RailMap = "pannel" }},
		{"types[1].rail_map: rail_ports sets", func(t *Type) { t.RailPorts = pairs("1", "1-4") }},
		{"types[1].rail_map: panel needs a model whose rows of ports are known: 7060x6-64pe",
			func(t *Type) { t.Model, t.Ports = "", "48x400Gbps" }},
		{"types[1]: a map of ports to rails needs the switch's ports", func(t *Type) { t.Model = "" }},
		{"types[1].rail_map: panel has the 48 ports of a Cisco Nexus 9348D-GX2A, not 40x400Gbps",
			func(t *Type) { t.Ports = "40x400Gbps" }},
		{"types[1].rail_ports.3: unknown port 49; they go from 1 to 48", own("3", "1,49")},
		{"types[1].rail_ports.2: port 4 is rail 1's already", own("1", "1-4", "2", "4")},
		{`types[1].rail_ports.1: "1-" is not a list of ports; accepted`, own("1", "1-")},
		{"types[1].rail_ports.x: is not a rail", own("x", "1")},
		{"types[1].rail_ports: rail-1 has 4 cables of rail 2 (host-1 on), and the map 0 ports",
			own("1", "1-4")},
		{"types[1].rail_ports.1: port 5 has no part 5; it splits into 4", own("1", "5/5")},
		{"cables[1]: rail-1 has more cables than ports: 32 by cables[0] (host to rail) + 16 by cables[1] " +
			"(rail to spine); its type rail has 48x400Gbps, each broken out into up to 4, of which 40 are",
			own("1", "1-4", "2", "5-8", "3", "9-12", "4", "13-16", "5", "17-20", "6", "21-24", "7", "25-28",
				"8", "29-32", "9", "33-40")},
	} {
		_, err := segment(c.edit).Build(defaults)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

// own is a map that a type writes itself.
func own(words ...string) func(*Type) {
	return func(t *Type) { t.RailMap, t.RailPorts = "", pairs(words...) }
}

// However many servers and rails a switch has: no port is two cables', and rails keep to themselves.
func TestRailMapsHoldWhatTheyGive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts, nics := rapid.IntRange(1, 8).Draw(t, "hosts"), rapid.IntRange(1, 8).Draw(t, "nics")
		s := &Site{
			Types: []Type{{Name: "host", GPUs: nics, NICs: nics, NICRate: 400 * unit.Gbps},
				{Name: "leaf", Model: rapid.SampledFrom([]string{"n9k-c9332d-gx2b", "n9k-c9348d-gx2a",
					"n9k-c9364d-gx2a"}).Draw(t, "model"), Split: 1,
					RailMap: rapid.SampledFrom(railMaps).Draw(t, "map")}},
			Nodes:  []Group{{Name: "host", Type: "host", Count: hosts}, {Name: "leaf", Type: "leaf"}},
			Cables: []Rule{{From: "host", To: "leaf"}},
		}
		g, err := s.Build(defaults)
		kinds, _ := parsePorts(modelOf(s.Types[1].Model).Ports)
		if err != nil {
			if hosts*nics <= kinds[0].count && s.Types[1].RailMap != railPanel {
				t.Fatalf("%d cables on %d ports: %v", hosts*nics, kinds[0].count, err)
			}
			return
		}
		taken := map[int32]bool{}
		list, _ := g.RailPorts(g.Node("leaf-1"))
		for _, r := range list {
			if len(r.Links) != hosts {
				t.Fatalf("rail %d has %d ports of %d servers", r.Rail+1, len(r.Links), hosts)
			}
			for k, l := range r.Links {
				j := g.Jack(l, g.Node("leaf-1"))
				if taken[j.Port] || g.NICs[r.NICs[k]].Host != k || g.NICs[r.NICs[k]].Index != r.Rail {
					t.Fatalf("port %d: rail %d, server %d", j.Port, r.Rail+1, g.NICs[r.NICs[k]].Host+1)
				}
				taken[j.Port] = true
			}
		}
	})
}
