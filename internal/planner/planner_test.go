package planner

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/unit"
)

// The seed's three tables come out to the unit.
func TestSeedTables(t *testing.T) {
	for n := 1; n <= SeedTables; n++ {
		rows, note, err := SeedTable(n)
		if err != nil || note == "" || len(rows) != 6 {
			t.Fatal(n, err, len(rows))
		}
		for _, r := range rows {
			if r.GPUs != r.Published {
				t.Errorf("table %d: %s %g: %d GPUs, published %d", n, r.Model, r.Params, r.GPUs, r.Published)
			}
		}
	}
	if _, _, err := SeedTable(4); err == nil {
		t.Error("there is a table 4")
	}
}

func gpu(t *testing.T, name string) model.GPU {
	t.Helper()
	g, err := model.FindGPU(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// GPUs from a time and the time from these GPUs agree; a mix is slower than its
// fast precision and faster than its slow one.
func TestSizeBothWays(t *testing.T) {
	h := gpu(t, "h100")
	mix, err := ParseMix("bf16:7,tf32:3")
	if err != nil {
		t.Fatal(err)
	}
	in := SizeInput{Params: 405e9, Tokens: 15.6e12, PerToken: RuleStored, GPU: h, Mix: mix, Utilisation: 0.4, Seconds: 54 * 24 * 3600, PerKWh: 0.1}
	a, err := in.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.FLOPs-3.8e25) > 0.02e25 || a.Peak <= h.TF32 || a.Peak >= h.BF16 || a.Cost <= 0 || a.CostOf != "energy" {
		t.Errorf("%+v", a)
	}
	in.Seconds, in.GPUs = 0, a.GPUs
	b, err := in.Solve()
	if err != nil || b.Seconds > a.Seconds || b.Seconds < a.Seconds*0.999 {
		t.Errorf("%v: %g s on %d GPUs, asked %g", err, b.Seconds, b.GPUs, a.Seconds)
	}
	if want := 0.7 * float64(b.GPUs) * b.Seconds / 3600; math.Abs(b.EnergyKWh/want-1) > 1e-9 {
		t.Errorf("%g kWh, want %g", b.EnergyKWh, want)
	}
	// Megatron's days (HANDBOOK.md 10.1): 175B, 300B tokens, 1,024 GPUs at 140 TFLOP/s: 34 days; 1T, 450B, 3,072 at 163: 84.
	for _, c := range []struct{ p, tok, x, n, days float64 }{{175e9, 300e9, 140e12, 1024, 33.9}, {1008e9, 450e9, 163e12, 3072, 83.9}} {
		s, err := SizeInput{Params: c.p, Tokens: c.tok, PerToken: RuleRecomputed, GPU: gpu(t, "a100"), Peak: c.x, Utilisation: 1, GPUs: int64(c.n)}.Solve()
		if err != nil || math.Abs(s.Seconds/86400-c.days) > 0.1 {
			t.Errorf("%v: %g days, published %g", err, s.Seconds/86400, c.days)
		}
	}
}

func TestSizeRefuses(t *testing.T) {
	good := SizeInput{Params: 1e9, Tokens: 1e9, PerToken: 6, GPU: gpu(t, "h100"), Peak: 1e15, Utilisation: 0.4, Seconds: Week}
	for want, spoil := range map[string]func(*SizeInput){
		"must be positive": func(i *SizeInput) { i.Params = -1 },
		"are no model":     func(i *SizeInput) { i.Params = 1e30 },
		"utilisation":      func(i *SizeInput) { i.Utilisation = 1.5 },
		"either":           func(i *SizeInput) { i.GPUs = 4 },
		"has no fp8":       func(i *SizeInput) { i.Peak, i.GPU, i.Mix = 0, gpu(t, "a100"), []Share{{"fp8", 1}} },
		"precision":        func(i *SizeInput) { i.Peak, i.Mix = 0, []Share{{"fp12", 1}} },
		"negative":         func(i *SizeInput) { i.PerKWh = -1 },
	} {
		in := good
		spoil(&in)
		if _, err := in.Solve(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ParseMix("bf16:x"); err == nil {
		t.Error("a weight that is no number is taken")
	}
}

func builtin(t *testing.T, name string) *model.Config {
	t.Helper()
	m, err := model.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func layout(tp, pp, dp int) Layout {
	return Layout{TP: tp, PP: pp, DP: dp, CP: 1, EP: 1, VPP: 1, Recompute: RecomputeNone, Schedule: OneFOneB, Micro: 1, Microbatches: 8, Seq: 2048}
}

// Activations per layer of GPT-3 as Korthikanti et al. have them (HANDBOOK.md 10.3).
func TestLayerActivations(t *testing.T) {
	m := builtin(t, "gpt3-175b")
	for _, c := range []struct {
		tp        int
		sequence  bool
		recompute string
		gb        float64
	}{{1, false, RecomputeNone, 2.87}, {8, false, RecomputeNone, 0.579}, {8, true, RecomputeNone, 0.359}, {8, true, RecomputeSelective, 0.107}, {8, false, RecomputeFull, 0.050}} {
		l := layout(c.tp, 1, 1)
		l.Sequence, l.Recompute = c.sequence, c.recompute
		if got := l.LayerActivations(m) / 1e9; math.Abs(got-c.gb) > 0.006 {
			t.Errorf("tp %d, sequence %v, recompute %s: %.3f GB, published %.3f", c.tp, c.sequence, c.recompute, got, c.gb)
		}
	}
}

// ZeRO's figures: 7.5 billion parameters on 64 GPUs (HANDBOOK.md 10.4).
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
		if got, want := float64(r[0].Weights+r[0].Gradients+r[0].Optimizer), ZeROBytes(float64(m.Params()), 64, stage); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("stage %d: %g bytes, want %g", stage, got, want)
		}
	}
}

// The seed's 35, 300 and 400 GPUs.
func TestFits(t *testing.T) {
	if a, b, c := Fits(175e9, StateBytes, 80*unit.GB, 1), Fits(1500e9, StateBytes, 80*unit.GB, 1), Fits(1500e9, StateBytes, 80*unit.GB, 0.75); a != 35 || b != 300 || c != 400 {
		t.Errorf("%d, %d and %d GPUs, want 35, 300 and 400", a, b, c)
	}
}

// Every sharding takes less, stages sum up to the whole model, and interleaving
// costs activations.
func TestMemoryProperties(t *testing.T) {
	m := builtin(t, "llama-3.1-70b")
	base := layout(8, 4, 8)
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
		"zero 1": func(l *Layout) { l.ZeRO = 1 }, "zero 3": func(l *Layout) { l.ZeRO = 3 }, "cp 2": func(l *Layout) { l.CP = 2 },
		"sequence": func(l *Layout) { l.Sequence = true }, "full": func(l *Layout) { l.Recompute = RecomputeFull }, "selective": func(l *Layout) { l.Recompute = RecomputeSelective },
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
		"tp 7 does not divide the 64": func(l *Layout) { l.TP = 7 }, "pp 3 times": func(l *Layout) { l.PP = 3 }, "zero stage 4": func(l *Layout) { l.ZeRO = 4 },
		"ep 2 does not divide the 0 experts": func(l *Layout) { l.EP = 2 }, "schedule": func(l *Layout) { l.Schedule = "x" }, "recompute": func(l *Layout) { l.Recompute = "x" },
		"cp 3 parts": func(l *Layout) { l.CP = 3 }, "dp must lie": func(l *Layout) { l.DP = 0 }, "vpp 2 needs": func(l *Layout) { l.VPP = 2 },
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
	m, err := model.Parse("moe", []byte(`{"model_type":"mixtral","hidden_size":4096,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
		"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,"num_local_experts":8,"num_experts_per_tok":2}`))
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
