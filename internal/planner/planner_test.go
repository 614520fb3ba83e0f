package planner

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/model"
)

// The source's three tables come out to the unit.
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

// GPUs from a time and the time from these GPUs agree. A mix is slower than its fast precision and faster than its
// slow one.
func TestSizeBothWays(t *testing.T) {
	h := gpu(t, "h100")
	mix, err := ParseMix("bf16:7,tf32:3")
	if err != nil {
		t.Fatal(err)
	}
	in := SizeInput{Params: 405e9, Tokens: 15.6e12, PerToken: RuleStored, GPU: h, Mix: mix, Utilisation: 0.4,
		Seconds: 54 * 24 * 3600, PerKWh: 0.1}
	a, err := in.Solve()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(a.FLOPs-3.8e25) > 0.02e25 || a.Peak <= h.TF32 || a.Peak >= h.BF16 || a.Cost <= 0 ||
		a.CostOf != "energy" {
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
	// Megatron's days (docs/references.md, megatron): 175B, 300B tokens, 1,024 GPUs at 140 TFLOP/s: 34 days;
	// 1T, 450B, 3,072 at 163: 84.
	for _, c := range []struct{ p, tok, x, n, days float64 }{{175e9, 300e9, 140e12, 1024, 33.9},
		{1008e9, 450e9, 163e12, 3072, 83.9}} {
		s, err := SizeInput{Params: c.p, Tokens: c.tok, PerToken: RuleRecomputed, GPU: gpu(t, "a100"),
			Peak: c.x, Utilisation: 1, GPUs: int64(c.n)}.Solve()
		if err != nil || math.Abs(s.Seconds/86400-c.days) > 0.1 {
			t.Errorf("%v: %g days, published %g", err, s.Seconds/86400, c.days)
		}
	}
}

func TestSizeRefuses(t *testing.T) {
	good := SizeInput{Params: 1e9, Tokens: 1e9, PerToken: 6, GPU: gpu(t, "h100"), Peak: 1e15,
		Utilisation: 0.4, Seconds: Week}
	for want, spoil := range map[string]func(*SizeInput){
		"must be positive": func(i *SizeInput) { i.Params = -1 },
		"are not model":    func(i *SizeInput) { i.Params = 1e30 },
		"utilisation":      func(i *SizeInput) { i.Utilisation = 1.5 },
		"either":           func(i *SizeInput) { i.GPUs = 4 },
		"has no fp8": func(i *SizeInput) {
			i.Peak, i.GPU, i.Mix = 0, gpu(t, "a100"),
				[]Share{{"fp8", 1}}
		},
		"precision": func(i *SizeInput) { i.Peak, i.Mix = 0, []Share{{"fp12", 1}} },
		"negative":  func(i *SizeInput) { i.PerKWh = -1 },
	} {
		in := good
		spoil(&in)
		if _, err := in.Solve(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ParseMix("bf16:x"); err == nil {
		t.Error("a weight that is not a number is taken")
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

// For a model with experts the parameters used by a token count: Mixtral's trillion tokens take 64 H100 five weeks.
func TestSizeOfExperts(t *testing.T) {
	m, err := model.Builtin("mixtral-8x7b")
	if err != nil {
		t.Fatal(err)
	}
	in := SizeInput{Params: float64(m.Params()), Active: float64(m.ActiveParams()), Tokens: 1e12, PerToken: RuleStored,
		Peak: 989e12, Utilisation: 0.4, GPUs: 64}
	s, err := in.Solve()
	if err != nil || s.Seconds/86400 < 35 || s.Seconds/86400 > 35.7 || !strings.Contains(s.Rule, "active") {
		t.Errorf("%+v, %v", s, err)
	}
	in.Active = 2 * in.Params
	if _, err := in.Solve(); err == nil {
		t.Error("more parameters are active than there are")
	}
}
