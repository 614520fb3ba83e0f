package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Table 1 of Narayanan et al. (SC'21): ten GPT models of up to a trillion parameters, vocabulary 51,200 and
// sequences of 2,048, with the parameters as printed (billions) and by equation 2.
func TestMegatronTable(t *testing.T) {
	for _, c := range []struct {
		heads, hidden, layers int64
		printed               float64
	}{{24, 2304, 24, 1.7}, {32, 3072, 30, 3.6}, {32, 4096, 36, 7.5}, {48, 6144, 40, 18.4},
		{64, 8192, 48, 39.1},
		{80, 10240, 60, 76.1}, {96, 12288, 80, 145.6}, {128, 16384, 96, 310.1}, {128, 20480, 105, 529.6},
		{160, 25600, 128, 1008.0}} {
		m, err := Parse("gpt", fmt.Appendf(nil, `{"model_type": "gpt2", "n_embd": %d, "n_layer": %d,
			"n_head": %d,
			"n_positions": 2048, "vocab_size": 51200}`, c.hidden, c.layers, c.heads))
		if err != nil {
			t.Fatal(err)
		}
		got := float64(m.Params())
		if math.Abs(got/1e9-c.printed) > 0.05+0.001*c.printed {
			t.Errorf("%d layers of %d: %.2f billion parameters, printed %.1f", c.layers, c.hidden,
				got/1e9, c.printed)
		}
		l, h := float64(c.layers), float64(c.hidden)
		if want := 12 * l * h * h * (1 + 13/(12*h) + (51200+2048)/(12*l*h)); math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%d layers of %d: %.6g parameters, equation 2 gives %.6g", c.layers, c.hidden, got, want)
		}
	}
}

// someLlama draws a configuration of a dense or sparse model, with its own width of heads.
func someLlama(t *rapid.T) *Config {
	kv := rapid.Int64Range(1, 8).Draw(t, "kv heads")
	heads := kv * rapid.Int64Range(1, 8).Draw(t, "groups")
	experts, top := int64(0), int64(0)
	if rapid.Bool().Draw(t, "sparse") {
		experts = rapid.Int64Range(1, 16).Draw(t, "experts")
		top = rapid.Int64Range(1, experts).Draw(t, "top k")
	}
	m, err := Parse("some", fmt.Appendf(nil, `{"model_type": "mixtral", "hidden_size": %d,
		"num_hidden_layers": %d,
		"num_attention_heads": %d, "num_key_value_heads": %d, "intermediate_size": %d, "vocab_size": %d,
		"num_local_experts": %d, "num_experts_per_tok": %d}`, heads*rapid.Int64Range(1, 128).Draw(t, "head"),
		rapid.Int64Range(1, 100).Draw(t, "layers"), heads, kv, rapid.Int64Range(1, 20_000).Draw(t, "ffn"),
		rapid.Int64Range(1, 200_000).Draw(t, "vocabulary"), experts, top))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Two operations per weight that a token uses (Kaplan et al. 2020, section 2.1): without attention scores, a
// layer's operations are twice its weights, without the norms, the router and the unused experts. The parts of a
// step are its layers and its head, three times, and work is linear in tokens.
func TestWorkFollowsWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := someLlama(t)
		met := m.LayerParams() - 2*m.Hidden
		if m.Experts > 0 {
			met -= m.Hidden*m.Experts + (m.Experts-m.TopK)*3*m.Hidden*m.FFN
		}
		if got := m.LayerFLOPs(1, 0); got != 2*float64(met) {
			t.Fatalf("%+v: %g operations per token, %d weights are met", m, got, met)
		}
		seq := rapid.Int64Range(1, 100_000).Draw(t, "sequence")
		if got := m.LayerFLOPs(1, seq) - m.LayerFLOPs(1, 0); got != float64(4*seq*m.Hidden) {
			t.Fatalf("%g operations of attention over %d tokens of %d", got, seq, m.Hidden)
		}
		if a := m.AttentionShare(seq); !(a > 0 && a < 1) {
			t.Fatalf("attention is %g of a layer", a)
		}
		tokens := rapid.Int64Range(1, 1<<20).Draw(t, "tokens")
		whole := 3 * (float64(m.Layers)*m.LayerFLOPs(tokens, seq) + m.HeadFLOPs(tokens, seq))
		if got := m.StepFLOPs(tokens, seq); math.Abs(got/whole-1) > 1e-12 ||
			math.Abs(m.StepFLOPs(2*tokens, seq)/got-2) > 1e-12 {
			t.Fatalf("a step is %g, its parts %g", got, whole)
		}
		if m.Params() != m.Layers*m.LayerParams()+m.EmbeddingParams() || m.Params() <= 0 ||
			m.Params() > MaxParams {
			t.Fatalf("%d parameters", m.Params())
		}
	})
}

