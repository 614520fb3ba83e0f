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

// TestRecipePrecision checks which products a recipe leaves in 16 bits, and attention in FP8: of wide heads it takes
// 740 of 1,200 of the time, of narrow heads as long as before.
func TestRecipePrecision(t *testing.T) {
	software, err := FindSoftware("custom")
	if err != nil {
		t.Fatal(err)
	}
	of := func(name, precision string, r Recipe) kernels {
		m, err := model.Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		t := NewTraining()
		t.Model, t.GPU, t.Precision, t.Seq, t.Microbatches = m, model.GPUs["gb200"], precision, 8192, 1
		t.Software, t.Recipe = software, &r
		return t.kernels()
	}
	wide, narrow := "llama-3.1-70b", "gpt-oss-120b" // 80 layers with heads of 128, and heads of 64
	low, plain := of(wide, "nvfp4", Recipe{}), of(wide, BF16, Recipe{})
	if k := of(wide, "nvfp4", Recipe{BF16Layers: 80}); k != plain {
		t.Errorf("all layers in 16 bits: %v, want %v", k, plain)
	}
	k := of(wide, "nvfp4", Recipe{BF16Layers: 20})
	if got, want := k.mlp.forward, (3*low.mlp.forward+plain.mlp.forward)/4; got < want-2 || got > want+2 {
		t.Errorf("a quarter of the layers in 16 bits: %v, want %v", got, want)
	}
	k = of(wide, "mxfp8", Recipe{FP8Attention: true})
	if got, want := k.core.inputs, plain.core.inputs*740/1200; got < want-2 || got > want+2 {
		t.Errorf("attention in FP8: %v, want %v", got, want)
	}
	if a, b := of(narrow, "mxfp8", Recipe{FP8Attention: true}), of(narrow, "mxfp8", Recipe{}); a.core != b.core {
		t.Errorf("narrow heads in FP8: %v, and %v in 16 bits", a.core, b.core)
	}
}
