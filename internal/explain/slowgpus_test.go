package explain_test

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/whatif"
)

// TestSlowerGPUs checks what the slower GPUs of a training cost against a run in which all are as fast as the fastest.
func TestSlowerGPUs(t *testing.T) {
	t.Parallel()
	const text = `
fabric:
  types:
    old: {gpus: 2, nics: 2, nic_rate: 200Gbps, gpu: a100}
    new: {gpus: 2, nics: 2, nic_rate: 200Gbps, gpu: h100}
    leaf: {ports: 64x200Gbps}
  nodes:
    old: {type: old, count: 2}
    new: {type: new, count: 2}
    leaf: {type: leaf, count: 1}
  cables: [{from: old, to: leaf}, {from: new, to: leaf}]
workload: {training: {model: gpt3-125m, tp: 2, LAYOUT, sequence: 512, micro_batch: 1, global_batch: 16, bucket: 25MB}}
`
	for _, layout := range []string{"dp: 4", "dp: 2, pp: 2"} {
		run := func(change *cause.Change, sets ...string) *result.Summary {
			s := &whatif.Scenario{Name: "mixed.yaml", Sets: sets,
				Text: []byte(strings.ReplaceAll(text, "LAYOUT", layout))}
			o, err := s.Run(change, whatif.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return o.Summary
		}
		s, even := run(&cause.Change{}), run(&cause.Change{}, "fabric.types.old.gpu=h100")
		change := cause.SlowRank.Get().Without(&cause.Facts{MixedGPUs: true})
		if edited := run(&change); edited.Compute != even.Compute {
			t.Errorf("%s: the edit computes for %d, not %d ps", layout, edited.Compute, even.Compute)
		}
		saved := s.StepTime - even.StepTime
		if 10*saved < s.StepTime || 50*abs(s.Slow-saved) > s.StepTime || s.Slow != s.Chain.Costs(cause.SlowRank) {
			t.Errorf("%s: %d ps are said to be lost to slower GPUs, %d are saved of %d", layout, s.Slow, saved, s.StepTime)
		}
		if parts := s.Compute + s.ExposedComm + s.Bubble + s.Waiting + s.Slow; parts != s.StepTime {
			t.Errorf("%s: parts %d of %d ps", layout, parts, s.StepTime)
		}
		if len(s.SlowRanks) != 4 || s.SlowRanks[0].Kind != "a100" || s.SlowRanks[0].Fastest != "h100" {
			t.Errorf("%s: slow are %+v", layout, s.SlowRanks)
		}
		if len(even.SlowRanks) > 0 || even.Slow != 0 {
			t.Errorf("%s: equal GPUs are slow: %+v", layout, even.SlowRanks)
		}
	}
}
