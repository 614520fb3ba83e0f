package sim

import (
	"fmt"
	"testing"

	"railyard/unit"
)

// A pipeline over servers of two kinds goes at the pace of the slower one: each computes as it does among
// its own, and a step takes what the A100s need for all microbatches, with an H100's pass before and
// behind them where A100s alone have another of their own.
func TestMixedGPUsInAStep(t *testing.T) {
	const text = `
fabric:
  types:
    one: {gpu: %s, gpus: 8, nics: 8, nic_rate: 400Gbps}
    two: {like: one, gpu: %s}
    sw: {}
  nodes: {one: {type: one}, two: {type: two}, sw: {type: sw}}
  cables: [{from: one, to: sw}, {from: two, to: sw}]
workload: {training: {model: llama-2-7b, sequence: 512, tp: 8, pp: 2, global_batch: 8}}
`
	step := func(one, two string) (took, own unit.Time) {
		r, s, _ := runAll(t, fmt.Sprintf(text, one, two))
		for i := range r.Exec.DAG.Ops {
			if o := &r.Exec.DAG.Ops[i]; o.Compute() && o.Rank == 0 {
				own += o.Dur
			}
		}
		return unit.Time(s.StepTime), own
	}
	fast, h100 := step("h100", "h100")
	slow, a100 := step("a100", "a100")
	mixed, mine := step("h100", "a100")
	if mine != h100 || a100 < 2*h100 {
		t.Errorf("an H100 computes %v beside A100s, %v among its own; an A100 %v", mine, h100, a100)
	}
	if fast > slow/2 || mixed >= slow || mixed < slow-(slow-fast)/6 { // one pass of nine
		t.Errorf("a mixed step takes %v, H100s alone %v, A100s alone %v", mixed, fast, slow)
	}
}
