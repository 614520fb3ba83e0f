package site

import (
	"strconv"
	"strings"
	"testing"

	"railyard/internal/topo"

	"pgregory.net/rapid"
)

// A dragonfly in the language is the builder's, cable by cable: groups of switches that are joined, and any
// two groups by as many cables.
func TestBetweenIsADragonfly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := topo.Dragonfly{K: 1, GroupSize: rapid.IntRange(2, 5).Draw(t, "size"), Local: 1,
			Global: rapid.IntRange(1, 3).Draw(t, "global")}.Balanced()
		if err != nil {
			t.Fatal(err)
		}
		d.Groups = rapid.IntRange(2, d.Groups).Draw(t, "groups")
		want, err := topo.Build("dragonfly", topo.Params{K: 1, GroupSize: d.GroupSize, Local: 1,
			Global: d.Global, Groups: d.Groups, HostCable: defaults.Host, Fabric: defaults.Fabric})
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Site{
			Types: []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "leaf"}},
			Nodes: []Group{
				{Name: "host", Type: "host", Per: pairs("group", strconv.Itoa(d.Groups), "i",
					strconv.Itoa(d.GroupSize))},
				{Name: "leaf", Type: "leaf", Per: pairs("group", strconv.Itoa(d.Groups), "i",
					strconv.Itoa(d.GroupSize))}},
			Cables: []Rule{{From: "host", To: "leaf", Same: []string{"group", "i"}},
				{From: "leaf", To: "leaf", Same: []string{"group"}},
				{From: "leaf", To: "leaf", Between: "group", Count: d.Between(), Each: d.Global}},
		}).Build(defaults)
		if err != nil {
			t.Fatal(err)
		}
		bag := func(g *topo.Graph) map[string]int {
			out := map[string]int{}
			for _, l := range g.Links {
				if a, b := g.Nodes[l.A].Name, g.Nodes[l.B].Name; !strings.HasPrefix(a, "host") {
					out[min(a, b)+" "+max(a, b)]++
				}
			}
			return out
		}
		a, b := bag(want), bag(got)
		for k, n := range a {
			if b[k] != n {
				t.Fatalf("%+v: %s: %d cables, the builder has %d", d, k, b[k], n)
			}
		}
		if len(a) != len(b) {
			t.Fatalf("%+v: %d pairs of switches are cabled, the builder cables %d", d, len(b), len(a))
		}
	})
}

// What between cannot mean is refused, with what is accepted.
func TestBetweenRefused(t *testing.T) {
	for want, rule := range map[string]Rule{
		"has no place \"pod\"; it has x, n":     {From: "sw", To: "sw", Between: "pod"},
		"one group of switches":                 {From: "host", To: "sw", Between: "x"},
		"from and to are the same":              {From: "sw-[1-2]", To: "sw-[3-4]", Between: "x"},
		"match, wrap and share have no effect":  {From: "sw", To: "sw", Between: "x", Wrap: true},
		"1 nodes of 2 cables each, and 3 cable": {From: "sw", To: "sw", Between: "x", Each: 2},
		"is for between":                        {From: "sw", To: "sw", Each: 2},
		"it has no other to connect":            {From: "sw-[1-1]", To: "sw-[1-1]", Between: "x"},
	} {
		s := &Site{
			Types: []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "sw"}},
			Nodes: []Group{{Name: "host", Type: "host", Per: pairs("x", "4")},
				{Name: "sw", Type: "sw", Per: pairs("x", "4")}},
			Cables: []Rule{{From: "host", To: "sw", Same: []string{"x"}}, rule},
		}
		if _, err := s.Build(defaults); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", rule, err, want)
		}
	}
}
