package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/deadlock"
	"railyard/internal/long"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

var _ = long.Draws(40, 400)

// ofCubes is a torus of cubes.
const ofCubes = `
fabric:
  kind: cubes
  k: %d
  cubes: %s
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  optics: {reconfigure: 10ms, spares: %d, swaps: [%s]}
server: {gpus: 1, nics: 1}
lb: dimension-order
workload: {traffic: {permutation: {bytes: 1MB}}}
events: [%s]
`

// One cube with opposite faces connected is a torus.
func TestOneCubeIsATorus(t *testing.T) {
	cables := func(text string) (all []string) {
		p, err := resolved(t, text)
		if err != nil {
			t.Fatal(err)
		}
		for l, dim := range p.Graph.Grid.Dim {
			if dim >= 0 {
				a, b := p.Graph.Grid.At[p.Graph.Links[l].A], p.Graph.Grid.At[p.Graph.Links[l].B]
				if b[0] < a[0] || b[1] < a[1] || b[2] < a[2] {
					a, b = b, a
				}
				all = append(all, fmt.Sprint(a, b, dim, p.Graph.Grid.Wrap[l]))
			}
		}
		slices.Sort(all)
		return all
	}
	cube := fmt.Sprintf(ofCubes, 4, "[1, 1, 1]", 0, "", "")
	torus := strings.NewReplacer("kind: cubes", "kind: torus", "  cubes: [1, 1, 1]\n", "",
		"  optics: {reconfigure: 10ms, spares: 0, swaps: []}\n", "").Replace(cube)
	if a, b := cables(cube), cables(torus); !slices.Equal(a, b) || len(a) != 3*64 {
		t.Errorf("%d cables, a torus has %d", len(a), len(b))
	}
}

// dark are the cables that do not work at a moment.
func dark(p *Plan, at unit.Time) map[int]bool {
	down := map[int]bool{}
	for _, e := range p.Events {
		if e.At <= at {
			if down[e.Link] = !e.Up; e.Up {
				delete(down, e.Link)
			}
		}
	}
	return down
}

// Whichever cubes have positions, they form a complete torus at any time between swaps: circuits between all
// neighbours and no others, dimension-order paths of a torus's length, and no cycle of buffers.
func TestCubesKeepTheirTorus(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := [3]int{rapid.IntRange(1, 3).Draw(rt, "x"), rapid.IntRange(1, 2).Draw(rt, "y"), 1}
		k := 2
		if n[0]*n[1] < 3 {
			k = rapid.IntRange(2, 3).Draw(rt, "k")
		}
		cubes, spares := n[0]*n[1]*n[2], rapid.IntRange(0, 2).Draw(rt, "spares")
		placed, swaps := map[int]int{}, ""
		for i := range cubes {
			placed[i] = i
		}
		moments := []unit.Time{0}
		for s := range spares {
			out := rapid.IntRange(0, cubes-1).Draw(rt, "out")
			swaps += fmt.Sprintf("{at: %dms, out: cube-%d, in: cube-%d}, ", 20*(s+1), placed[out]+1,
				cubes+s+1)
			placed[out] = cubes + s
			moments = append(moments, 20*unit.Time(s+1)*unit.Millisecond+10*unit.Millisecond)
		}
		along := fmt.Sprintf("[%d, %d, %d]", n[0], n[1], n[2])
		p, err := resolved(t, fmt.Sprintf(ofCubes, k, along, spares, swaps, ""))
		if err != nil {
			rt.Fatal(err)
		}
		if got := len(p.Jobs[0].DAG.Ops); got != cubes*k*k*k {
			rt.Fatalf("%d flows, want one of each of the %d switches that are joined", got, cubes*k*k*k)
		}
		if err := p.Deadlock(p.Graph.Reroute(nil, nil, Besides(p.LB, nil))); err != nil {
			rt.Fatal(err)
		}
		for _, at := range moments {
			down := dark(p, at)
			isTorus(rt, p.Graph, down, cubes)
			ways := p.Graph.Reroute(down, nil, Besides(p.LB, nil))
			if ring, _ := deadlock.Find(p.routing(ways)); ring != nil {
				rt.Fatalf("at %v pauses can close a ring: %s", at, p.ringOf(ring))
			}
		}
	})
}

