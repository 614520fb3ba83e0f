package explain_test

import (
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/model"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

const us = unit.Microsecond

// acrossPipes returns what a transfer takes alone through pipes.
func acrossPipes(bytes unit.Bytes) int64 {
	return int64(unit.Serialize(bytes+bytes/40, 100*unit.Gbps) + pipeLatency)
}

// A pipeline of two stages as the last one saw it: nothing while the first computed, its
// transfer, its own computing; the gradient's transfer after that is data parallel. The same operations without a
// training, as a trace has them, are no pipeline: the rank waited for the first one.
func TestTimeline(t *testing.T) {
	b := workload.NewBuilder(3)
	first := b.Compute(0, 100*us, workload.Forward)
	var hand, grad int32
	b.Collective(workload.Collective{Name: "pp", Class: workload.PipelineParallel, Ranks: []int{0, 1}},
		func() {
			hand = b.Transfer(0, 1, unit.MB, first)
		})
	second := b.Compute(1, 40*us, workload.Backward, hand)
	b.Collective(workload.Collective{Name: "dp", Class: workload.DataParallel, Ranks: []int{1, 2}}, func() {
		grad = b.Transfer(2, 1, 3*unit.MB, second)
	})
	b.Compute(1, 5*us, workload.Optimizer, grad)
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	staged := workload.NewTraining()
	staged.PP, staged.Model = 2, &model.Config{}
	for _, start := range []unit.Time{0, 7 * us} {
		s, _ := piped(t, workload.Job{Name: "one", DAG: d, Start: start})
		j, want := s.Jobs[0], []result.Waited{{Rank: 0, GPU: "host-1/gpu-1", Time: int64(100 * us), Path: int64(100 * us)}}
		if j.Bubble != 0 || s.Bubble != 0 || j.Waiting != int64(100*us) || s.Waiting != int64(100*us+start) ||
			!slices.Equal(j.WaitedFor, want) || !slices.Equal(s.WaitedFor, want) {
			t.Errorf("start %v: bubble %d, waiting %d, for %+v", start, j.Bubble, j.Waiting, j.WaitedFor)
		}
		s, tab := piped(t, workload.Job{Name: "one", DAG: d, Start: start, Training: &staged})
		if j := s.Jobs[0]; j.Waiting != 0 || j.WaitedFor != nil {
			t.Errorf("start %v: a stage waits for %+v", start, j.WaitedFor)
		}
		j = s.Jobs[0]
		pp, dp := acrossPipes(unit.MB), acrossPipes(3*unit.MB)
		for what, x := range map[string][2]int64{
			"computing": {j.Compute, int64(45 * us)}, "bubble": {j.Bubble, int64(100 * us)},
			"pipeline": {j.ExposedPP, pp}, "data": {j.ExposedDP, dp}, "exposed": {j.ExposedComm, pp + dp},
			"step": {j.StepTime, int64(145*us) + pp + dp}, "start": {j.Start, int64(start)},
			"the run": {s.StepTime, j.StepTime + int64(start)}, "its bubble": {s.Bubble, j.Bubble +
				int64(start)},
			"the chain": {j.Chain.Total(), j.StepTime}, "computing on it": {j.Chain.Of(cause.Compute), int64(145 * us)},
		} {
			if x[0] != x[1] {
				t.Errorf("start %v: %s is %d, not %d", start, what, x[0], x[1])
			}
		}
		path := tab.Critical // a job that starts later leaves the time before it without operations
		if start > 0 && len(path) > 0 {
			if first := path[0]; first.Class != result.NotStarted || first.Start != 0 || first.End != int64(start) {
				t.Errorf("the critical path begins with %+v", first)
			}
			path = path[1:]
		}
		if n := len(path); n != 5 || path[0].Start != int64(start) || path[n-1].End != j.End {
			t.Errorf("the critical path: %+v", path)
		}
	}
}

// The summary of collectives of one name: how often, how long, at what bandwidth, and what
// the fullest NIC allows.
func TestCollectiveBandwidth(t *testing.T) {
	b := workload.NewBuilder(4)
	var last []int32
	for _, to := range []int{1, 2} {
		b.Collective(workload.Collective{Name: "send", Class: workload.Other, Bytes: unit.MB,
			Ranks: []int{0, to}}, func() {
			last = []int32{b.Transfer(0, to, unit.MB, last...)}
		})
	}
	d, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	s, _ := piped(t, workload.Job{Name: "one", DAG: d})
	took := acrossPipes(unit.MB)
	if len(s.Collectives) != 1 {
		t.Fatalf("%+v", s.Collectives)
	}
	c := s.Collectives[0]
	if c.Count != 2 || c.Time != took || c.TimeMin != took || c.TimeMax != took || c.Job != "" ||
		c.BoundWhy != "NIC" {
		t.Errorf("%+v", c)
	}
	if want := float64(unit.MB) / unit.Time(took).Seconds(); c.AlgBW < 0.999*want || c.AlgBW > 1.001*want ||
		c.BusBW > c.Bound {
		t.Errorf("%.4g bytes/s, not %.4g; bus %.4g of %.4g", c.AlgBW, want, c.BusBW, c.Bound)
	}
}

// TestUnevenStages checks the part of a pipeline's bubble in which a stage is waited for that computes longer: here the
// second one, for the words of the head.
func TestUnevenStages(t *testing.T) {
	_, s, _ := runAll(t, `
fabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps}, fabric_link: {rate: 400Gbps}}
server: {gpu: h100, gpus: 2, nics: 2}
workload: {training: {model: llama-3.1-8b, tp: 2, pp: 2, dp: 1, micro_batch: 1, global_batch: 8, sequence: 2048}}
fidelity: flow
`)
	if s.Bubble <= 0 || s.Uneven <= s.Bubble/10 || s.Uneven > s.Bubble {
		t.Errorf("bubble %d, %d of it for uneven stages", s.Bubble, s.Uneven)
	}
}
