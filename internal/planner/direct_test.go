package planner

import (
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

// At 28,672 GPUs on switches of 128 ports a dragonfly takes fewer switches than a
// non-blocking leaf and spine fabric (seed "GPU fabrics for GenAI workloads", figure
// 14). It did not while both were whole textbook sizes: 39 and 50 ports were used.
func TestSwitchesAreFilled(t *testing.T) {
	in := input(t, 28_672, "128x400G", "128x400G", "7:1")
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

// What a design counts is what the builder of its kind builds, switches, cables and
// ports, for textbook sizes and for those between.
func TestDesignsAreBuilt(t *testing.T) {
	c := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	for _, gpus := range []int{72, 200, 1024, 1500, 4096, 8200, 16_512, 20_000} {
		for _, leaf := range []string{"32x400G", "128x400G", "31x400G", "63x400G"} {
			in := input(t, gpus, leaf, leaf, "1:1")
			built := map[string]topo.Params{}
			if x, ok := filled(in.Leaf.Ports, gpus); ok {
				built["dragonfly"] = topo.Params{K: x.K, GroupSize: x.GroupSize, Local: x.Local,
					Global: x.Global, Groups: x.Groups}
			}
			if k := in.Leaf.Ports / 2 * 2; ceilInt(gpus, k/2) <= k {
				built["fat-tree"] = topo.Params{K: k, Tiers: 2, Leaves: ceilInt(gpus, k/2)}
			} else if leaves := ceilInt(gpus, k/2); leaves <= k*k/2 {
				x := podded(k, leaves)
				built["fat-tree"] = topo.Params{K: k, Tiers: 3, Leaves: x.Leaves, Pods: x.Pods}
			}
			for kind, p := range built {
				d := find(t, in, kind)
				if !d.Fits() || d.GPUs > topo.MaxGPUs {
					continue
				}
				p.HostCable, p.Fabric = c, c
				g, err := topo.Build(kind, p)
				if err != nil {
					t.Fatalf("%d GPUs, %s, %s: %v", gpus, leaf, kind, err)
				}
				if g.TotalGPUs() != d.GPUs || len(g.Nodes)-len(g.Hosts) != d.Switches() ||
					len(g.Links) != d.CableCount() {
					t.Errorf("%d GPUs, %s, %s: built %d GPUs, %d switches, %d cables; counted %d, %d, %d",
						gpus, leaf, kind, g.TotalGPUs(),
						len(g.Nodes)-len(g.Hosts), len(g.Links), d.GPUs, d.Switches(), d.CableCount())
				}
				for _, n := range g.Nodes {
					if n.Role != topo.Host && n.Ports > in.Leaf.Ports {
						t.Fatalf("%d GPUs, %s, %s: %s has %d ports", gpus, leaf, kind, n.Name, n.Ports)
					}
				}
			}
		}
	}
}
