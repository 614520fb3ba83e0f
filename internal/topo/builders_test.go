package topo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/field"
	"railyard/internal/long"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// somePods draws a fabric of rails and returns its parameters, too.
func somePods(t *rapid.T) (string, Params) {
	kind := rapid.SampledFrom([]string{"single-rail", "dual-rail", "rail-only", "rail", "pod"}).Draw(t,
		"kind")
	p := Params{
		Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Segments: rapid.IntRange(1, 3).Draw(t, "segments"),
		Spines: rapid.IntRange(1, 4).Draw(t, "spines"), Uplinks: rapid.IntRange(1, 3).Draw(t, "uplinks"),
		HostCable: cable(100 * unit.Gbps), Fabric: cable(400 * unit.Gbps)}
	p.Server.NICs = rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "nics")
	p.Server.GPUs = p.Server.NICs * rapid.IntRange(1, 2).Draw(t, "gpus per nic")
	if p.Server.Ports = 1; kind == "dual-rail" || kind == "pod" {
		p.Server.Ports = 2
	}
	if kind == "rail" || kind == "pod" {
		p.Pods = rapid.IntRange(1, 3).Draw(t, "pods")
		p.Planes = rapid.IntRange(1, p.Spines).Draw(t, "planes")
		p.Supers, p.SuperUp = p.Planes*rapid.IntRange(1, 2).Draw(t, "per plane"), 1
	}
	return kind, p
}

func build(t interface {
	Helper()
	Fatalf(string, ...any)
}, kind string, p Params) *Graph {
	t.Helper()
	g, err := Build(kind, p)
	if err != nil {
		t.Fatalf("%s %+v: %v", kind, p, err)
	}
	return g
}

// Switches and cables of the source documents' fabrics follow from their parameters (source figures 8, 9, 11, 13-4
// to 13-9), and cables, ports, NICs and GPUs are consistent.
func TestWhatAFabricIsMadeOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind, p := somePods(t)
		g := build(t, kind, p)
		pods := max(p.Pods, 1)
		hosts := p.Hosts * p.Segments * pods
		leaves := map[string]int{"single-rail": 1, "dual-rail": 2, "rail-only": p.Segments * p.Server.NICs,
			"rail": p.Segments * p.Server.NICs * pods, "pod": 2 * p.Segments * pods}[kind]
		spines, supers, up, super := 0, 0, 0, 0
		if kind == "rail" || kind == "pod" {
			spines, up = p.Spines*pods, leaves*p.Spines*p.Uplinks
			if pods > 1 {
				supers, super = p.Supers, spines*p.Supers/p.Planes*p.SuperUp
			}
		}
		inv := g.Inventory()
		want := fmt.Sprint(hosts, hosts*p.Server.GPUs, hosts*p.Server.NICs, leaves, spines, supers)
		if got := fmt.Sprint(inv.Hosts, inv.GPUs, inv.NICs, inv.Switches["rail"], inv.Switches["spine"],
			inv.Switches["super-spine"]); got != want {
			t.Fatalf("%s %+v: %s, want %s", kind, p, got, want)
		}
		if n := hosts*p.Server.NICs*p.Server.Ports + up + super; len(g.Links) != n {
			t.Fatalf("%s %+v: %d cables, want %d", kind, p, len(g.Links), n)
		}
		count := 0
		for _, c := range inv.Cables {
			count += c.Count
		}
		if count != len(g.Links) {
			t.Fatalf("%s: %d cables in the list, %d in the fabric", kind, count, len(g.Links))
		}
		fits(t, g)
		// Rails without spines do not connect segments; all other fabrics are connected.
		if err := g.CheckConnected(nil); (err != nil) != (kind == "rail-only" && p.Segments > 1) {
			t.Fatalf("%s %+v: %v", kind, p, err)
		}
	})
}

