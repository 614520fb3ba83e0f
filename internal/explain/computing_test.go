package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/unit"
)

// TestComputingOfNoPart checks that computing in imported traces and explicit operations counts as computing. This
// holds for the step as the last rank saw it, for its critical path and for its account, in any order of the
// operations. Host-1 computes for 5 ms and sends; host-2 computes 1 ms before that arrives, and 3 ms after it.
func TestComputingOfNoPart(t *testing.T) {
	const fabric = `
fabric: {kind: rail, hosts: 2, spines: 1}
server: {gpus: 1, nics: 1}
`
	for name, work := range map[string]string{
		"goal": `workload: {trace: {format: goal, files: [computes.goal]}}`,
		"ops": `
workload:
  ops:
    - {id: after, gpu: host-2/gpu-1, compute: 3ms, after: [sent]}
    - {id: sent, gpu: host-1/gpu-1, to: host-2/gpu-1, send: 1MB, after: [first]}
    - {id: first, gpu: host-1/gpu-1, compute: 5ms}
    - {id: meanwhile, gpu: host-2/gpu-1, compute: 1ms}
`} {
		t.Run(name, func(t *testing.T) {
			_, s, tab := runAll(t, fabric+work)
			onPath := int64(0)
			for _, p := range tab.Critical {
				if p.Class == "compute" {
					onPath += p.End - p.Start
				}
			}
			ms := int64(unit.Millisecond)
			if s.Compute != 4*ms || s.Bubble != 0 || s.Waiting != 4*ms || s.ExposedOther != s.StepTime-8*ms ||
				s.Chain.Of(cause.Compute) != 8*ms || onPath != 8*ms {
				t.Errorf("step %d: %d computing, %d waiting, %d exposed; %d ps on the path, %d in the account", s.StepTime,
					s.Compute, s.Waiting, s.ExposedOther, onPath, s.Chain.Of(cause.Compute))
			}
		})
	}
}
