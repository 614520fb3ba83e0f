package recognise

import (
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/topo"

	"pgregory.net/rapid"
)

// A fabric is described as shortly whatever the order of its cables, and whichever end comes first.
func TestOrderOfCablesDoesNotMatter(t *testing.T) {
	type plain struct {
		name        string
		c           *cabling.Cabling
		rules, left int
		nodes       int
	}
	var all []plain
	for _, f := range fabrics {
		f.p.HostCable, f.p.Fabric = hostCable, fabricCable
		g, err := topo.Build(f.kind, f.p)
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Links) > 300 {
			continue
		}
		found, err := Recognise(cabling.Of(g), Options{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, plain{f.name, cabling.Of(g), found.Rules, found.Single, len(found.Site.Nodes)})
	}
	rapid.Check(t, func(t *rapid.T) {
		x := all[rapid.IntRange(0, len(all)-1).Draw(t, "fabric")]
		order := make([]int, len(x.c.Cables))
		for i := range order {
			order[i] = i
		}
		var cables []cabling.Cable
		turn := rapid.Uint64().Draw(t, "turn")
		for i, k := range rapid.Permutation(order).Draw(t, "order") {
			cable := x.c.Cables[k]
			if turn>>(i%64)&1 == 1 {
				cable.A, cable.B = cable.B, cable.A
			}
			cables = append(cables, cable)
		}
		found, err := Recognise(cabling.New(x.c.Nodes, cables), Options{})
		if err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if found.Rules != x.rules || found.Single != x.left || len(found.Site.Nodes) != x.nodes {
			t.Fatalf("%s: %d rules, %d single cables, %d groups; want %d, %d and %d", x.name, found.Rules,
				found.Single, len(found.Site.Nodes), x.rules, x.left, x.nodes)
		}
		if diff := cabling.Same(x.c, cabling.Of(found.Graph), true, true); diff != "" {
			t.Fatalf("%s: %s", x.name, diff)
		}
	})
}

// Ascending numbers are written as ranges.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		v    []int
		want string
	}{{[]int{3}, "3"}, {[]int{1, 2}, "1-2"}, {[]int{1, 2, 3, 7}, "1-3,7"}, {[]int{0, 2, 4, 5}, "0,2,4-5"}} {
		if got := ranges(c.v); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}
