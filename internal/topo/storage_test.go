package topo

import (
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// With storage, existing components of any fabric keep their numbers. GPUs reach every store by cards of their own
// server and of the store, and all cards of stores are used.
func TestAddStorage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nics := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "NICs of a GPU server")
		p := Params{Server: Server{GPUs: 8, NICs: nics, Ports: 1},
			Hosts:    rapid.IntRange(1, 5).Draw(t, "hosts"),
			Segments: rapid.IntRange(1, 3).Draw(t, "segments"), Spines: 2, Uplinks: 1,
			HostCable: Cable{Rate: 400 * unit.Gbps}, Fabric: Cable{Rate: 400 * unit.Gbps}}
		before, err := Build("rail", p)
		if err != nil {
			t.Fatal(err)
		}
		g, _ := Build("rail", p)
		s := Storage{Servers: rapid.IntRange(1, 5).Draw(t, "servers"), Cable: Cable{Rate: 200 * unit.Gbps},
			Separate: rapid.Bool().Draw(t, "separate"), Switches: rapid.IntRange(1, 3).Draw(t, "switches")}
		s.NICs = s.Switches * rapid.IntRange(1, 3).Draw(t, "NICs of a store by switch")
		s.Front = s.Switches * rapid.IntRange(1, 2).Draw(t, "NICs for storage by switch")
		if err := g.AddStorage(s); err != nil {
			t.Fatal(err)
		}
		if g.TotalGPUs() != before.TotalGPUs() || g.Stores() != s.Servers ||
			g.Ends() != g.TotalGPUs()+2*s.Servers {
			t.Fatalf("%d GPUs, %d stores, %d ends", g.TotalGPUs(), g.Stores(), g.Ends())
		}
		for i := range before.Nodes {
			if before.Nodes[i].Name != g.Nodes[i].Name {
				t.Fatalf("node %d is %s, was %s", i, g.Nodes[i].Name, before.Nodes[i].Name)
			}
		}
		if err := g.CheckConnected(nil); err != nil {
			t.Fatal(err)
		}
		routes := g.Reroute(nil, nil, Nothing)
		for store := range g.Stores() {
			users := map[int]int{}
			for gpu := range g.TotalGPUs() {
				from, to := g.Pair(gpu, g.Memory(store), 0)
				back, home := g.Pair(g.Memory(store), gpu, 0)
				switch {
				case from != home || to != back:
					t.Fatalf("out by %d and %d, back by %d and %d", from, to, back, home)
				case g.NICs[from].Host != g.HostOf(gpu) || g.NICs[to].Host != g.StoreHost(store):
					t.Fatalf("%s uses %s", g.GPUName(gpu), g.NICName(from))
				case !g.Reachable(routes, from, to):
					t.Fatalf("%s does not reach %s", g.NICName(from), g.NICName(to))
				case s.Separate != (g.NICs[from].Index >= nics):
					t.Fatalf("separate %v, and %s is used", s.Separate, g.NICName(from))
				}
				users[to]++
			}
			if s.Separate && p.Hosts*p.Segments >= 3 && len(users) < s.NICs {
				t.Fatalf("%d of %d cards of a store are used", len(users), s.NICs)
			}
		}
	})
}

// Names of ends, and rejected values.
func TestStores(t *testing.T) {
	p := Params{Server: Server{GPUs: 2, NICs: 2, Ports: 1}, Hosts: 2, Segments: 1,
		HostCable: Cable{Rate: 400 * unit.Gbps}}
	g, err := Build("rail-only", p)
	if err != nil {
		t.Fatal(err)
	}
	if g.StoreOf(0) >= 0 || g.Stored(0, 1) {
		t.Error("there is storage before there is any")
	}
	if err := g.AddStorage(Storage{Servers: 2, NICs: 2, Cable: p.HostCable}); err != nil {
		t.Fatal(err)
	}
	if a, b := g.GPUName(g.Memory(1)), g.GPUName(g.Media(1)); a != "storage-2" || b != "storage-2/media" {
		t.Errorf("%s, %s", a, b)
	}
	if err := g.AddStorage(Storage{Servers: 1, NICs: 1, Cable: p.HostCable}); err == nil {
		t.Error("storage is added twice")
	}
	h, _ := Build("rail-only", p)
	if err := h.Store([]int{0}, true, 2); err == nil || !strings.Contains(err.Error(), "host-1 has 2 NICs") {
		t.Error(err)
	}
}
