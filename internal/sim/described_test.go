package sim

import (
	"reflect"
	"strings"
	"testing"
)

const (
	builtFly = `name: fly
fabric: {kind: dragonfly, k: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps}}
transport: {write: only, recovery: selective}
workload: {traffic: {permutation: {bytes: 128KiB}}}
`
	describedFly = `name: fly
fabric:
  types: {host: {gpus: 1, nics: 1}, leaf: {role: leaf}}
  nodes:
    - {name: leaf, type: leaf, per: {group: 3}, count: 2}
    - {name: host, type: host, per: {group: 3, leaf: 2}, named: "host-{#}"}
  cables:
    - {from: host, to: leaf, same: group, match: {n: leaf}}
    - {from: leaf, to: leaf, same: group}
    - {from: leaf, to: leaf, between: group}
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps}
transport: {write: only, recovery: selective}
workload: {traffic: {permutation: {bytes: 128KiB}}}
`
)

// A described dragonfly equals a built one: equal nodes, cables and groups, and packets through the same regions at
// the same times.
func TestDescribedDragonfly(t *testing.T) {
	for _, lb := range []string{"minimal", "valiant", "ugal"} {
		a, sa, ta := runAll(t, builtFly, "lb="+lb)
		b, sb, tb := runAll(t, describedFly, "lb="+lb)
		ta.Topology, tb.Topology = nil, nil // places are a description's only
		ga, gb := a.Plan.Graph, b.Plan.Graph
		if !reflect.DeepEqual(ga.Regions, gb.Regions) || len(ga.Links) != len(gb.Links) {
			t.Fatalf("groups %v and %v", ga.Regions, gb.Regions)
		}
		for i, l := range ga.Links {
			d := gb.Links[i]
			if d.AJack, d.BJack = l.AJack, l.BJack; l != d { // a description also has port numbers
				t.Errorf("cable %d: built %+v, described %+v", i, l, d)
			}
		}
		if sa.StepTime != sb.StepTime || sa.Events != sb.Events || !reflect.DeepEqual(ta, tb) {
			t.Errorf("%s: built %v in %d events, described %v in %d", lb, sa.StepTime, sa.Events,
				sb.StepTime, sb.Events)
		}
	}
	// Cables with their own rule require group numbers.
	ring := strings.Replace(describedFly, "between: group}", `same: n, match: {group: group+1}, wrap: true}
  regions: group`, 1)
	if _, s, _ := runAll(t, ring, "lb=valiant"); !s.Complete || s.Drops > 0 {
		t.Errorf("complete %v, %d drops", s.Complete, s.Drops)
	}
}