// isTorus checks that the connected cubes form a torus.
func isTorus(rt *rapid.T, g *topo.Graph, down map[int]bool, cubes int) {
	grid, k := g.Grid, g.Cubes.Side
	circuits, in := 0, map[int32]bool{}
	for l := range g.Links {
		if grid.Optical[l] && !down[l] {
			circuits++
			in[grid.Cube[g.Links[l].A]], in[grid.Cube[g.Links[l].B]] = true, true
		}
	}
	if circuits != 3*k*k*cubes || len(in) != cubes {
		rt.Fatalf("%d circuits join %d cubes, want %d and %d", circuits, len(in), 3*k*k*cubes, cubes)
	}
	r := g.Ordered(down, nil)
	var all []int
	for n := range g.Nodes {
		if g.Nodes[n].Role != topo.Host && in[grid.Cube[n]] {
			all = append(all, n)
		}
	}
	from := rapid.SampledFrom(all).Draw(rt, "from")
	for loc, set := range r.Sets {
		if !in[grid.Cube[set[0]]] {
			continue
		}
		want, steps := 0, 0
		for d := range 3 {
			apart := int(grid.At[from][d] - grid.At[set[0]][d])
			apart = max(apart, -apart)
			want += min(apart, grid.Sides[d]-apart)
		}
		for at := from; at != set[0]; steps++ {
			next := r.Next(at, loc)
			if len(next) == 0 || steps > want {
				rt.Fatalf("from %s to %s: %d steps, then %v", g.Nodes[from].Name, g.Nodes[set[0]].Name, steps,
					next)
			}
			l := next[rapid.IntRange(0, len(next)-1).Draw(rt, "which")]
			at = g.Links[l].A + g.Links[l].B - at
		}
		if steps != want {
			rt.Fatalf("from %s to %s in %d steps, want %d", g.Nodes[from].Name, g.Nodes[set[0]].Name, steps,
				want)
		}
	}
}

// A failed OCS removes its fibre between all cubes, and traffic uses the others.
func TestOCSFails(t *testing.T) {
	p, err := resolved(t, fmt.Sprintf(ofCubes, 2, "[3, 1, 1]", 0, "", "{ocs: ocs-x-1-2, at: 1ms, up: false}"))
	if err != nil {
		t.Fatal(err)
	}
	down := dark(p, unit.Millisecond)
	if len(down) != 3 {
		t.Errorf("%d circuits go, want those of a fibre between three cubes", len(down))
	}
	if err := p.Graph.CheckConnected(down); err != nil {
		t.Error(err)
	}
	for l := range down {
		if g := p.Graph.Grid; !g.Optical[l] || g.Dim[l] != 0 {
			t.Errorf("cable %d is not a circuit along x", l)
		}
	}
}

func TestCubesRefused(t *testing.T) {
	for _, c := range []struct {
		k                         int
		cubes                     string
		spares                    int
		swaps, events, want, line string
	}{
		{2, "[2, 1]", 0, "", "", "cubes: takes how many lie along x, y and z: [2, 1, 1], found 2", "5"},
		{2, "[2, 0, 1]", 0, "", "", "is out of range 1–2048", "5"},
		{19, "[1, 1, 1]", 0, "", "", "fabric.k: a cube has 2 to 18 switches along a side, found 19", "4"},
		{2, "[2000, 1, 1]", 49, "", "", "fabric.optics.spares: 2000 cubes and 49 spare ones", "8"},
		{2, "[2, 1, 1]", 0, "{at: 1ms, out: cube-1, in: cube-3}", "", `in: unknown cube "cube-3"; names ` +
			"are cube-1 to cube-2, of which none is spare", "8"},
		{2, "[2, 1, 1]", 1, "{at: 1ms, out: cube-3, in: cube-3}", "", "out: cube-3 has no place at 1ms", "8"},
		{2, "[2, 1, 1]", 1, "{at: 1ms, out: cube-1, in: cube-2}", "", "in: cube-2 has a place at 1ms already",
			"8"},
		{2, "[2, 1, 1]", 1, "{at: 1ms, out: cube-1, in: cube-3}, {at: 5ms, out: cube-3, in: cube-1}", "",
			"swaps[1].at: 5ms is too early: the map before connects from 11ms on", "8"},
		{2, "[2, 1, 1]", 1, "{at: 1ms, out: cube-1, in: cube-3}, {at: 50ms, out: cube-2, in: cube-1}", "",
			"swaps[1].in: cube-1 had another place before", "8"},
		{2, "[2, 1, 1]", 0, "", "{cube: cube-9, at: 0s, up: false}", `unknown cube "cube-9"`, "1"},
		{2, "[2, 1, 1]", 0, "", "{ocs: ocs-9, at: 0s, up: false}", "events[0].ocs: unknown OCS", "1"},
	} {
		_, err := resolved(t, fmt.Sprintf(ofCubes, c.k, c.cubes, c.spares, c.swaps, c.events))
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "x.yaml:"+c.line) {
			t.Errorf("%v: %v, want %q", c, err, c.want)
		}
	}
}

