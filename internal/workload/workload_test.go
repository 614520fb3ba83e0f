package workload

import (
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/unit"
)

func training(t *testing.T, name string, tp, pp, dp int) *Training {
	m, err := model.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Training{Layout: layout(tp, pp, dp), Model: m, GPU: model.GPUs["h100"],
		Bucket: 100 * unit.MB, Overlap: true, ScatterGather: true, Efficiency: 50, Channels: 1}
}

func layout(tp, pp, dp int) partition.Layout {
	return partition.Layout{TP: tp, PP: pp, DP: dp, CP: 1, EP: 1, VPP: 1,
		Recompute: partition.RecomputeSelective, Schedule: partition.OneFOneB, Micro: 1, Microbatches: 4,
		Seq: 1024}
}

// Each rank sends 2(D-1)/D of its gradients, the cost of data parallelism (docs/references.md, zero), within the
// rounding of layers to tensor parallel ranks.
func TestGradientVolume(t *testing.T) {
	for _, c := range []struct{ tp, pp, dp int }{{8, 1, 8}, {4, 2, 4}, {8, 4, 2}, {1, 1, 16}} {
		tr := training(t, "llama-2-7b", c.tp, c.pp, c.dp)
		tr.Microbatches = 1
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		sent := unit.Bytes(0)
		for i := range d.Ops {
			if o := &d.Ops[i]; o.Class == DataParallel {
				sent += o.Bytes
			}
		}
		want := float64(2*(c.dp-1)) * 2 * float64(tr.Model.Params()) // all replicas together
		if got := float64(sent); got < want*0.999 || got > want*1.001 {
			t.Errorf("tp %d pp %d dp %d: %.4g bytes of gradients, want %.4g", c.tp, c.pp, c.dp, got, want)
		}
	}
}

// Computation time is the model's FLOPs over the GPUs' speed, for any division of the step.
func TestComputeTime(t *testing.T) {
	for _, c := range []struct{ tp, pp, dp int }{{8, 1, 2}, {4, 4, 1}, {2, 8, 1}} {
		tr := training(t, "gpt3-13b", c.tp, c.pp, c.dp)
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		sum := unit.Time(0)
		for i := range d.Ops {
			if o := &d.Ops[i]; o.Compute() && o.Class != Optimizer {
				sum += o.Dur
			}
		}
		want := tr.Model.StepFLOPs(tr.Global()*tr.Seq, tr.Seq) / (tr.GPU.BF16 * tr.Efficiency / 100)
		if got := sum.Seconds(); got < want*0.9999 || got > want*1.0001 {
			t.Errorf("tp %d pp %d dp %d: %.5f GPU seconds, want %.5f", c.tp, c.pp, c.dp, got, want)
		}
	}
}

func TestFaultsNameTheField(t *testing.T) {
	for want, spoil := range map[string]func(*Training){
		"tp: 3 does not divide the 32":        func(t *Training) { t.TP = 3 },
		"pp: 5 does not divide the 32 layers": func(t *Training) { t.PP = 5 },
		"efficiency":                          func(t *Training) { t.Efficiency = 0 },
		"the step would have":                 func(t *Training) { t.Microbatches = 1 << 20 },
	} {
		tr := training(t, "llama-2-7b", 8, 1, 8)
		spoil(tr)
		if _, err := tr.Build(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestExplicit(t *testing.T) {
	ok := []Step{{ID: "a", Compute: 5, To: -1}, {ID: "b", Send: 10, Rank: 0, To: 1, After: []string{"a"}}}
	d, err := Explicit(2, ok)
	if err != nil || len(d.Ops) != 2 || d.Ops[1].Deps != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	for want, steps := range map[string][]Step{
		"defined twice":  {{ID: "a", To: -1}, {ID: "a", To: -1}},
		"does not exist": {{ID: "a", To: -1, After: []string{"z"}}},
		"cyclic: a": {{ID: "a", To: -1, After: []string{"b"}},
			{ID: "b", To: -1, After: []string{"a"}}},
		"cyclic: self waits": {{ID: "self", To: -1, After: []string{"self"}}},
	} {
		if _, err := Explicit(2, steps); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
