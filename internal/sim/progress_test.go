package sim

import (
	"testing"

	"railyard/internal/exec"
	"railyard/unit"
)

// Two large messages: arrived bytes count in progress, not only at the end. Progress never falls, never exceeds the
// total, and ends with all bytes.
func TestProgressCountsBytes(t *testing.T) {
	r := load(t, `
fabric: {kind: single-rail, hosts: 4, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 500MB, fan_in: 2}}}
`)
	var seen []unit.Bytes
	if err := r.Go(func(p exec.Progress) bool {
		if p.Total != 1000*unit.MB || p.Delivered > p.Total || len(seen) > 0 &&
			p.Delivered < seen[len(seen)-1] {
			t.Errorf("%v of %v after %v", p.Delivered, p.Total, seen)
		}
		seen = append(seen, p.Delivered)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 3 || seen[0] == 0 || seen[1] == seen[0] || seen[0] > 900*unit.MB ||
		r.progress().Delivered != 1000*unit.MB {
		t.Errorf("%v, in the end %v", seen, r.progress().Delivered)
	}
}
