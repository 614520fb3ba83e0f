package explain_test

import (
	"slices"
	"testing"

	"railyard/internal/explain"
	"railyard/unit"
)

// TestReplaysAhead: a replay is the same, however coarse, whether what waits for no network is executed with it or
// ahead: which changes of rates count together does not depend on what ends inside servers meanwhile.
func TestReplaysAhead(t *testing.T) {
	r := load(t, `name: ahead
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 2, host_link: {rate: 100Gbps, cable: 5m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpu: h100, gpus: 2, nics: 2}
workload: {training: {model: gpt3-125m, tp: 2, dp: 8, sequence: 256, micro_batch: 1, global_batch: 16, bucket: 4MB}}
`)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	seen := r.Observe()
	for _, grain := range []unit.Time{0, 20 * unit.Microsecond, 200 * unit.Microsecond} {
		want, _ := explain.Timed(r.Plan, r.Exec, seen, grain, false)
		got, some := explain.Timed(r.Plan, r.Exec, seen, grain, true)
		if !some {
			t.Fatal("nothing is executed ahead")
		}
		if !slices.Equal(want, got) {
			t.Errorf("grain %v: %d times differ of %d", grain, differ(want, got), len(want))
		}
	}
}

func differ(a, b []unit.Time) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}
