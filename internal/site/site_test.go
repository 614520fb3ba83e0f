package site

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

var defaults = Defaults{
	Host:   topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 5_000},
	Fabric: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000},
}

func pairs(words ...string) (p Pairs) {
	for i := 0; i < len(words); i += 2 {
		p = append(p, Pair{words[i], words[i+1]})
	}
	return p
}

// hpn is Alibaba's pod: 15 segments of 128 servers, eight rails in two planes, 60 aggregation
// switches a plane (Qian et al., SIGCOMM 2024, section 3).
func hpn() *Site {
	return &Site{
		Types: []Type{
			{Name: "host", GPUs: 8, NICs: 8, NICPorts: 2, NICRate: 200 * unit.Gbps},
			{Name: "tor", Ports: "128x400Gbps", Split: 2},
			{Name: "agg", Like: "tor", Role: "aggregation"},
		},
		Nodes: []Group{
			{Name: "host", Type: "host", Per: pairs("segment", "15"), Count: 128},
			{Name: "tor", Type: "tor", Per: pairs("segment", "15", "rail", "8", "plane", "2")},
			{Name: "agg", Type: "agg", Per: pairs("plane", "2"), Count: 60},
		},
		Cables: []Rule{
			{
				From:  "host",
				To:    "tor",
				Same:  []string{"segment"},
				Match: pairs("rail", "nic", "plane", "port"),
				Cable: 20_000,
			},
			{From: "tor", To: "agg", Same: []string{"plane"}, Cable: 50_000},
		},
	}
}

