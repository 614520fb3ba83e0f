package deadlock

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/topo"
	"railyard/unit"
)

var cable = topo.Cable{Rate: 100 * unit.Gbps, LengthMM: 3000}

func build(t testing.TB, kind string, p topo.Params) *topo.Graph {
	t.Helper()
	p.HostCable, p.Fabric = cable, cable
	g, err := topo.Build(kind, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func plain(g *topo.Graph, down map[int]bool) *Routing {
	return &Routing{Graph: g, Routes: g.Route(down)}
}

// stars is a graph of switches with a server each, and cables between some.
func stars(t testing.TB, switches int, cables ...[2]int) *topo.Graph {
	t.Helper()
	e := topo.NewExplicit(topo.Server{GPUs: 1, NICs: 1, Ports: 1})
	for i := range switches {
		e.Switch(fmt.Sprint("s", i), topo.Leaf, 0)
		e.Host(fmt.Sprint("h", i))
	}
	for i := range switches {
		e.Link(fmt.Sprint("h", i), fmt.Sprint("s", i), cable)
	}
	for _, c := range cables {
		e.Link(fmt.Sprint("s", c[0]), fmt.Sprint("s", c[1]), cable)
	}
	g, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestKnown checks fabrics with a known answer to the question whether they can deadlock.
func TestKnown(t *testing.T) {
	one := topo.Server{GPUs: 1, NICs: 1, Ports: 1}
	eight := topo.Server{GPUs: 8, NICs: 8, Ports: 1}
	for _, c := range []struct {
		name string
		r    *Routing
		ring int // buffers of the shortest one
	}{
		{"a Clos", plain(build(t, "fat-tree", topo.Params{K: 4, Tiers: 3, Server: one}), nil), 0},
		{"rails with spines", plain(build(t, "rail", topo.Params{Server: eight, Hosts: 2, Segments: 3,
			Spines: 2, Uplinks: 1, Pods: 1}), nil), 0},
		{"a triangle", plain(stars(t, 3, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0}), nil), 0},
		{"a ring of four", plain(stars(t, 4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 0}), nil),
			4},
		{"a torus of side 2", plain(build(t, "torus", topo.Params{K: 2, Uplinks: 1, Server: one}), nil), 4},
		{"a torus of side 4", plain(build(t, "torus", topo.Params{K: 4, Uplinks: 1, Server: one}), nil), 4},
		{"a dragonfly", plain(build(t, "dragonfly", topo.Params{K: 1}), nil), 6},
	} {
		if got, unknown := Find(c.r); len(got) != c.ring || unknown {
			t.Errorf("%s: a ring of %d, want %d: %v", c.name, len(got), c.ring, got)
		}
	}
}

// TestBrokenClos is the case of Guo et al.: two leaves and two spines of three each, cables down so that
// some packets go down and up again, in both directions.
func TestBrokenClos(t *testing.T) {
	e := topo.NewExplicit(topo.Server{GPUs: 1, NICs: 1, Ports: 1})
	for i := range 4 {
		e.Switch(fmt.Sprint("leaf", i), topo.Leaf, 0)
		e.Host(fmt.Sprint("h", i))
	}
	for i := range 2 {
		e.Switch(fmt.Sprint("spine", i), topo.Spine, 0)
	}
	for i := range 4 {
		e.Link(fmt.Sprint("h", i), fmt.Sprint("leaf", i), cable)
		for s := range 2 {
			e.Link(fmt.Sprint("leaf", i), fmt.Sprint("spine", s), cable)
		}
	}
	g, err := e.Finish()
	if err != nil {
		t.Fatal(err)
	}
	link := func(a, b string) int {
		for l := range g.Links {
			x, y := g.Nodes[g.Links[l].A].Name, g.Nodes[g.Links[l].B].Name
			if x == a && y == b || x == b && y == a {
				return l
			}
		}
		t.Fatalf("no cable %s %s", a, b)
		return 0
	}
	if ring, _ := Find(plain(g, nil)); ring != nil {
		t.Fatalf("whole it has a ring: %v", ring)
	}
	down := map[int]bool{link("leaf0", "spine1"): true}
	if ring, _ := Find(plain(g, down)); ring != nil {
		t.Errorf("with one cable broken it has a ring: %v", ring)
	}
	// leaf0 is at spine0 alone and leaf3 at spine1 alone: between them packets bounce off leaf1 and leaf2.
	down[link("leaf3", "spine0")] = true
	if ring, _ := Find(plain(g, down)); len(ring) != 4 {
		t.Errorf("with up and down violated both ways there is a ring of 4, found %v", ring)
	}
}

// TestValiant: on dragonflies of any shape detours with rising classes close no ring, with one class they
// do, where there is a group to go by.
func TestValiant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := topo.Params{K: rapid.IntRange(1, 2).Draw(rt, "k"),
			GroupSize: rapid.IntRange(2, 4).Draw(rt, "size"), Global: rapid.IntRange(1, 2).Draw(rt, "global")}
		p.Groups = rapid.IntRange(3, p.GroupSize*p.Global+1).Draw(rt, "groups")
		g := build(t, "dragonfly", p)
		r := &Routing{Graph: g, Routes: g.Reroute(nil, nil, topo.ToRegions), Legs: true,
			Classes: NewRising(g, 3)}
		if ring, _ := Find(r); ring != nil {
			rt.Fatalf("three classes and a ring: %v", ring)
		}
		r.Classes = nil
		if ring, _ := Find(r); ring == nil {
			rt.Fatal("one class and no ring")
		}
	})
}