// Stuck mirrors keep their circuit, and circuits of later maps that need their ports stay dark. A broken circuit is
// dark until it is repaired, whatever the maps.
func TestMirrorsStickAndBreak(t *testing.T) {
	moved := fmt.Sprintf(optical, ringOf6, "{at: 20ms, circuits: [2-4, 3-5, 6-7, 8-9, 10-11, 12-1]}")
	shining := func(events string, at unit.Time) string {
		p, err := resolved(t, moved+"events: ["+events+"]\n")
		if err != nil {
			t.Fatal(err)
		}
		down := dark(p, at)
		var all []string
		for l, link := range p.Graph.Links {
			if a := p.Graph.Nodes[link.A].Name + p.Graph.Nodes[link.B].Name; !down[l] && a[0] == 's' &&
				a < "s4" && a != "s1s6" {
				all = append(all, a)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	const ms = unit.Millisecond
	const repaired = "{ocs: ocs-1, circuit: 6-7, at: 5ms, up: false}, {ocs: ocs-1, circuit: 6-7, at: 9ms, up: true}"
	for _, c := range []struct {
		events string
		at     unit.Time
		want   string
	}{
		{"", 10 * ms, "s1s2 s2s3 s3s4"},
		{"", 40 * ms, "s1s2 s2s3 s3s4"},
		{"{ocs: ocs-1, circuit: 2-3, at: 5ms, stuck: true}", 40 * ms, "s1s2 s3s4"},
		{"{ocs: ocs-1, circuit: 2-3, at: 25ms, stuck: true}", 0, ""}, // joined no more
		{"{ocs: ocs-1, circuit: 2-4, at: 5ms, up: false}", 40 * ms, "s2s3 s3s4"},
		{repaired, 8 * ms, "s1s2 s2s3"},
		{repaired, 9 * ms, "s1s2 s2s3 s3s4"},
		{"{ocs: ocs-1, at: 5ms, boot: 30ms}", 10 * ms, ""},
		{"{ocs: ocs-1, at: 5ms, boot: 30ms}", 40 * ms, "s1s2 s2s3 s3s4"},
	} {
		if c.want == "" && strings.Contains(c.events, "25ms") {
			_, err := resolved(t, moved+"events: ["+c.events+"]\n")
			if err == nil || !strings.Contains(err.Error(), "ocs-1 does not connect 2-3 at 25ms") {
				t.Errorf("%s: %v", c.events, err)
			}
			continue
		}
		if got := shining(c.events, c.at); got != c.want {
			t.Errorf("%s at %v: %s, want %s", c.events, c.at, got, c.want)
		}
	}
	for events, want := range map[string]string{
		"{circuit: 2-3, at: 5ms, stuck: true}":                        "stuck: is about a circuit of an OCS",
		"{ocs: ocs-1, circuit: 2-3, at: 5ms, stuck: true, up: false}": "stuck: takes true, and nothing else",
		"{ocs: ocs-1, circuit: 2-9, at: 5ms, up: false}":              "circuit: no map of ocs-1 connects 2-9",
		"{ocs: ocs-1, circuit: 29, at: 5ms, up: false}":               `circuit: "29" is not a pair of ports`,
		"{switch: s1, circuit: 2-3, at: 5ms, up: false}":              "circuit: is one of an OCS, and none",
		"{ocs: ocs-1, cube: cube-1, at: 5ms, up: false}":              "names ocs and cube",
		"{cube: cube-1, at: 5ms, up: false}":                          "the fabric is not a torus of cubes",
	} {
		_, err := resolved(t, moved+"events: ["+events+"]\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", events, err, want)
		}
	}
}
