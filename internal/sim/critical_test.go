package sim

import (
	"testing"

	"railyard/internal/result"
	"railyard/unit"
)

// pathIsTheStep checks that the pieces of the critical path are contiguous from the beginning of the run to the end
// of the step, even if the step did not end.
func pathIsTheStep(t testing.TB, s *result.Summary, tab *result.Tables) {
	t.Helper()
	at := int64(0)
	for i, p := range tab.Critical {
		if p.Start != at || p.End <= p.Start || p.Ops == 0 && i > 0 && i < len(tab.Critical)-1 {
			t.Fatalf("piece %d of the critical path: %+v, the one before ends at %d", i, p, at)
		}
		at = p.End
	}
	if len(tab.Critical) > 0 && at != s.StepTime {
		t.Fatalf("the critical path ends at %v, the step at %v", unit.Time(at), unit.Time(s.StepTime))
	}
}

// TestCriticalPathOfAStep has thousands of consecutive operations; the path contains all of their time.
func TestCriticalPathOfAStep(t *testing.T) {
	_, s, tab := runAll(t, `
name: path
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
workload: {training: {model: gpt3-125m, tp: 2, pp: 2, dp: 2, sequence: 512, micro_batch: 1, global_batch: 16,
  efficiency: 50}}
`)
	ops := int32(0)
	for _, p := range tab.Critical {
		ops += p.Ops
	}
	if ops <= int32(len(tab.Critical)) || len(tab.Critical) < 20 {
		t.Errorf("%d pieces for %d operations, the step takes %v", len(tab.Critical), ops, unit.Time(s.StepTime))
	}
}
