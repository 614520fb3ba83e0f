package fidelity

import (
	"testing"

	"railyard/cc"
	"railyard/internal/scenario"
)

// Without congestion an algorithm costs its headers, its acknowledgements and its unused rate. none costs nothing,
// credit at 99 % one percent, HPCC five percent and its telemetry. Windows on a path that holds six packets may
// leave a third unused.
func TestWaste(t *testing.T) {
	d, err := scenario.Parse("x", []byte(`
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
transport: {recovery: selective}
switch: {queues: {3: {wred_min: 100KB}}}
workload: {traffic: {permutation: {bytes: 1B}}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cc.Names() {
		w, err := Waste(p, name)
		if cc.Lookup(name).Missing(cc.Lossless|cc.Selective|cc.Marking) != "" {
			if err == nil {
				t.Errorf("%s lacks something and wastes %v", name, w)
			}
			continue
		}
		low, high := 0.999, 1.5
		switch name {
		case "none":
			low, high = 1, 1
		case "hpcc":
			low = 1.05
		case "eqds":
			low = 1.009
		}
		if err != nil || w < low || w > high {
			t.Errorf("%s: %v times as long, want %v to %v; %v", name, w, low, high, err)
		}
		t.Logf("%s %.4f", name, w)
	}
}
