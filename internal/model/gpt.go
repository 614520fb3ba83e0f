package model

import "strings"

// plain is a decoder of two FFN matrices with biases and LayerNorms, as GPT-2.
func plain(c *Config) {
	c.biasQKV, c.biasOut, c.biasFFN, c.biased = true, true, true, true
	if c.FFN == 0 {
		c.FFN = 4 * c.Hidden
	}
}

// gpt2 has learned positions and a tied embedding, as GPT-3 and OPT.
func gpt2(_ *keys, c *Config) {
	plain(c)
	c.absolute, c.Tied = true, true
}

// neoX has rotary positions, and untied embeddings by default.
func neoX(_ *keys, c *Config) { plain(c) }

// bloom has ALiBi and a tied embedding.
func bloom(k *keys, c *Config) {
	plain(c)
	c.Tied = true
}

// mpt has optional ALiBi, no biases by default, and a tied embedding; its keys are those of MosaicML.
func mpt(k *keys, c *Config) {
	var attention struct {
		KVHeads int64 `json:"kv_n_heads"`
		ALiBi   bool  `json:"alibi"`
	}
	k.read(&attention, "attn_config")
	var ratio float64 = 4
	k.read(&ratio, "expansion_ratio")
	if c.FFN == 0 && ratio > 0 && ratio < 1000 {
		c.FFN = int64(ratio * float64(c.Hidden))
	}
	if attention.KVHeads > 0 {
		c.KVHeads = attention.KVHeads
	}
	if !k.is(true, "no_bias") {
		plain(c)
	}
	c.absolute, c.Tied = !attention.ALiBi && k.is(true, "learned_pos_emb"), true
}

// falcon has one key for all heads, or several with the new architecture, and attention parallel to the feed-forward
// part.
func falcon(k *keys, c *Config) {
	biases := k.is(false, "bias")
	c.biasQKV, c.biasOut, c.biasFFN, c.biased = biases, biases, biases, true
	c.Tied = k.is(true, "tie_word_embeddings")
	if c.FFN == 0 {
		c.FFN = 4 * c.Hidden
	}
	switch {
	case k.is(false, "new_decoder_architecture"):
	case k.is(true, "multi_query"):
		c.KVHeads = 1
	default:
		c.KVHeads = c.Heads
	}
	if k.is(true, "parallel_attn") && !k.is(false, "new_decoder_architecture") {
		c.norms = 1
	}
}

// nemotron is Nemotron-4: squared ReLU, no biases but the norms' (arXiv 2402.16819).
func nemotron(_ *keys, c *Config) { c.biased = true }

// blocks returns the letters of a list of a hybrid's parts.
func (k *keys) blocks(name string) string {
	letters := map[string]byte{"mamba": mambaPart, "attention": attentionPart, "mlp": densePart, "moe": moes}
	var list []string
	k.read(&list, name)
	var b strings.Builder
	for _, word := range list {
		letter, ok := letters[word]
		if !ok {
			k.fail("%s: unsupported %q; accepted: mamba, attention, mlp, moe", name, word)
			return ""
		}
		b.WriteByte(letter)
	}
	return b.String()
}

// nemotronH has layers of one part each: Mamba-2 (M), attention (*), feed-forward (-) or experts (E). Experts may
// work on a narrower copy of a token (Nemotron-H, arXiv 2504.03624; Nemotron 3, 2512.20848).
func nemotronH(k *keys, c *Config) {
	c.norms, c.parts = 1, int64(max(1, len(k.text("mtp_hybrid_override_pattern"))))
	c.mamba = mamba{heads: k.num(0, "mamba_num_heads"), headDim: k.num(0, "mamba_head_dim"),
		state: k.num(0, "ssm_state_size"), groups: k.num(0, "n_groups"), kernel: k.num(4, "conv_kernel")}
	c.attention, c.dense, c.sparse, c.mambas = 0, 0, 0, 0
	if c.kinds = k.text("hybrid_override_pattern"); c.kinds == "" {
		c.kinds = k.blocks("layers_block_type")
	}
	for _, part := range c.kinds {
		switch part {
		case mambaPart:
			c.mambas++
		case attentionPart:
			c.attention++
		case densePart:
			c.dense++
		case moes:
			c.sparse++
		default:
			k.fail("hybrid_override_pattern: unsupported %q; accepted: M (Mamba-2), * (attention), - (feed-forward), E (experts)", part)
		}
	}
	if n := c.attention + c.dense + c.sparse + c.mambas; c.Layers == 0 {
		c.Layers = n
	} else if n != c.Layers {
		k.fail("hybrid_override_pattern: describes %d layers, num_hidden_layers is %d", n, c.Layers)
	}
	for _, key := range []string{"mamba_num_heads", "mamba_head_dim", "ssm_state_size"} {
		if c.mambas > 0 && k.num(0, key) <= 0 {
			k.fail("%s: missing, expected a positive number: the model has Mamba-2 layers", key)
		}
	}
	if c.sparse > 0 {
		c.Experts, c.TopK = k.num(0, "n_routed_experts"), k.num(0, "num_experts_per_tok")
		c.expert = expert{ffn: k.num(0, "moe_intermediate_size"), input: k.num(0, "moe_latent_size"), extra: c.Experts,
			shared: k.num(0, "moe_shared_expert_intermediate_size") * k.num(1, "n_shared_experts")}
	}
}
