package planner

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/topo"
)

// At 28,672 GPUs on switches of 128 ports a dragonfly takes fewer switches than a non-blocking leaf and spine
// fabric (source document "GPU fabrics for GenAI workloads", figure 14). It did not while both had whole textbook
// sizes: 39 and 50 ports were used.
func TestSwitchesAreFilled(t *testing.T) {
	in := input(t, 28_672, "128x400G", "128x400G", "1:1")
	fat, fly := find(t, in, "fat-tree"), find(t, in, "dragonfly")
	// Seven pods of 64 leaves and 64 aggregation switches; four cores above each of the 64.
	if fat.GPUs != 28_672 || fat.Switches() != 7*128+4*64 {
		t.Errorf("fat tree: %d ports, %d switches", fat.GPUs, fat.Switches())
	}
	// p = h = 32 and a = 64 use 32+63+32 of 128 ports; 14 groups of 2,048 GPUs.
	if fly.GPUs != 28_672 || fly.Switches() != 14*64 {
		t.Errorf("dragonfly: %d ports, %d switches", fly.GPUs, fly.Switches())
	}
	for _, d := range []Design{fat, fly, find(t, in, "torus")} {
		used, all := 0, 0
		for _, x := range d.Tiers {
			used += (x.Down + x.Up) * x.Count
			all += in.Leaf.Ports * x.Count
		}
		if share := float64(used) / float64(all); share < 0.8 {
			t.Errorf("%s uses %.0f %% of its switches' ports", d.Name, 100*share)
		}
	}
	if d := find(t, input(t, 8192, "128x400G", "128x400G", "1:1"), "fat-tree"); d.Switches() != 128+64 ||
		d.Hops != 3 {
		t.Errorf("8,192 GPUs need two tiers of 128 ports: %d switches, %d hops", d.Switches(), d.Hops)
	}
	if d := find(t, input(t, 8193, "128x400G", "128x400G", "1:1"), "fat-tree"); d.Hops != 5 {
		t.Errorf("8,193 GPUs need three tiers: %d hops", d.Hops)
	}
	if d := find(t, input(t, 128, "128x400G", "128x400G", "1:1"), "fat-tree"); d.Fits() {
		t.Errorf("128 GPUs fit one switch: %+v", d)
	}
}

// A dragonfly is not cabled for several times the GPUs: of equal numbers of switches the variant with fewer links
// is cheaper.
func TestSmallDragonflies(t *testing.T) {
	for gpus, most := range map[int]int{64: 96, 72: 96, 96: 96, 100: 144, 128: 144, 200: 240, 256: 256, 1056: 1120} {
		if d := find(t, input(t, gpus, "128x400G", "128x400G", "1:1"), "dragonfly"); d.GPUs < gpus || d.GPUs > most {
			t.Errorf("%d GPUs: cabled for %d (%s)", gpus, d.GPUs, d.Note)
		}
	}
}

// A design counts the switches and cables that its scenario builds, and topo's tiers and bisection equal the
// design's. This holds at every oversubscription, for textbook sizes and others. The oversubscription is no higher
// than requested unless the design gives a reason.
func TestDesignsAreBuilt(t *testing.T) {
	for _, gpus := range []int{72, 1024, 8200} {
		for _, leaf := range []string{"32x400G", "128x400G", "63x400G"} {
			for _, ratio := range []string{"1:1", "2:1", "7:1"} {
				in := input(t, gpus, leaf, leaf, ratio)
				all, err := Fabrics(in)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range all {
					what := fmt.Sprintf("%d GPUs, %s, %s, %s", gpus, leaf, ratio, d.Name)
					if d.Fits() && d.Scenario != "" {
						builtAs(t, what, in, d)
					}
				}
			}
		}
	}
	in := input(t, 1024, "256x200G", "256x200G", "2:1") // 400G in two ports of 200G
	in.NICPorts = 2
	builtAs(t, "two ports", in, find(t, in, "port-planes"))
	for _, c := range []struct{ gpus, server, ports, switches, cables int }{{128, 8, 2, 2, 256}, {16, 2, 4, 4, 64},
		{256, 8, 2, 2, 512}, {129, 8, 2, 2, 272}, {264, 8, 2, 35, 0}} { // 256 ports of 200G; then two tiers
		in = input(t, c.gpus, "128x400G", "128x400G", "1:1")
		in.PerServer, in.NICPorts = c.server, c.ports
		d := find(t, in, "port-planes")
		if c.cables > 0 && (d.Switches() != c.switches || d.CableCount() != c.cables || d.Hops != 1) ||
			c.cables == 0 && len(d.Tiers) != 2 {
			t.Errorf("%+v: %d switches, %d cables, %d hops", c, d.Switches(), d.CableCount(), d.Hops)
		}
		builtAs(t, fmt.Sprintf("%+v", c), in, d)
	}
	for _, gpus := range []int{64, 128, 512} {
		in = input(t, gpus, "128x400G", "128x400G", "2:1")
		in.NICPorts = 2
		builtAs(t, "pairs", in, find(t, in, "pod-pairs"))
	}
}