// The pod has 15,360 GPUs on 240 top-of-rack and 120 aggregation switches; a top-of-rack switch
// has 64 ports, broken out, to its 128 servers and 60 up; an aggregation switch 120 down.
func TestHPN(t *testing.T) {
	g, err := hpn().Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]int{}
	cables := make([]map[string]int, len(g.Nodes))
	for i, n := range g.Nodes {
		roles[n.Role.String()]++
		cables[i] = map[string]int{}
	}
	for _, l := range g.Links {
		cables[l.A][fmt.Sprintf("%v %v", g.Nodes[l.B].Role, l.Rate)]++
		cables[l.B][fmt.Sprintf("%v %v", g.Nodes[l.A].Role, l.Rate)]++
	}
	if got := fmt.Sprint(g.TotalGPUs(), roles); got != "15360 map[aggregation:120 host:1920 leaf:240]" {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"tor-3-7-2":   "map[aggregation 400Gbps:60 host 200Gbps:128]",
		"agg-2-60":    "map[leaf 400Gbps:120]",
		"host-15-128": "map[leaf 200Gbps:16]",
	} {
		if got := fmt.Sprint(cables[g.Node(name)]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if err := g.CheckConnected(nil); err != nil {
		t.Error(err)
	}
	nic := g.NICs[g.NICOf[8*130+4]]
	if got := g.Nodes[g.Links[nic.Links[1]].B].Name; got != "tor-2-5-2" || nic.Rail != 4 {
		t.Errorf("the fifth NIC of segment 2's third server: port 2 is in %s, on rail %d", got, nic.Rail)
	}
}

// Every fault is named with its rule, and a fault about ports with their sum.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Site)
		want   string
	}{
		"no such type": {func(s *Site) { s.Nodes[0].Type = "hots" },
			`nodes[0].type: unknown type "hots" (did you mean "host"?); accepted: host, tor, agg`},
		"circle": {func(s *Site) { s.Types[1].Like = "agg" },
			"types[1].like: is circular"},
		"no such group": {func(s *Site) { s.Cables[0].To = "leaf" },
			`cables[0].to: unknown group or node "leaf"`},
		"no such place": {func(s *Site) { s.Cables[0].Same = []string{"rack"} },
			`cables[0].same: tor has no place "rack"; it has segment, rail, plane, n`},
		"no such word": {func(s *Site) { s.Cables[0].Match[0].Value = "card" },
			`cables[0].match.rail: host has no place "card"; it has segment, n, nic, port`},
		"said twice": {func(s *Site) { s.Cables[1].Match = pairs("plane", "1") },
			"cables[1].match.plane: repeats plane"},
		"ambiguous": {func(s *Site) { s.Cables[0].Match = s.Cables[0].Match[:1] },
			"port 1 of NIC 1, and 2 switches (tor-1-1-1, tor-1-1-2) match"},
		"too many cables": {func(s *Site) { s.Nodes[0].Count = 150 },
			"tor-1-1-1 has more cables than ports: 150 by cables[0] (host to tor) + 60 by cables[1]"},
		"too fast": {func(s *Site) { s.Cables[1].Rate = 800 * unit.Gbps },
			"cables[1].rate: 800Gbps is more than the 400Gbps that a port of tor-1-1-1"},
		"left free": {func(s *Site) { s.Cables[0].NICs = "1-7" },
			"no rule cables port 1 of NIC 8 of host-1-1"},
		"used twice": {func(s *Site) { s.Cables = append(s.Cables, s.Cables[0]) },
			"cables[2]: port 1 of NIC 1 of host-1-1 has a cable by cables[0] already"},
		"joins nothing": {func(s *Site) { s.Cables[1].Same, s.Cables[1].Match = nil, pairs("plane", "3") },
			"cables[1]: connects nothing: no agg has plane 3 (they go to 2)"},
		"names collide": {func(s *Site) { s.Nodes[2].Named = "agg-{n}" },
			"nodes[2]: agg-1 is also a node of agg"},
		"a billion": {func(s *Site) { s.Nodes[0].Per[0].Value = "200000" },
			"nodes[0]: more than 200000 nodes in total"},
		"servers as to": {func(s *Site) { s.Cables[1].To = "host" },
			"cables[1]: host is servers: write them as from"},
		"both a switch and no": {func(s *Site) { s.Types[0].Ports = "2x400Gbps" },
			"types[0]: a server (it has gpus or nics) has no role"},
		"no number": {func(s *Site) { s.Nodes[0].Per[0].Value = "x" },
			`nodes[0].per.segment: "x" is not a list of numbers`},
	} {
		s := hpn()
		c.change(s)
		_, err := s.Build(defaults)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// A torus goes round, a mesh joins any two once.
func TestWithinOneGroup(t *testing.T) {
	s := &Site{
		Types: []Type{{Name: "h", GPUs: 1, NICs: 1}, {Name: "sw"}},
		Nodes: []Group{
			{Name: "h", Type: "h", Per: pairs("x", "4", "y", "3")},
			{Name: "sw", Type: "sw", Per: pairs("x", "4", "y", "3")},
		},
		Cables: []Rule{{From: "h", To: "sw", Same: []string{"x", "y"}},
			{From: "sw", To: "sw", Same: []string{"y"}, Match: pairs("x", "x+1"), Wrap: true},
			{From: "sw", To: "sw", Same: []string{"x"}, Match: pairs("y", "y+1"), Wrap: true}},
	}
	g, err := s.Build(defaults)
	if err != nil || len(g.Links) != 12+24 {
		t.Fatalf("%v, %d cables", err, len(g.Links))
	}
	s.Cables = append(s.Cables[:1], Rule{From: "sw", To: "sw"})
	if g, err = s.Build(defaults); err != nil || len(g.Links) != 12+66 {
		t.Fatalf("%v, %d cables", err, len(g.Links))
	}
}

// Nodes say where they stand, the widest place first; a number that is always 1 is no place.
func TestStands(t *testing.T) {
	s := Site{Types: []Type{{Name: "h", GPUs: 1, NICs: 1}, {Name: "l", Role: "leaf"}},
		Nodes: []Group{
			{Name: "host", Type: "h", Per: Pairs{{"pod", "2"}, {"rack", "3"}}, Count: 2},
			{Name: "leaf", Type: "l", Per: Pairs{{"pod", "2"}, {"rack", "3"}}},
			{Name: "spine", Type: "l", Count: 2}},
		Cables: []Rule{{From: "host", To: "leaf", Same: []string{"pod", "rack"}},
			{From: "leaf", To: "spine"}}}
	c := topo.Cable{Rate: unit.Gbps}
	g, err := s.Build(Defaults{Host: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Stands) != len(g.Nodes) {
		t.Fatalf("%d of %d nodes", len(g.Stands), len(g.Nodes))
	}
	for name, want := range map[string]string{"host-2-3-1": "host [pod rack n] [2 3 1]",
		"leaf-2-1": "leaf [pod rack] [2 1]", "spine-2": "spine [n] [2]"} {
		if x := g.Stands[g.Node(name)]; fmt.Sprintf("%s %v %v", x.Group, x.Words, x.At) != want {
			t.Errorf("%s: %v", name, x)
		}
	}
}