// TestAgainstAllPaths: on random graphs, whole and broken, the answer is that of a search which follows
// every path of every pair and looks at every turn.
func TestAgainstAllPaths(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(rt, "switches")
		var cables [][2]int
		for i := 1; i < n; i++ { // connected
			cables = append(cables, [2]int{rapid.IntRange(0, i-1).Draw(rt, "to"), i})
		}
		for range rapid.IntRange(0, 8).Draw(rt, "more") {
			a, b := rapid.IntRange(0, n-1).Draw(rt, "a"), rapid.IntRange(0, n-1).Draw(rt, "b")
			if a != b {
				cables = append(cables, [2]int{a, b})
			}
		}
		for range rapid.IntRange(0, 6).Draw(rt, "parallel") {
			cables = append(cables, cables[rapid.IntRange(0, len(cables)-1).Draw(rt, "copy")])
		}
		g := stars(t, n, cables...)
		down := map[int]bool{}
		for l := n; l < len(g.Links); l++ {
			if rapid.IntRange(0, 7).Draw(rt, "down") == 0 {
				down[l] = true
			}
		}
		r := plain(g, down)
		turns := allTurns(g, r.Routes)
		ring, _ := Find(r)
		if want := rings(turns); (ring != nil) != want {
			rt.Fatalf("found %v; by all paths there is one: %v", ring, want)
		}
		for i, b := range ring {
			next := ring[(i+1)%len(ring)]
			if !turns[[2]Buffer{b, next}] {
				rt.Fatalf("nobody turns from %v to %v of %v", b, next, ring)
			}
		}
	})
}

// allTurns follows every path from every switch that a server hangs off.
func allTurns(g *topo.Graph, r *topo.Routes) map[[2]Buffer]bool {
	turns := map[[2]Buffer]bool{}
	var walk func(node, loc int, came *Buffer)
	walk = func(node, loc int, came *Buffer) {
		for _, l := range r.Next(node, loc) {
			b := Buffer{Link: l, From: node}
			if came != nil {
				turns[[2]Buffer{*came, b}] = true
			}
			walk(g.Links[l].A+g.Links[l].B-node, loc, &b)
		}
	}
	for loc := range r.Sets {
		for l := range g.Links {
			if a, b := g.Links[l].A, g.Links[l].B; g.Nodes[a].Role == topo.Host {
				walk(b, loc, nil)
			} else if g.Nodes[b].Role == topo.Host {
				walk(a, loc, nil)
			}
		}
	}
	return turns
}

// rings reports whether turns close one: whether some are left when those that lead nowhere are taken away.
func rings(turns map[[2]Buffer]bool) bool {
	left := map[[2]Buffer]bool{}
	for t := range turns {
		left[t] = true
	}
	for {
		begins := map[Buffer]bool{}
		for t := range left {
			begins[t[0]] = true
		}
		was := len(left)
		for t := range left {
			if !begins[t[1]] {
				delete(left, t)
			}
		}
		if len(left) == was {
			return was > 0
		}
	}
}

// BenchmarkFind is a search in fabrics of 32,768 GPUs.
func BenchmarkFind(b *testing.B) {
	eight := topo.Server{GPUs: 8, NICs: 8, Ports: 1}
	for _, c := range []struct {
		name, kind string
		p          topo.Params
	}{
		{"rail", "rail", topo.Params{Server: eight, Hosts: 32, Segments: 128, Spines: 32, Uplinks: 1,
			Pods: 1}},
		{"torus", "torus", topo.Params{Server: eight, K: 16, Uplinks: 1}},
		{"dragonfly", "dragonfly", topo.Params{K: 16, Groups: 64}},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := build(b, c.kind, c.p)
			b.ReportMetric(float64(g.TotalGPUs()), "GPUs")
			r := plain(g, nil)
			for b.Loop() {
				Find(r)
			}
		})
	}
}

// TestBrokenAtRandom: trees of any shape with any cables broken, where the quick look at tiers answers
// mostly.
func TestBrokenAtRandom(t *testing.T) {
	found, none := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		var g *topo.Graph
		if rapid.Bool().Draw(rt, "three tiers") {
			g = build(t, "fat-tree", topo.Params{K: 4, Tiers: 3,
				Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}})
		} else {
			g = build(t, "rail", topo.Params{Server: topo.Server{GPUs: 2, NICs: 2, Ports: 1}, Hosts: 1,
				Segments: rapid.IntRange(2, 4).Draw(rt, "segments"),
				Spines:   rapid.IntRange(2, 4).Draw(rt, "spines"), Uplinks: 1, Pods: 1})
		}
		share := rapid.IntRange(2, 12).Draw(rt, "one in")
		down := map[int]bool{}
		for l := range g.Links {
			host := g.Nodes[g.Links[l].A].Role == topo.Host || g.Nodes[g.Links[l].B].Role == topo.Host
			if !host && rapid.IntRange(1, share).Draw(rt, "down") == 1 {
				down[l] = true
			}
		}
		r := plain(g, down)
		ring, _ := Find(r)
		if want := rings(allTurns(g, r.Routes)); (ring != nil) != want {
			rt.Fatalf("found %v; by all paths there is one: %v", ring, want)
		}
		if ring != nil {
			found++
		} else {
			none++
		}
	})
	if found == 0 || none == 0 {
		t.Errorf("%d of these fabrics have rings, %d have none: this says nothing", found, none)
	}
}
