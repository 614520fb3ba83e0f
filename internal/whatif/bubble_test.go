package whatif

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/partition"
	"railyard/internal/result"
)

// piped is a training with a pipeline of four stages of ten layers, and few microbatches.
const piped = `
name: piped
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: h100, gpus: 1, nics: 1}
workload: {training: {model: MODEL, pp: 4, micro_batch: 2, global_batch: 16, sequence: 512}}
`

// TestBubbleRemedies: the pipeline's bubble has remedies that are settings of the scenario, fit the model and the
// memory, and shorten the step.
func TestBubbleRemedies(t *testing.T) {
	base := run(t, strings.Replace(piped, "MODEL", "gpt3-13b", 1), cause.Change{})
	all := Remedies(base.Plan, base.Summary)
	some := First(all, 9)
	for _, want := range []string{"schedule=interleaved workload.training.vpp=2", "schedule=zero-bubble", "micro_batch=1"} {
		i := slices.IndexFunc(some, func(r *Remedy) bool {
			return r.Cause == result.Bubble && strings.Join(r.Set, " ") == "workload.training."+want
		})
		if i < 0 {
			t.Errorf("no remedy %s of %+v", want, all)
			continue
		}
		if some[i].Try(Of(base.Plan), base.Summary.StepTime, Limits{}); some[i].Saved <= 0 || some[i].Error != "" {
			t.Errorf("%s: %+v", want, some[i])
		}
	}
	for _, r := range all {
		if r.Cause == result.Bubble && strings.Contains(strings.Join(r.Set, " "), "vpp=3") {
			t.Errorf("three parts of ten layers: %+v", r)
		}
	}
	// A GPU whose memory holds the layout as it is holds no parts in flight more.
	step := base.Plan.Jobs[0].Training
	need, err := step.Worst(step.Model)
	if err != nil {
		t.Fatal(err)
	}
	step.GPU.Usable = (need.Total() + 1) / partition.MostMemory * 100
	if step.Each = nil; step.Smallest().Usable != step.GPU.Usable {
		t.Fatalf("%+v", step.Smallest())
	}
	for _, r := range Remedies(base.Plan, base.Summary) {
		if slices.Contains(r.Set, "workload.training.schedule=interleaved") {
			t.Errorf("does not fit: %+v", r)
		}
	}
}
