package model

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

//go:embed data/*.json
var data embed.FS

// Config is the part of a Hugging Face config.json that decides size and work.
// GPT-2 style names (n_embd, n_layer, n_head, n_positions) are understood.
type Config struct {
	Name     string `json:"-"`
	Type     string `json:"model_type"`
	Hidden   int64  `json:"hidden_size"`
	Layers   int64  `json:"num_hidden_layers"`
	Heads    int64  `json:"num_attention_heads"`
	KVHeads  int64  `json:"num_key_value_heads"`
	FFN      int64  `json:"intermediate_size"`
	Vocab    int64  `json:"vocab_size"`
	Context  int64  `json:"max_position_embeddings"`
	Tied     bool   `json:"tie_word_embeddings"`
	NEmbd    int64  `json:"n_embd"`
	NLayer   int64  `json:"n_layer"`
	NHead    int64  `json:"n_head"`
	NInner   int64  `json:"n_inner"`
	NCtx     int64  `json:"n_positions"`
	HeadDim  int64  `json:"head_dim"`
	Experts  int64  `json:"num_local_experts"`   // 0: no mixture of experts
	TopK     int64  `json:"num_experts_per_tok"` // experts that work on a token
	gated    bool   // SwiGLU: three FFN matrices, no biases, RMSNorm
	absolute bool   // learned position embeddings
}

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

// IsFile reports whether a model is given as a file: a config.json, or any path that begins at / or ., such as that of
// a pipe.
func IsFile(name string) bool {
	return strings.HasSuffix(name, ".json") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".")
}

// Parse reads a config.json.
func Parse(name string, b []byte) (*Config, error) {
	c := &Config{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("%s is not a model config.json: %w", name, err)
	}
	c.Name = name
	first := func(a, b int64) int64 {
		if a != 0 {
			return a
		}
		return b
	}
	c.Hidden, c.Layers, c.Heads = first(c.Hidden, c.NEmbd), first(c.Layers, c.NLayer), first(c.Heads, c.NHead)
	c.Context, c.FFN = first(c.Context, c.NCtx), first(c.FFN, c.NInner)
	switch c.Type {
	case "llama", "mistral", "qwen2", "mixtral":
		c.gated = true
	case "gpt2", "gpt3", "gpt_neox", "opt":
		c.absolute = true
		c.Tied = true
		c.FFN = first(c.FFN, 4*c.Hidden)
	default:
		e := field.Choice("model_type", c.Type, types, "%q is not understood", c.Type)
		e.File = name
		return nil, e
	}
	c.KVHeads = first(c.KVHeads, c.Heads)
	return c, c.check()
}

// types are the values of model_type that are understood.
var types = []string{"llama", "mistral", "mixtral", "qwen2", "gpt2", "gpt3", "gpt_neox", "opt"}

// wrong refuses a value of a config.json.
func (c *Config) wrong(key, format string, args ...any) error {
	e := field.New(key, format, args...)
	e.File = c.Name
	return e
}

func (c *Config) check() error {
	for _, f := range []struct {
		key string
		v   int64
		max int64
	}{{"hidden_size", c.Hidden, 1 << 20}, {"num_hidden_layers", c.Layers, 10_000},
		{"num_attention_heads", c.Heads, 1 << 16},
		{"intermediate_size", c.FFN, 1 << 24}, {"vocab_size", c.Vocab, 1 << 28},
		{"num_key_value_heads", c.KVHeads, 1 << 16}} {
		if f.v < 1 || f.v > f.max {
			return c.wrong(f.key, "%[2]d is out of range 1–%[1]d", f.max, f.v)
		}
	}
	for _, f := range []struct {
		key string
		v   int64
		max int64
	}{{"max_position_embeddings", c.Context, 1 << 30}, {"head_dim", c.HeadDim, 1 << 16}} {
		if f.v < 0 || f.v > f.max { // 0: not said
			return c.wrong(f.key, "%[2]d is out of range 0–%[1]d", f.max, f.v)
		}
	}
	if c.HeadDim == 0 {
		if c.Hidden%c.Heads != 0 {
			return c.wrong("hidden_size", "%d is not a multiple of num_attention_heads %d", c.Hidden, c.Heads)
		}
		c.HeadDim = c.Hidden / c.Heads
	}
	if c.Experts < 0 || c.Experts > 1<<14 || c.TopK < 0 || c.TopK > max(c.Experts, 0) ||
		(c.Experts > 0) != (c.TopK > 0) {
		return c.wrong("num_local_experts", "%d and num_experts_per_tok %d do not go together",
			c.Experts, c.TopK)
	}
	if c.Experts > 0 && !c.gated {
		return c.wrong("num_local_experts", "experts are understood for model_type mixtral only")
	}
	if c.Heads%c.KVHeads != 0 {
		return c.wrong("num_attention_heads", "%d is not a multiple of num_key_value_heads %d",
			c.Heads, c.KVHeads)
	}
	return c.checkSum()
}