// fits checks the invariants of a graph. Each cable is in two ports of its own, named by their numbers; each NIC
// has cables of its server; each GPU has a NIC of its server.
func fits(t *rapid.T, g *Graph) {
	degree := make([]int, len(g.Nodes))
	names := map[string]bool{}
	for i, l := range g.Links {
		for _, end := range []int{l.A, l.B} {
			degree[end]++
			name := g.End(i, end)
			if names[name] {
				t.Fatalf("two cables in %s", name)
			}
			names[name] = true
			if link, node, ok := g.FindPort(name); !ok || link != i || node != end {
				t.Fatalf("%s is found at cable %d, node %d; it is %d, %d", name, link, node, i, end)
			}
		}
		if !strings.HasPrefix(g.Direction(i, l.A), g.End(i, l.A)+" → "+g.Nodes[l.B].Name) {
			t.Fatalf("%s leads from %s to %s", g.Direction(i, l.A), g.Nodes[l.A].Name, g.Nodes[l.B].Name)
		}
	}
	for i, n := range g.Nodes {
		if n.Ports != degree[i] || g.Node(n.Name) != i {
			t.Fatalf("%s has %d ports and %d cables, and is found as %d", n.Name, n.Ports, degree[i],
				g.Node(n.Name))
		}
	}
	for i, nic := range g.NICs {
		for _, l := range nic.Links {
			if h := g.Hosts[nic.Host]; g.Links[l].A != h && g.Links[l].B != h {
				t.Fatalf("%s has a cable of another server", g.NICName(i))
			}
		}
	}
	for gpu := range g.TotalGPUs() {
		if g.NICs[g.NICOf[gpu]].Host != g.HostOf(gpu) {
			t.Fatalf("GPU %d of server %d has a NIC of %d", gpu, g.HostOf(gpu), g.NICs[g.NICOf[gpu]].Host)
		}
		if i, err := g.FindGPU(g.GPUName(gpu)); err != nil || i != gpu {
			t.Fatalf("%s is found as %d: %v", g.GPUName(gpu), i, err)
		}
	}
}

// Bisection by closed forms: for segments of rails the leaves' uplinks, for a fat tree its hosts, and for groups of
// a dragonfly the cables between groups. For a torus it is the cables across the cut (two rings' worth per row; one
// in a ring of two).
func TestBisection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := cable(unit.Rate(rapid.SampledFrom([]int{100, 200, 400}).Draw(t, "host Gbps")) * unit.Gbps)
		up := cable(unit.Rate(rapid.SampledFrom([]int{100, 400, 800}).Draw(t, "fabric Gbps")) * unit.Gbps)
		n := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		p := Params{Server: Server{4, 4, 1}, HostCable: host, Fabric: up}
		kind := rapid.SampledFrom([]string{"rail", "fat-tree", "torus", "dragonfly"}).Draw(t, "kind")
		var want unit.Rate
		switch kind {
		case "rail":
			p.Hosts, p.Segments, p.Spines, p.Uplinks = n("hosts", 1, 6), 2*n("pairs", 1, 2),
				n("spines", 1, 3),
				n("uplinks", 1, 3)
			leaf := min(unit.Rate(p.Hosts)*host.Rate, unit.Rate(p.Spines*p.Uplinks)*up.Rate)
			want = unit.Rate(p.Segments/2*4) * leaf
		case "fat-tree":
			p.K, p.Tiers, p.Fabric = 2*n("half k", 1, 4), n("tiers", 2, 3), host
			hosts := p.K * p.K / 2
			if p.Tiers == 3 {
				hosts = p.K * p.K * p.K / 4
			}
			want = unit.Rate(hosts/2) * host.Rate
		case "torus": // hosts that exceed the torus's capacity
			p.K, p.Uplinks, p.Hosts, p.HostCable = 2*n("half k", 1, 2), n("uplinks", 1, 2), 1,
				cable(100*up.Rate)
			across := 2 * p.K * p.K
			if p.K == 2 {
				across /= 2
			}
			want = unit.Rate(across*p.Uplinks) * up.Rate
		case "dragonfly":
			p.Server = Server{} // one GPU each
			p.K, p.Groups, p.HostCable = n("k", 1, 2), 2, cable(100*up.Rate)
			if p.K == 2 && n("four groups", 0, 1) == 1 {
				p.Groups = 4
			}
			d, err := Dragonfly{K: p.K, Groups: p.Groups}.Balanced()
			if err != nil {
				t.Fatal(err)
			}
			want = unit.Rate(p.Groups/2*p.Groups/2*d.Between()) * up.Rate
		}
		g := build(t, kind, p)
		if got := g.Inventory().Bisection; got != want {
			t.Fatalf("%s %+v: bisection %v, the closed form gives %v", kind, p, got, want)
		}
		fits(t, g)
	})
}

