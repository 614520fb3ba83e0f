package partition

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/unit"
)

func builtin(t *testing.T, name string) *model.Config {
	t.Helper()
	m, err := model.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func layout(tp, pp, dp int) Layout {
	return Layout{TP: tp, PP: pp, DP: dp, CP: 1, EP: 1, VPP: 1, Recompute: RecomputeNone, Schedule: OneFOneB,
		Micro: 1, Microbatches: 8, Seq: 2048}
}

// Activations per layer of GPT-3 as Korthikanti et al. have them (docs/references.md, activations).
func TestLayerActivations(t *testing.T) {
	m := builtin(t, "gpt3-175b")
	for _, c := range []struct {
		tp        int
		sequence  bool
		recompute string
		gb        float64
	}{{1, false, RecomputeNone, 2.87}, {8, false, RecomputeNone, 0.579}, {8, true, RecomputeNone, 0.359},
		{8, true, RecomputeSelective, 0.107}, {8, false, RecomputeFull, 0.050}} {
		l := layout(c.tp, 1, 1)
		l.Sequence, l.Recompute, l.Unfused = c.sequence, c.recompute, true
		if got := l.LayerActivations(m) / 1e9; math.Abs(got-c.gb) > 0.006 {
			t.Errorf("tp %d, sequence %v, recompute %s: %.3f GB, published %.3f",
				c.tp, c.sequence, c.recompute, got, c.gb)
		}
	}
}

// ZeRO's figures: 7.5 billion parameters on 64 GPUs (docs/references.md, zero).
func TestZeRO(t *testing.T) {
	for stage, want := range []float64{120, 31.4, 16.6, 1.9} {
		if got := ZeROBytes(7.5e9, 64, stage) / 1e9; math.Abs(got-want) > 0.05 {
			t.Errorf("stage %d: %.2f GB, published %.1f", stage, got, want)
		}
	}
	// A layout's ranks hold the same.
	m := builtin(t, "gpt3-13b")
	for stage := range 4 {
		l := layout(1, 1, 64)
		l.ZeRO = stage
		r, err := l.Memory(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := float64(r[0].Weights+r[0].Gradients+r[0].Optimizer),
			ZeROBytes(float64(m.Params()), 64, stage); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("stage %d: %g bytes, want %g", stage, got, want)
		}
	}
}

// Gradients of 32 bit next to 16 bit weights.
func TestGradients(t *testing.T) {
	l := layout(1, 1, 8)
	l.ZeRO, l.GradBytes = 1, 4
	r, err := l.Worst(builtin(t, "llama-3.1-8b"))
	if err != nil {
		t.Fatal(err)
	}
	// With its distributed optimizer Megatron-LM takes 6 + 12/d bytes per parameter (docs/references.md, software).
	states := float64(r.Weights+r.Gradients+r.Optimizer) / float64(r.Params)
	if math.Abs(states-(6+12.0/8)) > 1e-6 {
		t.Errorf("%g bytes per parameter, want %g", states, 6+12.0/8)
	}
}

// A stage holds what its own layers have, of a hybrid too: of two layers of Nemotron 3 Nano one has experts or none.
// All stages together have the model's parameters.
func TestStagesOfHybrids(t *testing.T) {
	for name, pp := range map[string]int{"nemotron-3-nano": 26, "deepseek-v3": 16, "glm-4.5": 23, "qwen3-8b": 4} {
		m := builtin(t, name)
		stages, err := layout(1, pp, 1).Settled(m).Memory(m)
		if err != nil {
			t.Fatal(err)
		}
		all, least, most := int64(0), int64(math.MaxInt64), int64(0)
		for _, r := range stages {
			all += r.Params
			if r.Stage > 1 && r.Stage < pp {
				least, most = min(least, r.Params), max(most, r.Params)
			}
		}
		if all != m.Params() {
			t.Errorf("%s: stages have %d parameters, the model %d", name, all, m.Params())
		}
		_, dense := m.Span(0, 1)
		hybrid := name == "nemotron-3-nano"
		if hybrid && (most < 10*least || dense != 0) || !hybrid && most > 2*least {
			t.Errorf("%s: stages of %d to %d parameters", name, least, most)
		}
	}
}

// A layer of a hybrid keeps what its one part needs, worked out for Nemotron 3 Nano (hidden 2688, inner width
// 4096, 8 groups of 128 states, 64 heads; 32 heads of attention and 2 of keys, of 128 each; 6 experts of 1856 and a
// shared one of 3712) and for Super (4096, 8192, 22 experts of 2688 on a copy of 1024).
func TestHybridActivations(t *testing.T) {
	for _, c := range []struct {
		model     string
		tp        int
		sequence  bool
		recompute string
		layer     int64
		values    float64 // of 16 bit, per token
	}{
		{"nemotron-3-nano", 1, false, RecomputeSelective, 0, 2*2688 + 2*4096 + 2*8*128 + 64 + 2*4096},
		{"nemotron-3-nano", 1, false, RecomputeSelective, 1, 2*2688 + 2*(6*1856+3712) + 6*2688},
		{"nemotron-3-nano", 1, false, RecomputeSelective, 5, 2*2688 + 2*32*128 + 2*2*128},
		{"nemotron-3-nano", 1, false, RecomputeNone, 5, 2*2688 + 2*32*128 + 2*2*128 + 2.5*32*2048},
		{"nemotron-3-nano", 2, true, RecomputeSelective, 5, (2*2688 + 2*32*128 + 2*2*128) / 2},
		{"nemotron-3-nano", 2, false, RecomputeSelective, 5, 2*2688 + (2*32*128+2*2*128)/2},
		{"nemotron-3-nano", 2, true, RecomputeFull, 5, 2688 / 2},
		{"nemotron-3-super", 1, false, RecomputeSelective, 1, 2*4096 + 1024 + 2*(22*2688+5376) + 22*1024},
	} {
		m := builtin(t, c.model)
		l := layout(c.tp, 1, 1)
		l.Sequence, l.Recompute, l.Unfused = c.sequence, c.recompute, true
		if got, want := l.Activations(m, c.layer, c.layer+1), 2*2048*c.values; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%+v: %.0f bytes, want %.0f", c, got, want)
		}
	}
	m := builtin(t, "gpt3-175b")
	none := layout(8, 1, 1)
	selective := none
	if selective.Recompute = RecomputeSelective; none.LayerActivations(m) != selective.LayerActivations(m) {
		t.Error("FlashAttention keeps scores")
	}
	if l := layout(8, 1, 1); l.Activations(m, 3, 7) != 4*l.LayerActivations(m) {
		t.Error("layers of both parts changed")
	}
}