func builtAs(t *testing.T, what string, in FabricInput, d Design) {
	t.Helper()
	doc, err := scenario.Parse(d.Name, []byte(d.Scenario), nil)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, d.Scenario)
	}
	plan, err := doc.Network(func(string) ([]byte, error) { return nil, errors.New("no file is named") })
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, d.Scenario)
	}
	g := plan.Graph
	inv := g.Inventory()
	cables := len(g.Links)
	if inv.GPUs < in.GPUs || len(g.Nodes)-len(g.Hosts) != d.Switches() || cables != d.CableCount() {
		t.Errorf("%s: built %d GPUs, %d switches, %d cables; counted %d, %d, %d", what, inv.GPUs,
			len(g.Nodes)-len(g.Hosts), cables, d.GPUs, d.Switches(), d.CableCount())
	}
	metres := map[float64]int{} // by length: cables
	for _, l := range g.Links {
		metres[float64(l.LengthMM)/1000]++
	}
	for _, c := range d.Cables {
		metres[float64(c.Metres)] -= c.Count
	}
	for length, n := range metres {
		if n != 0 {
			t.Errorf("%s: %d cables of %g m more are built than counted", what, n, length)
		}
	}
	if inv.GPUs != d.Cabled() || d.GPUs < inv.GPUs {
		t.Errorf("%s: %d GPUs by topo, %d cabled in the design with ports for %d", what, inv.GPUs, d.Cabled(), d.GPUs)
	}
	if math.Abs(inv.Share-d.Bisection) > 1e-9 {
		t.Errorf("%s: bisection %.4f by topo, %.4f by the design", what, inv.Share, d.Bisection)
	}
	for _, n := range g.Nodes {
		if n.Role != topo.Host && n.Ports > in.Leaf.broken(in.NICRate/max(1, in.NICPorts)) {
			t.Errorf("%s: %s has %d ports", what, n.Name, n.Ports)
		}
	}
	// The top tier's oversubscription is that of the tier below.
	if tiers := inv.Tiers; len(tiers) > 1 {
		if got := tiers[len(tiers)-2].Oversubscription; math.Abs(got-d.Ratio) > 1e-9 {
			t.Errorf("%s: %.3f:1 by topo, %.3f:1 by the design", what, got, d.Ratio)
		}
	}
	if d.Ratio > in.Ratio+1e-9 && d.Name != "torus" && d.Name != "dragonfly" {
		t.Errorf("%s: %.3f:1 reached", what, d.Ratio)
	}
	says := strings.Contains(d.Note, "instead of") || strings.Contains(d.Note, "does not apply")
	near := d.Ratio > 0.995*in.Ratio && d.Within(in.Ratio)
	if off := d.Ratio == 0 && in.Ratio > 1 || d.Ratio > 0 && !near; off != says {
		t.Errorf("%s: %.3f:1 reached, and the note says %q", what, d.Ratio, d.Note)
	}
}
