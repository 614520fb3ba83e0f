package explain_test

import (
	"testing"

	"railyard/internal/explain"
)

// TestBrokenFromTheStart checks that routes which avoid a link from the start are not said to avoid the first one
// later, in whatever order links are looked at.
func TestBrokenFromTheStart(t *testing.T) {
	r := load(t, `name: x
fabric:
  {kind: rail, hosts: 2, segments: 2, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 1m},
   fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 1, nics: 1}
lb: spray
workload: {traffic: {permutation: {bytes: 1MB}}}
events:
  - {link: 'seg-1-rail-1:Eth3', at: 0s, up: false, converge: 0s}
  - {link: 'seg-1-rail-1:Eth4', at: 10us, up: false, converge: 0s}
  - {link: 'seg-2-rail-1:Eth5', at: 20us, up: false, converge: 0s}
`)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if at := explain.Broken(r.Plan, r.Exec, r.Observe()); at != 0 {
			t.Fatalf("routes avoid a link from %v on", at)
		}
	}
}
