package planner

import (
	"math"
	"testing"

	"railyard/internal/model"
	"railyard/internal/workload"
)

// TestCompare: an estimate without a framework also has an interval, from all published trainings of its class at
// its efficiency. It is wider than a framework's and contains most of them; the nearest training has its MFU.
func TestCompare(t *testing.T) {
	flat := publishedRows(t, Assumed{Efficiency: 60})
	if share, judged := Coverage(flat); share < 0.85 || judged != len(flat) {
		t.Errorf("intervals hold %.2f of %d rows, of %d", share, judged, len(flat))
	}
	for _, e := range errorsOf(flat, (*Measured).logError) {
		for _, held := range published.Errors {
			if held.Kind == e.Kind && held.RMS >= e.RMS {
				t.Errorf("%s: %.2f at 60 %%, %.2f held out by a framework's figures", e.Kind, e.RMS, held.RMS)
			}
		}
	}
	m, err := model.Builtin("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := model.FindGPU("h100")
	if err != nil {
		t.Fatal(err)
	}
	in := SearchInput{Training: workload.NewTraining(), Site: Site{GPU: gpu, GPUs: 100, PerServer: 8}}
	in.Training.Model, in.Training.Seq, in.Training.Efficiency = m, 8192, 60
	c := in.Compare()
	if c.Error == nil || c.Error.Kind != "dense bf16" || c.Error.Rows < 50 {
		t.Errorf("error %+v", c.Error)
	}
	in.Training.Software, _ = workload.FindSoftware("nemo")
	with := in.Compare()
	if with.Error == nil || with.Error.RMS >= c.Error.RMS {
		t.Errorf("with software %+v", with.Error)
	}
	// NVIDIA/dgxc-benchmarking: 2,048 sequences of 8,192 tokens in 12.33 s on 128 H100.
	n := with.Nearest
	want := m.StepFLOPs(2048*8192, 8192) / 12.33 / 128 / 989.4e12
	if n == nil || n.GPUs != 128 || n.Software != "nemo" || math.Abs(n.MFU/want-1) > 0.02 {
		t.Errorf("%+v, want an MFU of %.3f", n, want)
	}
	in.Training.Precision = "nvfp4"
	if c = in.Compare(); c.Nearest != nil {
		t.Errorf("a training in another precision: %+v", c.Nearest)
	}
}