// Every table entry is a shortest path over working links, found by distances between all pairs (Floyd and Warshall
// 1962). No shortest path is missing. A NIC that tables report as unreachable is unreachable.
func TestRoutesAreShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind, p := somePods(t)
		g := build(t, kind, p)
		down := map[int]bool{}
		for range rapid.IntRange(0, 3).Draw(t, "broken") {
			down[rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable")] = true
		}
		r := g.Route(down)
		d := distances(g, down)
		for nic, loc := range r.Locator {
			if loc < 0 {
				for _, l := range g.NICs[nic].Links {
					if !down[l] {
						t.Fatalf("%s has cable %d and no place in the tables", g.NICName(nic), l)
					}
				}
				continue
			}
			to := func(n int) int { // to the nearest of its switches
				best := far
				for _, sw := range r.Sets[loc] {
					best = min(best, d[n][sw])
				}
				return best
			}
			for n, node := range g.Nodes {
				if node.Role == Host {
					continue
				}
				var want []int
				for i, l := range g.Links {
					peer := l.B
					if peer == n {
						peer = l.A
					}
					if (l.A == n || l.B == n) && !down[i] && g.Nodes[peer].Role != Host &&
						to(n) < far && to(n) > 0 && to(peer) == to(n)-1 {
						want = append(want, i)
					}
				}
				got := slices.Clone(r.Next(n, loc))
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("%s from %s to %s over %v: %v, shortest are %v", kind, node.Name, g.NICName(nic),
						down, got, want)
				}
			}
		}
		for a := range g.NICs {
			for b := range g.NICs {
				if a != b && g.Reachable(r, a, b) != g.Reachable(r, b, a) {
					t.Fatalf("%s reaches %s, which does not reach it", g.NICName(a), g.NICName(b))
				}
			}
		}
	})
}

const far = 1 << 30

// distances counts switches between all pairs of switches.
func distances(g *Graph, down map[int]bool) [][]int {
	d := make([][]int, len(g.Nodes))
	for i := range d {
		d[i] = make([]int, len(g.Nodes))
		for j := range d[i] {
			if i != j {
				d[i][j] = far
			}
		}
	}
	for i, l := range g.Links {
		if !down[i] && g.Nodes[l.A].Role != Host && g.Nodes[l.B].Role != Host {
			d[l.A][l.B], d[l.B][l.A] = 1, 1
		}
	}
	for k := range d {
		for i := range d {
			for j := range d {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

// Packets in flight carry locators. After any failures and repairs a locator stands for the same switches, and when
// everything works again every path is as at first.
func TestLocatorsKeepTheirMeaning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind, p := somePods(t)
		g := build(t, kind, p)
		first := g.Route(nil)
		r, down := first, map[int]bool{}
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			if l := rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable"); down[l] {
				delete(down, l)
			} else {
				down[l] = true
			}
			before := r
			r = g.Reroute(down, r, Nothing)
			for loc, set := range before.Sets {
				if !slices.Equal(r.Sets[loc], set) {
					t.Fatalf("%s: locator %d was %v and is %v", kind, loc, set, r.Sets[loc])
				}
			}
		}
		r = g.Reroute(nil, r, Nothing)
		for nic := range g.NICs {
			if r.Locator[nic] != first.Locator[nic] {
				t.Fatalf("%s: %s is %d, it was %d", kind, g.NICName(nic), r.Locator[nic], first.Locator[nic])
			}
			for n := range g.Nodes {
				if !slices.Equal(r.Next(n, r.Locator[nic]), first.Next(n, first.Locator[nic])) {
					t.Fatalf("%s: ways from %s to %s changed", kind, g.Nodes[n].Name, g.NICName(nic))
				}
			}
		}
	})
}

// A fabric written out node by node and cable by cable is the fabric.
func TestExplicitCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind, p := somePods(t)
		g := build(t, kind, p)
		e := NewExplicit(p.Server)
		for _, n := range g.Nodes {
			if n.Role == Host {
				if err := e.Host(n.Name); err != nil {
					t.Fatal(err)
				}
			} else if err := e.Switch(n.Name, n.Role, n.Tier); err != nil {
				t.Fatal(err)
			}
		}
		for _, l := range g.Links {
			c := Cable{Rate: l.Rate, LengthMM: l.LengthMM}
			if err := e.Link(g.Nodes[l.A].Name, g.Nodes[l.B].Name, c); err != nil {
				t.Fatal(err)
			}
		}
		h, err := e.Finish()
		if err != nil {
			t.Fatal(err)
		}
		a, b := g.Inventory(), h.Inventory()
		a.Kind, b.Kind = "", ""
		if fmt.Sprint(*a) != fmt.Sprint(*b) || g.Dot() != h.Dot() ||
			fmt.Sprint(g.NICs) != fmt.Sprint(h.NICs) {
			t.Fatalf("%s %+v:\n%+v\n%+v", kind, p, *a, *b)
		}
	})
}