// The source's models that are only run: 1, 2, and 11 GPUs where it says at least 10.
func TestFitsWeights(t *testing.T) {
	for params, want := range map[float64]int64{8e9: 1, 70e9: 2, 405e9: 11, 400e9: 10, 40e9: 1} {
		if n := Fits(params, WeightBytes, 80*unit.GB, 1); n != want {
			t.Errorf("%.0f parameters: %d GPUs, want %d", params, n, want)
		}
	}
}

// The source's 35, 300 and 400 GPUs.
func TestFits(t *testing.T) {
	if a, b, c := Fits(175e9, StateBytes, 80*unit.GB, 1), Fits(1500e9, StateBytes, 80*unit.GB, 1),
		Fits(1500e9, StateBytes, 80*unit.GB, 0.75); a != 35 || b != 300 || c != 400 {
		t.Errorf("%d, %d and %d GPUs, want 35, 300 and 400", a, b, c)
	}
}

// Every sharding takes less, stages sum up to the whole model, and interleaving
// costs activations.
func TestMemoryProperties(t *testing.T) {
	m := builtin(t, "llama-3.1-70b")
	base := layout(8, 4, 8)
	base.Unfused = true
	all, err := base.Memory(m)
	if err != nil {
		t.Fatal(err)
	}
	var params int64
	for _, r := range all {
		params += r.Params * int64(base.TP)
	}
	if d := float64(params)/float64(m.Params()) - 1; math.Abs(d) > 1e-3 {
		t.Errorf("the stages hold %d parameters, the model has %d", params, m.Params())
	}
	for name, change := range map[string]func(*Layout){
		"zero 1": func(l *Layout) { l.ZeRO = 1 }, "zero 3": func(l *Layout) { l.ZeRO = 3 },
		"cp 2":      func(l *Layout) { l.CP = 2 },
		"sequence":  func(l *Layout) { l.Sequence = true },
		"full":      func(l *Layout) { l.Recompute = RecomputeFull },
		"selective": func(l *Layout) { l.Recompute = RecomputeSelective },
	} {
		l := base
		change(&l)
		r, err := l.Memory(m)
		if err != nil || r[0].Total() >= all[0].Total() {
			t.Errorf("%s: %v, %v instead of %v", name, err, r[0].Total(), all[0].Total())
		}
	}
	l := base
	l.Schedule, l.VPP = Interleaved, 2
	if r, err := l.Memory(m); err != nil || r[0].Activations <= all[0].Activations {
		t.Errorf("interleaved: %v %v, 1f1b %v", err, r[0].Activations, all[0].Activations)
	}
	l = base
	l.Schedule = GPipe
	if r, err := l.Memory(m); err != nil || r[0].Activations != 2*all[0].Activations {
		t.Errorf("gpipe keeps %v of 8 microbatches, 1f1b %v of 4", r[0].Activations, all[0].Activations)
	}
	for want, spoil := range map[string]func(*Layout){
		"tp: 7 does not divide the 64": func(l *Layout) { l.TP = 7 },
		"pp: 3 does not divide":        func(l *Layout) { l.PP = 3 },
		"zero: stage 4":                func(l *Layout) { l.ZeRO = 4 },
		"has no experts; accepted: 1":  func(l *Layout) { l.EP = 2 },
		"schedule":                     func(l *Layout) { l.Schedule = "x" },
		"recompute":                    func(l *Layout) { l.Recompute = "x" },
		"into 3 parts":                 func(l *Layout) { l.CP = 3 },
		"is out of range":              func(l *Layout) { l.DP = 0 },
		"vpp: 2 model chunks":          func(l *Layout) { l.VPP = 2 },
	} {
		l := base
		spoil(&l)
		if _, err := l.Memory(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Experts are spread over their ranks, and count once for the FLOPs of a token.
func TestExperts(t *testing.T) {
	m, err := model.Parse("moe", []byte(`{"model_type":"mixtral",
		"hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,
		"num_key_value_heads":8,
		"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,
		"num_local_experts":8,"num_experts_per_tok":2}`))
	if err != nil {
		t.Fatal(err)
	}
	if p := float64(m.Params()) / 1e9; math.Abs(p-46.7) > 0.1 { // Mixtral 8x7B has 46.7 billion
		t.Errorf("%.2f billion parameters", p)
	}
	l := layout(1, 1, 8)
	one, err := l.Memory(m)
	if err != nil {
		t.Fatal(err)
	}
	l.EP = 8
	eight, err := l.Memory(m)
	if err != nil || eight[0].Params > one[0].Params/5 {
		t.Errorf("%v: %d parameters with ep 8, %d without", err, eight[0].Params, one[0].Params)
	}
}

// A pipeline that keeps two versions of the weights holds twice the bytes of them, and nothing else more
// than 1F1B.
func TestTwoVersions(t *testing.T) {
	m := builtin(t, "gpt3-13b")
	l := layout(8, 4, 2)
	one, err := l.Memory(m)
	if err != nil {
		t.Fatal(err)
	}
	l.Schedule = TwoVersions
	two, err := l.Memory(m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range one {
		one[i].Weights *= 2
		if one[i] != two[i] {
			t.Errorf("stage %d: %+v, want %+v", i+1, two[i], one[i])
		}
	}
	l.ZeRO = 1
	if err := l.Check(m); err == nil || !strings.Contains(err.Error(), "zero") {
		t.Error(err)
	}
	l.ZeRO, l.Microbatches = 0, 3
	if err := l.Check(m); err == nil || !strings.Contains(err.Error(), "pp is 4, found 3 microbatches") {
		t.Error(err)
	}
}