// Impossible sizes are rejected by their key, alone or in combination.
func TestRefusedSizes(t *testing.T) {
	with := func(more string) string {
		return `{"model_type": "mixtral", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
			"intermediate_size": 128, "vocab_size": 100` + more + `}`
	}
	if _, err := Parse("x", []byte(with(""))); err != nil {
		t.Fatal(err)
	}
	for more, want := range map[string]string{
		`, "num_key_value_heads": 3`:                         "not a multiple of num_key_value_heads 3",
		`, "num_local_experts": 8`:                           "num_local_experts: 8 and num_experts_per_tok",
		`, "num_local_experts": 2, "num_experts_per_tok": 3`: "do not go together",
		`, "num_experts_per_tok": 2`:                         "do not go together",
		`, "max_position_embeddings": -1`:                    "is out of range 0–",
		`, "head_dim": 70000`:                                "is out of range 0–65536",
		`, "num_hidden_layers": 10001`:                       "num_hidden_layers: 10001 is out of range 1–10000",
		`, "hidden_size": 1048576, "intermediate_size": 16777216, "num_hidden_layers": 10000,
			"num_local_experts": 16384, "num_experts_per_tok": 1`: "together make more than",
		`, "hidden_size": "big"`: "not a model config.json",
	} {
		if _, err := Parse("x", []byte(with(more))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", more, err, want)
		}
	}
	hybrid := strings.Replace(with(`, "hybrid_override_pattern": "M*"`), "mixtral", "nemotron_h", 1)
	if _, err := Parse("x", []byte(hybrid)); err == nil || !strings.Contains(err.Error(), "mamba_num_heads: missing") {
		t.Errorf("a hybrid without its heads: %v", err)
	}
	if _, err := Builtin("llama-2-7B"); err == nil || !strings.Contains(err.Error(), "llama-2-7b") {
		t.Errorf("%v", err)
	}
}

// Published rates are ordered as vendors publish them: half the width has twice the rate, except on Gaudi 3, whose
// matrix engines do fp8 no faster than bf16. GPUs without an arithmetic say so. For pairwise connected GPUs the
// links of a server of eight add up to a GPU's total.
func TestPrecisions(t *testing.T) {
	for _, name := range GPUNames() {
		g, err := FindGPU(strings.ToUpper(name))
		if err != nil {
			t.Fatal(err)
		}
		bf16, err := g.Peak("bf16")
		if err != nil || bf16 < 1e14 || bf16 > 1e16 || g.HBM <= 0 || g.Memory <= 0 || g.NIC <= 0 ||
			g.Source == "" {
			t.Errorf("%+v: %v", g, err)
		}
		tf32, err := g.Peak("tf32")
		if (err != nil || math.Abs(bf16/tf32-2) > 0.01) && name != "gaudi3" {
			t.Errorf("%s: bf16 %g, tf32 %g, %v", name, bf16, tf32, err)
		}
		if g.Pair > 0 && g.NVLink != 7*g.Pair {
			t.Errorf("%s: seven links of %v, %v in all", name, g.Pair, g.NVLink)
		}
		if fp8, err := g.Peak("fp8"); err == nil && math.Abs(fp8/bf16-2) > 0.01 && name != "gaudi3" {
			t.Errorf("%s: fp8 %g, bf16 %g", name, fp8, bf16)
		} else if err != nil && !strings.Contains(err.Error(), name+" has no fp8") {
			t.Error(err)
		}
		if _, err := g.Peak("fp6"); err == nil || !strings.Contains(err.Error(), "fp8") {
			t.Error(err)
		}
	}
}

// Any text is a model whose sizes can be counted, or is refused.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		b, err := data.ReadFile("data/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse("x", []byte(text))
		if err != nil {
			return
		}
		if p := m.Params(); p <= 0 || p > MaxParams || m.StepFLOPs(1, 1) <= 0 {
			t.Errorf("%d parameters, %g operations", p, m.StepFLOPs(1, 1))
		}
	})
}

// A model's parameters are the sum over its layers, for any kinds and order: for each shipped model, and for
// published ones with experts in some layers.
func TestSpansAddUp(t *testing.T) {
	check := func(m *Config) {
		shared, experts := int64(0), int64(0)
		for l := range m.Layers {
			s, e := m.Span(l, l+1)
			shared, experts = shared+s, experts+e
		}
		if s, e := m.Span(0, m.Layers); s != shared || e != experts || s+e != m.Params()-m.EmbeddingParams() ||
			e != m.sparse*m.Experts*m.oneExpert() {
			t.Errorf("%s: %d and %d parameters, %d and %d layer by layer, %d in all", m.Name, s, e, shared, experts,
				m.Params()-m.EmbeddingParams())
		}
	}
	for _, name := range Names() {
		m, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		check(m)
	}
	const moe = `"hidden_size":64,"num_hidden_layers":8,"num_attention_heads":4,"intermediate_size":128,"vocab_size":9,
		"moe_intermediate_size":32,"num_experts_per_tok":2,`
	for text, want := range map[string]string{
		`{"model_type":"qwen3_moe",` + moe + `"num_experts":4,"decoder_sparse_step":2,"mlp_only_layers":[0,3]}`:  "dsdddsds",
		`{"model_type":"glm4_moe",` + moe + `"n_routed_experts":4,"first_k_dense_replace":3,"moe_layer_freq":2}`: "ddddsdsd",
		`{"model_type":"llama4_text",` + moe + `"num_local_experts":4,"interleave_moe_layer_step":4}`:            "dddsddds",
	} {
		m, err := Parse("test", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if check(m); m.kinds != want {
			t.Errorf("%s: %s, want %s", text, m.kinds, want)
		}
	}
}