// MaxParams bounds a model: 16 bytes for each of 10^16 parameters, in all their copies,
// stay far from what 63 bits hold, so that everything behind this may count in int64.
const MaxParams = 10_000_000_000_000_000

// checkSum refuses sizes that are each possible and together overflow.
func (c *Config) checkSum() error {
	h, inner := unit.Count(c.Hidden), unit.Count(c.Heads).Times(c.HeadDim)
	layer := h.Times(int64(inner)).Times(4). // keys and values have no more heads than queries
							Plus(h.Times(c.FFN).Times(3 * max(1, c.Experts))).
							Plus(h.Times(c.Experts + 8)).Plus(inner.Times(4)).Plus(unit.Count(c.FFN))
	all := layer.Times(c.Layers).Plus(h.Times(c.Vocab).Times(2)).Plus(h.Times(c.Context + 4))
	if all > MaxParams {
		return c.wrong("", "its sizes together make more than the %d parameters that are taken",
			int64(MaxParams))
	}
	return nil
}

// Gated reports whether the feed-forward part is SwiGLU, as in Llama.
func (c *Config) Gated() bool { return c.gated }

// ExpertParams returns the parameters of one layer's experts, 0 without them.
func (c *Config) ExpertParams() int64 { return c.Experts * 3 * c.Hidden * c.FFN }

// LayerParams returns the parameters of one transformer layer.
func (c *Config) LayerParams() int64 {
	q := c.Hidden * c.Heads * c.HeadDim
	kv := 2 * c.Hidden * c.KVHeads * c.HeadDim
	if c.gated { // Llama: no biases, two RMSNorms
		ffn := 3 * c.Hidden * c.FFN
		if c.Experts > 0 {
			ffn = c.ExpertParams() + c.Hidden*c.Experts // and the router
		}
		return 2*q + kv + ffn + 2*c.Hidden
	}
	biases := c.Heads*c.HeadDim + 2*c.KVHeads*c.HeadDim + c.Hidden + c.FFN + c.Hidden
	return 2*q + kv + 2*c.Hidden*c.FFN + biases + 4*c.Hidden
}

// EmbeddingParams returns the parameters outside the layers: token and position
// embeddings, the output projection unless tied, the final norm.
func (c *Config) EmbeddingParams() int64 {
	n := c.Vocab*c.Hidden + c.Hidden
	if !c.Tied {
		n += c.Vocab * c.Hidden
	}
	if c.absolute {
		n += c.Context*c.Hidden + c.Hidden
	}
	return n
}

// Params returns all parameters.
func (c *Config) Params() int64 { return c.Layers*c.LayerParams() + c.EmbeddingParams() }

// ActiveParams returns the parameters that a token meets: of the experts only those that it is routed to. Without
// experts they are all.
func (c *Config) ActiveParams() int64 {
	return c.Params() - c.Layers*(c.Experts-c.TopK)*3*c.Hidden*c.FFN
}

// LayerFLOPs returns the floating point operations of one layer's forward pass
// over tokens tokens in sequences of length seq: two per matrix parameter and
// token, and the attention scores and values, 4·seq·hidden per token (Narayanan
// et al., SC'21, appendix: causal masking is not discounted).
func (c *Config) LayerFLOPs(tokens, seq int64) float64 {
	matmul := 2*c.Hidden*c.Heads*c.HeadDim + 2*c.Hidden*c.KVHeads*c.HeadDim
	if c.gated {
		matmul += 3 * c.Hidden * c.FFN * max(1, c.TopK)
	} else {
		matmul += 2 * c.Hidden * c.FFN
	}
	return float64(tokens) * (2*float64(matmul) + 4*float64(seq)*float64(c.Heads*c.HeadDim))
}

// AttentionShare returns which part of LayerFLOPs is the attention block.
func (c *Config) AttentionShare(seq int64) float64 {
	proj := 2*c.Hidden*c.Heads*c.HeadDim + 2*c.Hidden*c.KVHeads*c.HeadDim
	return (2*float64(proj) + 4*float64(seq)*float64(c.Heads*c.HeadDim)) / c.LayerFLOPs(1, seq)
}

// HeadFLOPs returns the forward operations of the output projection.
func (c *Config) HeadFLOPs(tokens int64) float64 {
	return 2 * float64(tokens) * float64(c.Hidden) * float64(c.Vocab)
}

// StepFLOPs returns forward and backward (twice the forward) of a batch.
func (c *Config) StepFLOPs(tokens, seq int64) float64 {
	return 3 * (float64(c.Layers)*c.LayerFLOPs(tokens, seq) + c.HeadFLOPs(tokens))
}
