package workload

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/unit"
)

// TestFindSoftware checks that a version selects the newest figures that are not newer than it, and which versions
// are rejected.
func TestFindSoftware(t *testing.T) {
	for name, version := range map[string]string{"megatron-bridge": "26.06", "megatron-bridge@25.11": "",
		"megatron-bridge@26.04.01": "26.04", "megatron-bridge@26.08": "26.06", "megatron-bridge@26.08.01": "26.06", "nemo@25.02": "", "custom": ""} {
		s, err := FindSoftware(name)
		if err != nil || s.Version != version || !strings.HasPrefix(name, s.Name) {
			t.Errorf("%s: %+v, %v, want version %q", name, s, err, version)
		}
	}
	for name, want := range map[string]string{
		"nemo@99":             `nemo has no version "99"; accepted: nemo@25.02 to 25.05, or nemo for the newest`,
		"nemo@":               `no version ""`,
		"nemo@25":             "no version",
		"nemo@25.02x":         "no version",
		"megatron-bridge@1.0": `no version "1.0"; accepted: megatron-bridge@25.11 to`,
		"megatron-bridge@27":  "no version",
		"torchtitan@1.0":      `torchtitan has no versions, found "1.0"; accepted: torchtitan`,
		"custom@2":            "no versions",
	} {
		if s, err := FindSoftware(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", name, s, err, want)
		}
	}
	if _, err := FindSoftware("megatron"); err == nil || !strings.Contains(err.Error(), "megatron-") {
		t.Errorf("%v", err)
	}
	for _, s := range Softwares {
		for _, p := range Parameters {
			if v := *p.Of(&s); !(v >= p.Min && v <= p.Max) || s.Source == "" {
				t.Errorf("%s: %s is %g, of %g to %g; source %q", s.Name, p.Name, v, p.Min, p.Max, s.Source)
			}
		}
	}
}

// soft is a training of a shipped model by custom's figures.
func soft(t *testing.T, name string, change func(*Training)) *Training {
	t.Helper()
	m, err := model.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := FindSoftware("custom")
	if err != nil {
		t.Fatal(err)
	}
	x := NewTraining()
	x.Model, x.GPU, x.Seq, x.Software = m, model.GPUs["h100"], 4096, s
	change(&x)
	return &x
}

// TestSoftwareKernels checks each mechanism alone: to what it is proportional, and where it has no effect.
func TestSoftwareKernels(t *testing.T) {
	total := func(x *Training) float64 { f, b, _ := x.LayerTimes(); return (f + b).Seconds() }
	plain := func(*Training) {}
	for name, c := range map[string]struct {
		model     string
		a, b      func(*Training)
		low, high float64 // ratio of b's time to a's
	}{
		"a microbatch of twice the tokens takes twice as long": {"llama-3.1-8b", plain,
			func(x *Training) { x.Micro = 2 }, 1.99, 2.01},
		"experts' weights pass memory once": {"qwen3-30b-a3b", plain, func(x *Training) { x.Micro = 2 }, 1.5, 1.9},
		"fp8 doubles the products' rate and streams casts": {"llama-3.1-8b", plain,
			func(x *Training) { x.Precision = "fp8" }, 0.52, 0.75},
		"full recomputation is one forward pass more": {"llama-3.1-8b", plain,
			func(x *Training) { x.Recompute = "full" }, 1.28, 1.34},
		"experts recomputed are less than that": {"qwen3-30b-a3b", plain,
			func(x *Training) { x.Recipe = &Recipe{Again: []string{"moe"}} }, 1.1, 1.32},
		"experts as one kernel stream less": {"qwen3-30b-a3b", func(x *Training) { x.Precision = "fp8" },
			func(x *Training) { x.Precision, x.Recipe = "fp8", &Recipe{Fused: true} }, 0.9, 0.99},
		"a clamped activation streams": {"gpt-oss-120b", func(x *Training) { x.Precision = "fp8" },
			func(x *Training) { x.Precision, x.Recipe = "fp8", &Recipe{Fused: true} }, 0.4, 0.85},
		"power limits B200 below B300": {"llama-3.1-8b", func(x *Training) { x.GPU = model.GPUs["b300"] },
			func(x *Training) { x.GPU = model.GPUs["b200"] }, 1.2, 1.41},
	} {
		a, b := soft(t, c.model, c.a), soft(t, c.model, c.b)
		if r := total(b) / total(a); !(r >= c.low && r <= c.high) {
			t.Errorf("%s: %.3f times, want %g to %g", name, r, c.low, c.high)
		}
	}
	few, many := soft(t, "qwen3-30b-a3b", func(x *Training) { x.EP = 64 }), soft(t, "qwen3-30b-a3b", func(x *Training) { x.EP = 8 })
	if d := many.HostTime() - few.HostTime(); math.Abs(d/(14*few.Software.HostExpert)-1) > 1e-9 {
		t.Errorf("14 experts more cost the host %g s", d)
	}
	for graphs, want := range map[string]float64{GraphLayers: 16 * many.Software.HostExpert, GraphStep: 0} {
		many.Recipe = &Recipe{Graphs: graphs}
		if h := many.HostTime(); math.Abs(h-want) > 1e-12 {
			t.Errorf("graphs of %s: the host takes %g s, want %g", graphs, h, want)
		}
	}
}

