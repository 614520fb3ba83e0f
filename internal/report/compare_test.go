package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
)

func run(took int64, params, tokens int64, idle int) *result.Summary {
	return &result.Summary{Complete: true, Step: result.Step{StepTime: took},
		Trained: result.Trained{Params: params, Tokens: tokens, TrainingGPUs: 32, IdleGPUs: idle}}
}

// Variants that train different models or batches are ranked by time per token, and idle GPUs are said.
func TestCompareDifferentWork(t *testing.T) {
	for _, c := range []struct {
		name string
		b    *result.Summary
		want []string
	}{
		{"the same", run(2000, 7, 100, 0), []string{"a is fastest: 1 ns (slowest: b, +100 %)"}},
		{"a larger batch", run(1500, 7, 200, 0), []string{"(the batches differ)", "time per token  ",
			"b is fastest: 7 ps per token (the batches differ) (−25.0 % vs a)"}},
		{"another model", run(2000, 8, 100, 0), []string{"(the models differ)", "a is fastest: 10 ps per token"}},
		{"no training", run(500, 0, 0, 0), []string{"not comparable"}},
		{"idle GPUs", run(500, 7, 100, 32), []string{"b is fastest, on 32 of 64 GPUs: ", "b: 32 of 64 GPUs are idle"}},
	} {
		var out strings.Builder
		Compare(&out, "x", []result.Variant{{Label: "a", Runs: []*result.Summary{run(1000, 7, 100, 0)}},
			{Label: "b", Runs: []*result.Summary{c.b}}})
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, out.String())
			}
		}
	}
}

// Messages that begin at random times are compared by their slowdown: the end of the last one says when it began.
func TestCompareSlowdowns(t *testing.T) {
	random := func(took int64, mean, p99 float64) []*result.Summary {
		s := run(took, 0, 0, 0)
		s.Flows.Slowdown = &result.Slowdowns{Mean: mean, P99: p99}
		return []*result.Summary{s}
	}
	var out strings.Builder
	Compare(&out, "x", []result.Variant{{Label: "a", Runs: random(1000, 4, 30)}, {Label: "b", Runs: random(2000, 3, 10)}})
	for _, want := range []string{"b is fastest: 3 × mean slowdown (−25.0 % vs a)", "p99 slowdown"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
