package planner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// kindsOf returns the number of classes and elements of each kind.
func kindsOf(all []Element) (lines []string) {
	type key struct {
		kind, tier string
		class      int
	}
	count, order := map[key]int{}, []key{}
	for i := range all {
		k := key{all[i].Kind, all[i].Tier, all[i].Class}
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	for _, k := range order {
		lines = append(lines, fmt.Sprintf("%s %s %d", k.kind, k.tier, count[k]))
	}
	return lines
}

func fabricOf(t *testing.T, kind string, p topo.Params) *topo.Graph {
	t.Helper()
	c := topo.Cable{Rate: 100 * unit.Gbps, LengthMM: 3000}
	p.HostCable, p.Fabric = c, c
	g, err := topo.Build(kind, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ringOf is a ring all-reduce of some GPUs.
func ringOf(t *testing.T, g *topo.Graph, gpus ...int) *workload.DAG {
	t.Helper()
	d, err := workload.RunCollective(g.TotalGPUs(), workload.CollectiveRun{Kind: coll.AllReduce,
		Bytes: unit.MB}, [][]int{gpus})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A symmetric fabric under symmetric traffic has one class of each kind and tier. Traffic of some GPUs only
// distinguishes their NICs, leaves and servers from the others.
func TestClassesOfFailures(t *testing.T) {
	g := fabricOf(t, "rail", topo.Params{Hosts: 4, Segments: 2, Spines: 2, Uplinks: 1,
		Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}})
	whole := []string{"link rail–spine 8", "switch rail 4", "switch spine 2", "nic host 16", "server host 8"}
	if got := kindsOf(Elements(g, NewAlike(g, nil), FailureKinds, 0)); !slices.Equal(got, whole) {
		t.Errorf("without traffic: %q", got)
	}
	var all []int
	for gpu := range 16 {
		all = append(all, gpu)
	}
	one := kindsOf(Elements(g, NewAlike(g, ringOf(t, g, 0, 2, 4, 6, 8, 10, 12, 14)),
		[]string{"switch"}, 0))
	if !slices.Equal(one, []string{"switch rail 2", "switch rail 2", "switch spine 2"}) {
		t.Errorf("a ring on rail 1: %q", one)
	}
	// Two GPUs of one leaf: classes are that leaf, the segment's other leaf, and those of the other segment.
	few := kindsOf(Elements(g, NewAlike(g, ringOf(t, g, all[0], all[2])),
		[]string{"link", "switch", "nic", "server"}, 0))
	want := []string{"link rail–spine 2", "link rail–spine 2", "link rail–spine 4", "switch rail 1",
		"switch rail 1", "switch rail 2", "switch spine 2", "nic host 2", "nic host 2",
		"nic host 2", "nic host 2", "nic host 8", "server host 2", "server host 2", "server host 4"}
	if !slices.Equal(few, want) {
		t.Errorf("two GPUs of one leaf: %q", few)
	}
}

// Links of hosts are listed unless NICs are, which fail with their only link. No link is missing from both.
func TestLinksOfHosts(t *testing.T) {
	for _, c := range []struct {
		kind, kinds string
		want        []string
	}{
		{"rail", "link", []string{"link host–rail 16", "link rail–spine 8"}},
		{"rail", "link,switch", []string{"link host–rail 16", "link rail–spine 8", "switch rail 4", "switch spine 2"}},
		{"rail", "link,nic", []string{"link rail–spine 8", "nic host 16"}},
		{"rail-only", "link", []string{"link host–rail 16"}},
		{"dual-rail", "link", []string{"link host–rail 32"}},
		{"dual-rail", "link,nic", []string{"link host–rail 32", "nic host 16"}},
	} {
		p := topo.Params{Hosts: 4, Segments: 2, Spines: 2, Uplinks: 1, Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}}
		switch c.kind {
		case "rail-only":
			p.Hosts, p.Segments = 8, 1
		case "dual-rail":
			p.Hosts, p.Segments, p.Server.Ports = 8, 1, 2
		}
		g := fabricOf(t, c.kind, p)
		if got := kindsOf(Elements(g, NewAlike(g, nil), strings.Split(c.kinds, ","), 0)); !slices.Equal(got, c.want) {
			t.Errorf("%s, --kinds %s: %q", c.kind, c.kinds, got)
		}
	}
}

// Switches of one class isolate equal numbers of NICs. Leaves with traffic are distinguished from those without.
func TestNothingOfOneClassDiffers(t *testing.T) {
	g := fabricOf(t, "fat-tree", topo.Params{K: 4, Tiers: 3,
		Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}})
	a := NewAlike(g, ringOf(t, g, 0, 1, 2, 3))
	byClass := map[int]string{}
	for _, e := range Elements(g, a, []string{"switch"}, 0) {
		off := cutBy(g, e.Name)
		told := fmt.Sprint(e.Tier, " ", off)
		if was, ok := byClass[e.Class]; ok && was != told {
			t.Errorf("%s: %s, others of its class %s", e.Name, told, was)
		}
		byClass[e.Class] = told
	}
	if len(byClass) < 4 {
		t.Errorf("%d classes of switches", len(byClass))
	}
	cards := Elements(g, a, []string{"card"}, 2)
	if len(cards) != 40 || len(cards[0].Ports) != 2 || cards[0].Ports[0] != "Eth1" {
		t.Errorf("%d cards: %+v", len(cards), cards[0])
	}
}

// cutBy returns how many NICs a switch isolates.
func cutBy(g *topo.Graph, name string) int {
	down := map[int]bool{}
	for i, l := range g.Links {
		if n := g.Node(name); l.A == n || l.B == n {
			down[i] = true
		}
	}
	return len(g.CutOff(down))
}