// TestSoftwareDependencies checks that operations of later microbatches wait for as few others as those of the
// first. Transfers hidden by computation once passed on all dependencies of their ranks, and a step of qwen3-30b
// took gigabytes.
func TestSoftwareDependencies(t *testing.T) {
	each := func(name, by string, microbatches int, change func(*Training)) float64 {
		x := soft(t, name, func(x *Training) {
			x.DP, x.Micro, x.Microbatches, x.PerServer = 8, 1, microbatches, 8
			x.NVLink, x.NVLatency = x.GPU.NVLink, 1
			change(x)
		})
		s, err := FindSoftware(by)
		if err != nil {
			t.Fatal(err)
		}
		x.Software = s
		x.GlobalBatch = int64(x.DP * microbatches)
		d, err := x.Build()
		if err != nil {
			t.Fatal(err)
		}
		return float64(len(d.Succ)) / float64(len(d.Ops))
	}
	for name, c := range map[string]struct {
		model, by string
		change    func(*Training)
	}{
		"experts": {"qwen3-30b-a3b", "megatron-bridge", func(x *Training) { x.EP, x.ZeRO = 8, 1 }},
		"ring":    {"llama-2-7b", "nemo", func(x *Training) { x.TP, x.DP, x.ZeRO = 4, 2, 1 }},
		"switch":  {"llama-2-7b", "nemo", func(x *Training) { x.TP, x.DP, x.ZeRO, x.Switch = 4, 2, 1, 0.8 }},
	} {
		few, many := each(c.model, c.by, 2, c.change), each(c.model, c.by, 4, c.change)
		t.Logf("%s: %.1f dependencies per operation with 2 microbatches, %.1f with 4", name, few, many)
		if many > 1.1*few {
			t.Errorf("%s: %.1f dependencies per operation with 2 microbatches, %.1f with 4", name, few, many)
		}
	}
}

// TestHiddenTensor checks which part of tensor parallel transfers products hide: 1/2 of two ranks', 7/8 of eight.
func TestHiddenTensor(t *testing.T) {
	for _, c := range []struct {
		by   string
		tp   int
		want float64
	}{{"custom", 1, 0}, {"custom", 2, 0.5}, {"nemo", 8, 0.875}, {"megatron-lm", 8, 0}} {
		s, err := FindSoftware(c.by)
		if err != nil {
			t.Fatal(err)
		}
		tr := NewTraining()
		tr.Software, tr.TP = s, c.tp
		if got := tr.HiddenTensor(); got != c.want {
			t.Errorf("%s with %d ranks hides %v of tensor parallel transfers, want %v", c.by, c.tp, got, c.want)
		}
	}
}

// TestLengthShare checks attention's rate by length against figure 5 of FlashAttention-3, and that a context parallel
// rank meets its own length and half of it.
func TestLengthShare(t *testing.T) {
	tr := NewTraining()
	for _, c := range []struct {
		seq  int64
		cp   int
		want float64
	}{{256, 1, 467. / 646}, {1024, 1, 565. / 646}, {2048, 1, 625. / 646}, {8192, 1, 1}, {131072, 1, 1},
		{8192, 4, (625. + 565) / 2 / 646}, {8192, 8, (565. + 467) / 2 / 646}} {
		tr.Seq, tr.CP = c.seq, c.cp
		if got := tr.lengthShare(); got < c.want-0.001 || got > c.want+0.001 {
			t.Errorf("%d tokens on %d ranks: %.3f, want %.3f", c.seq, c.cp, got, c.want)
		}
	}
}

// TestGatherDependencies checks that gathering updated parameters in more buckets leaves operations with as few
// dependencies. Each bucket once depended on all before it, and a step of llama-2-7b on 32 GPUs took 7 GB.
func TestGatherDependencies(t *testing.T) {
	each := func(bucket unit.Bytes) float64 {
		x := soft(t, "llama-2-7b", func(x *Training) {
			x.DP, x.ZeRO, x.Micro, x.Microbatches, x.GlobalBatch, x.PerServer, x.Bucket = 8, 1, 1, 1, 8, 8, bucket
			x.Channels = 4
		})
		d, err := x.Build()
		if err != nil {
			t.Fatal(err)
		}
		return float64(len(d.Succ)) / float64(len(d.Ops))
	}
	if few, many := each(unit.GB), each(50*unit.MB); many > 1.5*few {
		t.Errorf("%.1f dependencies of an operation with few buckets, %.1f with many", few, many)
	}
}
