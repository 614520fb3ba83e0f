package topo

import (
	"slices"
	"testing"

	"railyard/unit"
)

func cable(r unit.Rate) Cable { return Cable{Rate: r, LengthMM: 3000} }

// docs/references.md, topologies: k-ary fat trees have k^3/4 hosts and 5k^2/4 switches, and two tiers have k^2/2
// hosts; both are non-blocking.
func TestFatTreeSizes(t *testing.T) {
	for _, k := range []int{4, 8, 16} {
		g, err := Build("fat-tree", Params{K: k, Tiers: 3, HostCable: cable(100 * unit.Gbps)})
		if err != nil {
			t.Fatal(err)
		}
		switches := len(g.Nodes) - len(g.Hosts)
		if len(g.Hosts) != k*k*k/4 || switches != 5*k*k/4 {
			t.Errorf("k=%d: %d hosts, %d switches", k, len(g.Hosts), switches)
		}
		inv := g.Inventory()
		if want := unit.Rate(k*k*k/8) * 100 * unit.Gbps; inv.Bisection != want {
			t.Errorf("k=%d: bisection %v, want %v", k, inv.Bisection, want)
		}
		for _, tier := range inv.Tiers {
			if tier.Up > 0 && tier.Oversubscription != 1 {
				t.Errorf("k=%d: tier %s is oversubscribed %v", k, tier.Role, tier.Oversubscription)
			}
		}
	}
	g, _ := Build("fat-tree", Params{K: 8, Tiers: 2, HostCable: cable(100 * unit.Gbps)})
	if len(g.Hosts) != 32 {
		t.Errorf("two tiers of k=8: %d hosts, want 32", len(g.Hosts))
	}
}

// Source figure 13-8: two segments of four servers, 64 GPUs, four rail switches;
// 32 dual-port NICs per segment, non-blocking.
func TestPod(t *testing.T) {
	g, err := Build("pod", Params{Server: Server{8, 8, 2}, Hosts: 4, Segments: 2, Spines: 4,
		Uplinks: NonBlockingUplinks(32, 200*unit.Gbps, 4, 800*unit.Gbps), HostCable: cable(200 * unit.Gbps),
		Fabric: cable(800 * unit.Gbps)})
	if err != nil {
		t.Fatal(err)
	}
	inv := g.Inventory()
	if inv.GPUs != 64 || inv.Switches["rail"] != 4 || inv.Switches["spine"] != 4 ||
		inv.Tiers[0].Oversubscription != 1 {
		t.Errorf("%+v", inv)
	}
	if inv.Bisection != 64*200*unit.Gbps {
		t.Errorf("bisection %v, want 12.8Tbps", inv.Bisection)
	}
}

// A broken link leaves every pair connected over other links, and all routes are shortest paths over working links.
func TestRoutesAvoidBrokenLinks(t *testing.T) {
	g, _ := Build("rail", Params{Server: Server{2, 2, 1}, Hosts: 2, Segments: 1, Spines: 2, Uplinks: 1,
		HostCable: cable(100 * unit.Gbps), Fabric: cable(100 * unit.Gbps)})
	l, node, ok := g.FindPort("rail-1:Eth3")
	if !ok || g.Nodes[node].Name != "rail-1" {
		t.Fatal("no port rail-1:Eth3")
	}
	for _, r := range []*Routes{g.Route(nil), g.Route(map[int]bool{l: true})} {
		for a := range g.NICs {
			for b := range g.NICs {
				if a != b && !g.Reachable(r, a, b) {
					t.Errorf("NIC %d cannot reach %d", a, b)
				}
			}
		}
	}
	r := g.Route(map[int]bool{l: true})
	for n := range g.Nodes {
		for loc := range r.Sets {
			if slices.Contains(r.Next(n, loc), l) {
				t.Error("a route uses the broken link")
			}
		}
	}
	other, _, _ := g.FindPort("rail-1:Eth4")
	if g.Reachable(g.Route(map[int]bool{l: true, other: true}), 0, 1) {
		t.Error("rail-1 without uplinks still reaches rail-2")
	}
}

func TestSingleRailIsolatesVLANs(t *testing.T) {
	g, _ := Build("single-rail", Params{Server: Server{8, 8, 1}, Hosts: 3, Segments: 1,
		HostCable: cable(200 * unit.Gbps)})
	r := g.Route(nil)
	if len(g.NICs) != 24 || g.Reachable(r, 0, 1) || !g.Reachable(r, 0, 8) {
		t.Errorf("%d NICs; across rails %v, along a rail %v", len(g.NICs), g.Reachable(r, 0, 1),
			g.Reachable(r, 0, 8))
	}
}

func TestCableDelay(t *testing.T) {
	if got := CableDelay(198_000); got < 999_990 || got > 1_000_010 {
		t.Errorf("198 m take %v, want 1 us at 1.98e8 m/s", got)
	}
}

// Pods joined by super-spines: the source's two-pod fabric, and planes.
func TestPods(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	g, err := Build("rail", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 4, Segments: 2, Pods: 3,
		Spines: 4, Uplinks: 1, Supers: 4, SuperUp: 2, Planes: 2, HostCable: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	inv := g.Inventory()
	if inv.GPUs != 3*64 || inv.Switches["rail"] != 3*16 || inv.Switches["spine"] != 12 ||
		inv.Switches["super-spine"] != 4 {
		t.Errorf("%+v", inv)
	}
	// A spine reaches the two super-spines of its plane by two cables each.
	up := map[string]int{}
	for _, l := range g.Links {
		if g.Nodes[l.B].Role == SuperSpine {
			up[g.Nodes[l.A].Name+" "+g.Nodes[l.B].Name]++
		}
	}
	if len(up) != 24 || up["pod-2-spine-1 super-spine-1"] != 2 || up["pod-2-spine-2 super-spine-1"] != 0 ||
		up["pod-2-spine-2 super-spine-3"] != 2 {
		t.Errorf("%v", up)
	}
	if err := g.CheckConnected(nil); err != nil {
		t.Error(err)
	}
	if _, err := Build("rail", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 4, Segments: 2,
		Pods: 3, Spines: 4, Uplinks: 1, Supers: 3, SuperUp: 2, Planes: 2, HostCable: c,
		Fabric: c}); err == nil {
		t.Error("three super-spines in two planes are taken")
	}
}