// The error of an impossible graph names the part at fault.
func TestExplicitRefuses(t *testing.T) {
	c := cable(100 * unit.Gbps)
	start := func() *Explicit {
		e := NewExplicit(Server{GPUs: 2, NICs: 2, Ports: 1})
		for _, err := range []error{e.Host("a"), e.Host("b"), e.Switch("s", Leaf, 0)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return e
	}
	for want, try := range map[string]func(e *Explicit) error{
		"the name is missing":  func(e *Explicit) error { return e.Host("") },
		`"../x" is not a name`: func(e *Explicit) error { return e.Host("../x") },
		`"a b" is not a name`:  func(e *Explicit) error { return e.Switch("a b", Leaf, 1) },
		`"a" is repeated`:      func(e *Explicit) error { return e.Switch("a", Spine, 2) },
		"cannot be a host":     func(e *Explicit) error { return e.Switch("t", Host, 1) },
		"of tier 17":           func(e *Explicit) error { return e.Switch("t", Core, 17) },
		"cabled to itself":     func(e *Explicit) error { return e.Link("s", "s", c) },
		"are both servers":     func(e *Explicit) error { return e.Link("a", "b", c) },
		"the rate is missing":  func(e *Explicit) error { return e.Link("a", "s", Cable{}) },
		"a has 0 cables":       func(e *Explicit) error { _, err := e.Finish(); return err },
		"of 2 ports need 4": func(e *Explicit) error {
			e.server.Ports = 2
			_, err := e.Finish()
			return err
		},
		"cannot serve 3 GPUs": func(e *Explicit) error {
			e.server.GPUs = 3
			_, err := e.Finish()
			return err
		},
		"the fabric has no hosts": func(*Explicit) error {
			_, err := NewExplicit(Server{1, 1, 1}).Finish()
			return err
		},
		"up to 63 letters a-z": func(e *Explicit) error { return e.Host(strings.Repeat("x", 64)) },
	} {
		if err := try(start()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	e := start()
	if !e.Has("s") || e.Has("t") || !e.IsHost("a") || e.IsHost("s") || e.IsHost("t") {
		t.Error("names are mixed up")
	}
}

// Parameters that cannot be are refused by the name of the parameter.
func TestBuildRefuses(t *testing.T) {
	good := Params{Server: Server{2, 2, 1}, Hosts: 2, Segments: 2, Spines: 2, Uplinks: 1, Pods: 2, Supers: 2,
		SuperUp: 1, Planes: 1, HostCable: cable(unit.Gbps), Fabric: cable(unit.Gbps), K: 4, Tiers: 3}
	build(t, "rail", good)
	for name, change := range map[string]func(p *Params){
		"server.gpus":      func(p *Params) { p.Server.GPUs = 577 },
		"server.nics":      func(p *Params) { p.Server.NICs = 3 },
		"hosts":            func(p *Params) { p.Hosts = 0 },
		"segments":         func(p *Params) { p.Segments = 0 },
		"pods":             func(p *Params) { p.Pods = 1025 },
		"host_link.rate":   func(p *Params) { p.HostCable.Rate = 0 },
		"server.nic_ports": func(p *Params) { p.Server.Ports = 2 },
		"spines":           func(p *Params) { p.Spines = 0 },
		"fabric_link.rate": func(p *Params) { p.Fabric.Rate = -1 },
		"uplinks":          func(p *Params) { p.Uplinks = 257 },
		"super_spines":     func(p *Params) { p.Supers = 0 },
		"super_uplinks":    func(p *Params) { p.SuperUp = 0 },
		"planes":           func(p *Params) { p.Planes = 3 },
	} {
		p := good
		change(&p)
		_, err := Build("rail", p)
		if e, ok := err.(*field.Error); !ok || e.Path != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct{ kind, field string }{{"pod", "server.nic_ports"}, {"rail-only", "pods"},
		{"mesh", "pods"}} {
		_, err := Build(c.kind, good)
		if e, ok := err.(*field.Error); !ok || e.Path != c.field {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
	one := good
	one.Pods = 1
	if _, err := Build("mesh", one); err == nil || !strings.Contains(err.Error(), "accepted: single-rail") {
		t.Error(err)
	}
	if _, err := ParseRole("leave"); err == nil || !strings.Contains(err.Error(), "super-spine") {
		t.Error(err)
	}
	for word, want := range map[string]Role{"ToR": Leaf, "agg": Aggregation, "superspine": SuperSpine,
		"super_spine": SuperSpine, "Spine": Spine} {
		if r, err := ParseRole(word); err != nil || r != want {
			t.Errorf("%s is read as %v: %v", word, r, err)
		}
	}
	for r := Host; r < nRoles; r++ {
		if back, err := ParseRole(r.String()); err != nil || back != r {
			t.Errorf("%v is read as %v: %v", r, back, err)
		}
	}
}
