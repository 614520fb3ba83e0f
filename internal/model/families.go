package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"railyard/internal/field"
)

// family reads the additional keys of a family of models.
type family func(k *keys, c *Config)

// families are the supported values of model_type.
var families = map[string]family{
	"llama": llama, "mistral": llama, "phi3": llama, "qwen2": qwen2, "qwen3": qwen3, "glm": glm, "glm4": glm,
	"chatglm": chatGLM,
	"mixtral": mixtral, "qwen2_moe": qwen2MoE, "qwen3_moe": qwen3MoE, "glm4_moe": glmMoE, "gpt_oss": gptOSS,
	"grok-1": grok, "llama4_text": llama4,
	"deepseek_v2": deepSeek, "deepseek_v3": deepSeek, "kimi_k2": deepSeek,
	"gpt2": gpt2, "gpt3": gpt2, "opt": gpt2, "gpt_neox": neoX, "mpt": mpt, "bloom": bloom, "falcon": falcon,
	"gemma": gemma, "gemma2": gemma, "gemma3_text": gemma,
	"nemotron": nemotron, "nemotron_h": nemotronH,
}

// keys are the values of a config.json.
type keys struct {
	all map[string]json.RawMessage
	err error
}

// read stores the value of the first key that has one other than null.
func (k *keys) read(into any, names ...string) bool {
	for _, name := range names {
		if raw, ok := k.all[name]; ok && string(raw) != "null" {
			if err := json.Unmarshal(raw, into); err != nil && k.err == nil {
				k.err = fmt.Errorf("%s: %w", name, err)
			}
			return true
		}
	}
	return false
}

// fail records an error.
func (k *keys) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(format, args...)
	}
}

// num, is and text return a value, or the default.
func (k *keys) num(def int64, names ...string) int64 { k.read(&def, names...); return def }

func (k *keys) is(def bool, names ...string) bool { k.read(&def, names...); return def }

func (k *keys) text(names ...string) (s string) { k.read(&s, names...); return s }

// list returns how many elements of a list are one of some values, and its length.
func (k *keys) list(name string, values ...string) (n, all int64) {
	var list []string
	k.read(&list, name)
	for _, v := range list {
		if slices.Contains(values, v) {
			n++
		}
	}
	return n, int64(len(list))
}

// Parse reads a config.json as Hugging Face's transformers have it. For a model with several parts, such as a
// vision model, it takes the language model (text_config).
func Parse(name string, b []byte) (*Config, error) {
	no := func(err error) error { return fmt.Errorf("%s is not a model config.json: %w", name, err) }
	k := &keys{}
	if err := json.Unmarshal(b, &k.all); err != nil {
		return nil, no(err)
	}
	if inner, ok := k.all["text_config"]; ok && k.num(0, "hidden_size") == 0 {
		k.all = nil
		if err := json.Unmarshal(inner, &k.all); err != nil {
			return nil, no(err)
		}
	}
	c := &Config{Name: name, Type: k.text("model_type"), norms: 2,
		Hidden: k.num(0, "hidden_size", "n_embd", "n_embed", "d_model"),
		Layers: k.num(0, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
		Heads:  k.num(0, "num_attention_heads", "n_head", "n_heads"),
		FFN:    k.num(0, "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
		Vocab:  k.num(0, "vocab_size", "padded_vocab_size"), HeadDim: k.num(0, "head_dim", "kv_channels"),
		Context: k.num(0, "max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
		Tied:    k.is(false, "tie_word_embeddings")}
	c.KVHeads = k.num(c.Heads, "num_key_value_heads", "num_kv_heads", "multi_query_group_num")
	c.attention, c.dense = c.Layers, c.Layers
	c.ahead, c.parts = k.num(0, "num_nextn_predict_layers"), 1
	read, ok := families[c.Type]
	if !ok {
		e := field.Choice("model_type", c.Type, slices.Sorted(maps.Keys(families)), "%q is not understood", c.Type)
		e.File = name
		return nil, e
	}
	read(k, c)
	for _, key := range []string{"num_local_experts", "num_experts", "n_routed_experts"} {
		if n := k.num(0, key); n > 0 && c.Experts == 0 {
			return nil, c.wrong(key, "%d experts, of which a model of model_type %s has none", n, c.Type)
		}
	}
	if k.err != nil {
		return nil, no(k.err)
	}
	if c.expert.input == 0 {
		c.expert.input = c.Hidden
	}
	if c.Experts > 0 && c.expert.ffn == 0 {
		c.expert.ffn = c.FFN
	}
	return c, c.check()
}

// experts lists the layers, by number from 0, that have them; nil: all.
func (c *Config) experts(count, topK, ffn, shared int64, has func(layer int64) bool) {
	c.Experts, c.TopK, c.expert.ffn, c.expert.shared = count, topK, ffn, shared
	if count <= 0 {
		return
	}
	if c.dense, c.sparse = 0, c.Layers; has == nil {
		return
	}
	c.sparse = 0
	kinds := make([]byte, max(0, min(c.Layers, mostLayers)))
	for l := range kinds {
		if kinds[l] = denseLayer; has(int64(l)) {
			kinds[l] = sparseLayer
			c.sparse++
		}
	}
	c.dense, c.kinds = c.Layers-c.sparse, string(kinds)
}

// Kinds of layers, one letter each. Layers of a hybrid have one part; the letters are from its pattern.
const (
	denseLayer, sparseLayer                   = 'd', 's' // attention with a feed-forward part, with experts
	mambaPart, attentionPart, densePart, moes = 'M', '*', '-', 'E'
)

// windowed counts the layers with a sliding window, if the model lists each layer's kind. Otherwise it is every Nth
// layer, or all.
func (c *Config) windowed(k *keys, every int64) {
	if c.window.tokens = k.num(0, "sliding_window"); c.window.tokens <= 0 {
		return
	}
	sliding, all := k.list("layer_types", "sliding_attention")
	switch {
	case all > 0 && all != c.Layers:
		k.fail("layer_types: has %d entries for %d layers", all, c.Layers)
	case all > 0:
		c.window.layers = sliding
	case every > 1:
		c.window.layers = c.Layers - c.Layers/every
	default:
		c.window.layers = c.Layers
	}
}
