package topo

import (
	"fmt"
	"testing"

	"railyard/unit"
)

// ringOf connects switches in a ring, with chords over n others.
func ringOf(t *testing.T, switches int, chords ...int) *Graph {
	m := NewMaker("site")
	for i := range switches {
		m.Switch(fmt.Sprint("s", i), Leaf, 1)
	}
	c := Cable{Rate: unit.Gbps}
	for _, chord := range append([]int{1}, chords...) {
		for i := range switches {
			m.Cable(i, (i+chord)%switches, c)
		}
	}
	for i := range switches {
		_, nic, _ := m.Server(fmt.Sprint("h", i), 1, 1)
		m.CableNIC(nic, 0, 1, i, -1, c)
	}
	g, err := m.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The estimated effort of routes matches the real one, within half if it is extrapolated from a few classes: almost
// none in pods, two or three sets per switch in a ring, very many with chords.
func TestEffortIsWhatRoutesTake(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	pods, err := Build("rail", Params{Server: Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 2, Segments: 4,
		Spines: 4, Uplinks: 2, Pods: 6, Supers: 2, SuperUp: 1, Planes: 2, HostCable: c, Fabric: c})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*Graph{"pods": pods, "ring": ringOf(t, 300),
		"chords": ringOf(t, 300, 7, 41, 77)} {
		e, r := g.Effort(Nothing), g.Route(nil)
		runs, sets := 0, 0
		for n := range g.Nodes {
			runs += len(r.ways[n])
			if g.Nodes[n].Role != Host {
				sets += len(r.sets[n])
			}
			for _, x := range r.apart[n] {
				if x.set >= 0 {
					sets-- // one set per neighbour, for any pattern
				}
			}
		}
		t.Logf("%s: %+v; %d runs, %d sets", name, e, runs, sets)
		if e.Locators != len(r.Sets) || 2*e.Runs < int64(runs) || e.Runs > 2*int64(runs) ||
			2*e.Sets < int64(sets) {
			t.Errorf("%s: %+v, but there are %d runs and %d sets", name, e, runs, sets)
		}
	}
	few, many := ringOf(t, 300).Effort(Nothing), ringOf(t, 300, 7, 41, 77).Effort(Nothing)
	if many.Sets < 20*few.Sets {
		t.Errorf("a ring has %d sets, with chords %d", few.Sets, many.Sets)
	}
}
