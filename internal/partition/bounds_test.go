package partition

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"railyard/internal/model"

	"pgregory.net/rapid"
)

// edge draws a number about a bound, or far below it.
func edge(t *rapid.T, most int64, name string) int64 {
	size := bits.Len64(uint64(most)) - 1 + rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 1}).Draw(t,
		name+" is beyond")
	if rapid.Bool().Draw(t, name+" is small") {
		size /= 3
	}
	return rapid.Int64Range(1<<size>>1|1, 1<<size).Draw(t, name)
}

// Whatever sizes a config.json has, and however it is spread: it is refused, or nothing
// of it is negative, no part exceeds the whole, and parts add up.
func TestNoFigureIsNegative(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		tp, pp := 1<<rapid.IntRange(0, 6).Draw(t, "tp"), 1<<rapid.IntRange(0, 6).Draw(t, "pp")
		heads := edge(t, 1<<10, "heads") * int64(tp)
		kind := rapid.SampledFrom([]string{"llama", "mixtral", "gpt2"}).Draw(t, "type")
		experts, top := int64(0), 0
		if kind == "mixtral" {
			experts, top = edge(t, 1<<14, "experts"), 1
		}
		text, _ := json.Marshal(map[string]any{"model_type": kind,
			"hidden_size":       edge(t, 1<<20, "hidden"),
			"num_hidden_layers": edge(t, 1<<10, "layers") * int64(pp), "num_attention_heads": heads,
			"num_key_value_heads": heads,
			"head_dim":            edge(t, 1<<16, "head_dim"), "intermediate_size": edge(t, 1<<24, "ffn"),
			"vocab_size": edge(t, 1<<28, "vocab"), "max_position_embeddings": edge(t, 1<<30, "context"),
			"num_local_experts": experts, "num_experts_per_tok": top,
			"tie_word_embeddings": rapid.Bool().Draw(t, "tied")})
		m, err := model.Parse("x", text)
		if err != nil {
			return
		}
		if p := m.Params(); p <= 0 || p > model.MaxParams || m.LayerParams() <= 0 || m.ExpertParams() < 0 ||
			m.EmbeddingParams() < 0 || m.Layers*m.LayerParams() > p {
			t.Fatalf("%s: %d parameters, %d of a layer, %d of its experts, %d of the embedding",
				text, p, m.LayerParams(), m.ExpertParams(), m.EmbeddingParams())
		}
		if s := m.AttentionShare(1 << 24); !(s >= 0 && s <= 1) || !(m.StepFLOPs(1<<40, 1<<24) > 0) {
			t.Fatalf("%s: attention is %g of the work", text, s)
		}
		l := Layout{TP: tp, PP: pp, DP: 1 << rapid.IntRange(0, 10).Draw(t, "dp"), CP: 1, EP: 1, VPP: 1,
			ZeRO: rapid.IntRange(0, 3).Draw(t, "zero"), Recompute: RecomputeSelective, Schedule: OneFOneB,
			Micro: edge(t, 1<<10, "micro"), Microbatches: rapid.IntRange(1, 1<<20).Draw(t, "microbatches"),
			Seq: edge(t, 1<<20, "seq")}
		ranks, err := l.Memory(m)
		if err != nil {
			return
		}
		taken++
		for _, r := range ranks {
			for _, b := range []int64{int64(r.Weights), int64(r.Gradients), int64(r.Optimizer),
				int64(r.Activations), int64(r.Buffers), r.Params, r.Layers} {
				if b < 0 || b > int64(r.Total())+r.Params+r.Layers {
					t.Fatalf("%s %v: %+v", text, l, r)
				}
			}
			if r.Total() < 0 || r.Params > m.Params() {
				t.Fatalf("%s %v: %+v", text, l, r)
			}
		}
	})
	if taken < 10 {
		t.Error("no layout was taken: the property was not tried")
	}
}

// Sizes that are possible one by one and overflow together, and those that are none.
func TestSizesThatOverflow(t *testing.T) {
	base := map[string]any{"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
		"num_attention_heads": 32, "intermediate_size": 14336, "vocab_size": 32000,
		"num_local_experts": 8, "num_experts_per_tok": 2}
	for change, want := range map[string]string{
		`{"hidden_size":1048576,"intermediate_size":16777216,` +
			`"num_local_experts":16384,"num_hidden_layers":10000}`: "its " +
			"sizes together make more than the 10000000000000000 parameters",
		`{"head_dim":9223372036854775807}`:             "head_dim: 9223372036854775807 is out of range 0–65536",
		`{"head_dim":-1}`:                              "is out of range",
		`{"max_position_embeddings":-5}`:               "is out of range",
		`{"max_position_embeddings":9000000000000000}`: "is out of range",
		`{"hidden_size":9223372036854775808}`:          "not a model config.json",
		`{"hidden_size":1e400}`:                        "not a model config.json",
		`{"num_hidden_layers":1.5}`:                    "not a model config.json",
		`{"num_experts_per_tok":9}`:                    "do not go together",
		`{"vocab_size":0}`:                             "is out of range 1–",
		`{"num_key_value_heads":-8}`:                   "is out of range",
	} {
		merged := map[string]json.RawMessage{}
		a, _ := json.Marshal(base)
		json.Unmarshal(a, &merged)
		json.Unmarshal([]byte(change), &merged)
		var b strings.Builder
		for k, v := range merged {
			fmt.Fprintf(&b, ",%q:%s", k, v)
		}
		if _, err := model.Parse("x", []byte("{"+b.String()[1:]+"}")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}
