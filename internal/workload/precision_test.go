package workload

import (
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/unit"
)

// TestPrecision checks that narrower arithmetic shortens the layers' matrix products by the ratio of the GPU's
// peaks, minus the time of casts. Attention scores and the head do not change, and a GPU without it is rejected.
func TestPrecision(t *testing.T) {
	m, err := model.Builtin("llama-3.1-70b")
	if err != nil {
		t.Fatal(err)
	}
	of := func(gpu, precision string) *Training {
		t := NewTraining()
		t.Model, t.GPU, t.Precision, t.Seq, t.Microbatches = m, model.GPUs[gpu], precision, 8192, 1
		return &t
	}
	gb := model.GPUs["gb200"]
	tokens := 8192.0
	for _, c := range []struct {
		name  string
		times float64 // bf16's peak
		bytes float64 // per value cast
	}{{"fp8", 2, 6}, {"fp8-block", 2, 4}, {"mxfp8", 2, 4}, {"nvfp4", 4, 3}} {
		was, is := of("gb200", BF16).kernels(), of("gb200", c.name).kernels()
		if is.core != was.core || is.head != was.head {
			t.Errorf("%s changes attention scores or the head: %v, %v", c.name, is.core, is.head)
		}
		// the values that enter a layer's two feed-forward products: hidden and intermediate size
		cast := unit.FromSeconds(tokens * (8192 + 28672) * c.bytes * 8 / float64(gb.HBM))
		want := unit.Time(float64(was.mlp.forward)/c.times) + cast
		if d := is.mlp.forward - want; max(d, -d) > unit.Nanosecond {
			t.Errorf("%s: feed-forward part takes %v, want %v", c.name, is.mlp.forward, want)
		}
		if is.proj.weights != unit.Time(float64(was.proj.weights)/c.times) {
			t.Errorf("%s: weight gradients take %v of %v", c.name, is.proj.weights, was.proj.weights)
		}
	}
	for precision, want := range map[string]string{"nvfp4": "h100 has no fp4", "mxfp8": "h100 lacks the block scales",
		"int4": "accepted: bf16"} {
		l := of("h100", precision)
		l.GlobalBatch = 1
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s on an H100: %v, want %q", precision, err, want)
		}
	}
}
