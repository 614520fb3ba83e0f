package model

import (
	"embed"

	"io/fs"
	"sort"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

//go:embed data/*.json
var data embed.FS

// Config is a language model's sizes, from which the costs of training and inference follow. Layers of several
// kinds, as in some models, count as their mean.
type Config struct {
	Name string
	Type string // model_type of its config.json

	Hidden, Layers, Heads, KVHeads, HeadDim int64
	FFN, Vocab, Context                     int64
	Tied                                    bool // the output projection is the embedding

	Experts, TopK int64 // experts of a layer that has any, and how many work on a token; 0: none

	gated    bool // SwiGLU: three FFN matrices
	clamped  bool // whether the input of the activation is clamped
	absolute bool // learned position embeddings
	norms    int64
	biased   bool // norms have biases besides weights

	biasQKV, biasOut, biasFFN bool
	perHead                   int64 // further parameters of each attention block: norms of heads, sinks

	latent latent // attention by latent keys and values; zero: by grouped heads
	window window
	expert expert
	mamba  mamba

	ahead, parts int64 // number of further predicted tokens, and of layers for each

	// How many layers have each part; a layer of a hybrid has one of them only.
	attention, dense, sparse, mambas int64

	kinds string // one letter for each layer, see layerKind; "": all are equal
}

// latent is multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1).
type latent struct {
	query int64 // rank of queries; 0: full
	keys  int64 // rank of keys and values
	nope  int64 // part of a head's width without rotary positions
	rope  int64
	value int64
}

// window is attention to the last tokens only, in some layers.
type window struct{ tokens, layers int64 }

// expert is the sizes of experts, which dense layers do not have.
type expert struct {
	ffn    int64 // width of one
	shared int64 // total width of the experts that work on every token
	input  int64 // input width: Hidden, or less (LatentMoE)
	extra  int64 // further parameters of a layer: the router's biases, experts' biases, a shared expert's gate
}

// mamba is a Mamba-2 block (Dao and Gu 2024, arXiv 2405.21060).
type mamba struct{ heads, headDim, state, groups, kernel int64 }

// Names lists the models that ship with Railyard.
func Names() []string {
	files, _ := fs.Glob(data, "data/*.json")
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "data/"), ".json")
	}
	sort.Strings(files)
	return files
}

// Builtin returns a shipped model.
func Builtin(name string) (*Config, error) {
	b, err := data.ReadFile("data/" + name + ".json")
	if err != nil {
		return nil, field.Choice("", name, Names(),
			"unknown model %q; give the path of a config.json, or a shipped one", name)
	}
	return Parse(name, b)
}

// IsFile reports whether a model name is a file: a config.json, or any path that begins with / or ., such as a
// pipe's.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".")
}

// wrong refuses a value of a config.json.
func (c *Config) wrong(key, format string, args ...any) error {
	e := field.New(key, format, args...)
	e.File = c.Name
	return e
}

// mostLayers bounds the layers of a model.
const mostLayers = 10_000

// size is a value of a config.json and its limits.
type size struct {
	key      string
	v        int64
	min, max int64
}

func (c *Config) check() error {
	for _, f := range []size{{"hidden_size", c.Hidden, 1, 1 << 20}, {"num_hidden_layers", c.Layers, 1, mostLayers},
		{"num_attention_heads", c.Heads, 1, 1 << 16}, {"intermediate_size", c.FFN, 1, 1 << 24},
		{"vocab_size", c.Vocab, 1, 1 << 28}, {"num_key_value_heads", c.KVHeads, 1, 1 << 16},
		{"max_position_embeddings", c.Context, 0, 1 << 30}, {"head_dim", c.HeadDim, 0, 1 << 16}, // 0: unset
		{"moe_intermediate_size", c.expert.ffn, 0, 1 << 24},
		{"moe_shared_expert_intermediate_size", c.expert.shared, 0, 1 << 24},
		{"moe_latent_size", c.expert.input, 0, 1 << 20},
		{"q_lora_rank", c.latent.query, 0, 1 << 20}, {"kv_lora_rank", c.latent.keys, 0, 1 << 20},
		{"qk_nope_head_dim", c.latent.nope, 0, 1 << 16}, {"qk_rope_head_dim", c.latent.rope, 0, 1 << 16},
		{"v_head_dim", c.latent.value, 0, 1 << 16}, {"sliding_window", c.window.tokens, 0, 1 << 30},
		{"mamba_num_heads", c.mamba.heads, 0, 1 << 16}, {"mamba_head_dim", c.mamba.headDim, 0, 1 << 16},
		{"ssm_state_size", c.mamba.state, 0, 1 << 16}, {"n_groups", c.mamba.groups, 0, 1 << 16},
		{"conv_kernel", c.mamba.kernel, 0, 1 << 16}, {"num_nextn_predict_layers", c.ahead, 0, 64},
	} {
		if f.v < f.min || f.v > f.max {
			return c.wrong(f.key, "%d is out of range %d–%d", f.v, f.min, f.max)
		}
	}
	if c.HeadDim == 0 {
		if c.Hidden%c.Heads != 0 {
			return c.wrong("hidden_size", "%d is not a multiple of num_attention_heads %d", c.Hidden, c.Heads)
		}
		c.HeadDim = c.Hidden / c.Heads
	}
	if c.Heads%c.KVHeads != 0 {
		return c.wrong("num_attention_heads", "%d is not a multiple of num_key_value_heads %d",
			c.Heads, c.KVHeads)
	}
	if c.Experts < 0 || c.Experts > 1<<14 || c.TopK < 0 || c.TopK > max(c.Experts, 0) ||
		(c.Experts > 0) != (c.TopK > 0) {
		return c.wrong("num_local_experts", "%d and num_experts_per_tok %d do not go together",
			c.Experts, c.TopK)
	}
	return c.checkSum()
}

// MaxParams is the maximum size of a model. 16 bytes for each of 10^16 parameters, in all their copies, are far
// below 63 bits, so later code may count in int64.
const MaxParams = 10_000_000_000_000_000

// checkSum refuses sizes that are valid alone and overflow together.
func (c *Config) checkSum() error {
	h := unit.Count(c.Hidden)
	inner := unit.Count(c.Heads).Times(max(c.HeadDim, c.latent.nope+c.latent.rope, c.latent.value))
	layer := h.Times(int64(inner)).Times(4). // keys and values have no more heads than queries
							Plus(h.Times(c.FFN).Times(3)).Plus(h.Times(c.expert.ffn).Times(3 * max(1, c.Experts))).
							Plus(h.Times(c.expert.shared).Times(3)).
							Plus(h.Times(c.Experts + 8)).Plus(inner.Times(4)).Plus(unit.Count(c.FFN)).
							Plus(h.Times(c.latent.query + c.latent.keys + c.latent.rope)).
							Plus(inner.Times(c.latent.query + 2*c.latent.keys)).
							Plus(unit.Count(c.Experts).Times(3*c.expert.ffn + c.Hidden)).
							Plus(h.Times(c.mamba.heads).Times(4*c.mamba.headDim + 1)).
							Plus(h.Times(c.mamba.groups).Times(2 * c.mamba.state * (c.mamba.kernel + 2)))
	all := layer.Times(c.Layers).Plus(h.Times(c.Vocab).Times(2)).Plus(h.Times(c.Context + 4))
	if all > MaxParams {
		return c.wrong("", "its sizes together make more than the %d parameters that are taken",
			int64(MaxParams))
	}
	return nil
}
