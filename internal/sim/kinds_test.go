package sim

import (
	"fmt"
	"testing"

	"railyard/unit"
)

// A pipeline over servers of two kinds has the pace of the slower one. Each kind computes as it does alone. A step
// takes what the A100s need for all microbatches, with an H100's pass before and after them instead of an A100's.
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

// In a mesh a tensor parallel group uses the cables of all its pairs. A folded step waits as long as the transfers
// take, a seventh of one ring on one cable of each GPU.
func TestTensorParallelInAMesh(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 1, spines: 1, uplinks: 8}
server: {gpu: mi300x, gpus: %d, nics: %d}
workload: {training: {model: llama-2-7b, sequence: 512, tp: 8, efficiency: 50, fold: %v}}
`
	_, built, _ := runAll(t, fmt.Sprintf(text, 8, 8, false))
	_, folded, _ := runAll(t, fmt.Sprintf(text, 1, 1, true))
	if d := built.StepTime - folded.StepTime; d < 0 || d > built.StepTime/1000 {
		t.Errorf("built %v, folded %v", unit.Time(built.StepTime), unit.Time(folded.StepTime))
	}
	found := false
	for _, c := range built.Collectives {
		found = found || c.Name == "tp all-reduce"
		if c.Name == "tp all-reduce" && (c.BusBW < 300e9 || c.BusBW > c.Bound || c.BoundWhy != "pair link") {
			t.Errorf("%.1f GB/s, bound %.1f by %s", c.BusBW/1e9, c.Bound/1e9, c.BoundWhy)
		}
	}
	if !found {
		t.Error("no tensor parallel all-reduce was reported")
	}
}
