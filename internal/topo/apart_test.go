package topo

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// With Apart, a fabric has the same cables, cards and rails, and each port is one NIC. GPUs of two servers are
// connected port by port, whether they share cards or have several each.
func TestApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nics := rapid.IntRange(1, 4).Draw(rt, "nics")
		gpus := nics * rapid.IntRange(1, 2).Draw(rt, "gpus")
		g, err := Build("pod", Params{Server: Server{GPUs: gpus, NICs: nics, Ports: 2}, Hosts: 2, Segments: 2,
			Spines: 2, Uplinks: 1, HostCable: Cable{Rate: unit.Gbps}, Fabric: Cable{Rate: unit.Gbps}})
		if err != nil {
			rt.Fatal(err)
		}
		cards, links := len(g.NICs), len(g.Links)
		rails := make([]int, g.TotalGPUs())
		for gpu := range rails {
			rails[gpu] = g.NICs[g.NICOf[gpu]].Rail
		}
		g.Apart()
		if len(g.NICs) != 2*cards || len(g.Links) != links || g.Cards() != cards ||
			g.Inventory().NICs != cards {
			rt.Fatalf("%d NICs of %d cards, %d cables", len(g.NICs), g.Cards(), len(g.Links))
		}
		names := map[string]bool{}
		for i, n := range g.NICs {
			if len(n.Links) != 1 || names[g.NICName(i)] {
				rt.Fatalf("%s has %d cables, or is repeated", g.NICName(i), len(n.Links))
			}
			names[g.NICName(i)] = true
		}
		for gpu := range rails {
			if g.Ways(gpu) != 2 || g.NICs[g.NICOf[gpu]].Rail != rails[gpu] {
				rt.Fatalf("GPU %d has %d ways, the first on rail %d", gpu, g.Ways(gpu),
					g.NICs[g.NICOf[gpu]].Rail)
			}
			for pair := range 4 {
				a, b := g.Pair(gpu, (gpu+gpus)%g.TotalGPUs(), pair)
				if g.NICs[a].Port != pair%2+1 || g.NICs[b].Port != g.NICs[a].Port {
					rt.Fatalf("queue pair %d goes from %s to %s", pair, g.NICName(a), g.NICName(b))
				}
			}
		}
		if err := g.CheckConnected(nil); err != nil {
			rt.Fatal(err)
		}
		if r := g.Route(nil); slices.Contains(r.Locator, -1) {
			rt.Fatal("a port has no locator")
		}
	})
}
