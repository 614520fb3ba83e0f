package model

import "slices"

// mixtral has experts in all layers (Jiang et al. 2024).
func mixtral(k *keys, c *Config) {
	llama(k, c)
	c.experts(k.num(0, "num_local_experts"), k.num(0, "num_experts_per_tok"), c.FFN, 0, nil)
}

// everyFew marks layers with experts: each decoder_sparse_step-th, except layers in mlp_only_layers.
func everyFew(k *keys) func(layer int64) bool {
	var only []int64
	k.read(&only, "mlp_only_layers")
	step := max(1, k.num(1, "decoder_sparse_step"))
	return func(layer int64) bool { return (layer+1)%step == 0 && !slices.Contains(only, layer) }
}

func qwen2MoE(k *keys, c *Config) {
	qwen2(k, c)
	c.experts(k.num(0, "num_experts"), k.num(0, "num_experts_per_tok"), k.num(0, "moe_intermediate_size"),
		k.num(0, "shared_expert_intermediate_size"), everyFew(k))
	if c.expert.shared > 0 {
		c.expert.extra = c.Hidden // the shared expert's gate
	}
}

func qwen3MoE(k *keys, c *Config) {
	qwen3(k, c)
	c.experts(k.num(0, "num_experts"), k.num(0, "num_experts_per_tok"), k.num(0, "moe_intermediate_size"), 0, everyFew(k))
}

// routed reads the experts of DeepSeek and of models with its key names. The first layers have none, and some
// experts process every token.
func routed(k *keys, c *Config) {
	ffn := k.num(0, "moe_intermediate_size")
	first, every := k.num(0, "first_k_dense_replace"), max(1, k.num(1, "moe_layer_freq"))
	c.experts(k.num(0, "n_routed_experts"), k.num(0, "num_experts_per_tok"), ffn, ffn*k.num(0, "n_shared_experts"),
		func(layer int64) bool { return layer >= first && layer%every == 0 })
}

// glmMoE is GLM-4.5: experts as DeepSeek's, optionally heads with norms.
func glmMoE(k *keys, c *Config) {
	glm(k, c)
	routed(k, c)
	c.expert.extra = c.Experts // biases that balance the router
	if k.is(false, "use_qk_norm") {
		c.perHead = 2 * c.HeadDim
	}
}

// deepSeek has latent keys and values (DeepSeek-V2, arXiv 2405.04434; V3, 2412.19437; Kimi K2).
func deepSeek(k *keys, c *Config) {
	c.gated = true
	c.latent = latent{query: k.num(0, "q_lora_rank"), keys: k.num(0, "kv_lora_rank"),
		nope: k.num(0, "qk_nope_head_dim"), rope: k.num(0, "qk_rope_head_dim"), value: k.num(0, "v_head_dim")}
	if c.HeadDim == 0 {
		c.HeadDim = c.latent.nope + c.latent.rope
	}
	if routed(k, c); c.Type != "deepseek_v2" {
		c.expert.extra = c.Experts // biases that balance the router
	}
}

// gptOSS has experts with biases in all layers, a sink per head, and a window in every second layer (OpenAI 2025, arXiv
// 2508.10925).
func gptOSS(k *keys, c *Config) {
	c.gated, c.clamped, c.biasQKV, c.biasOut = true, true, true, true
	c.perHead = c.Heads
	c.windowed(k, 2)
	c.experts(k.num(0, "num_local_experts"), k.num(0, "num_experts_per_tok", "experts_per_token"), c.FFN, 0, nil)
	c.expert.extra = c.Experts * (1 + 2*c.FFN + c.Hidden)
}

// grok has experts in all layers, four norms and a tied embedding.
func grok(k *keys, c *Config) {
	c.gated, c.norms, c.Tied = true, 4, k.is(true, "tie_word_embeddings")
	c.experts(k.num(0, "num_experts", "num_local_experts"), k.num(0, "num_experts_per_tok", "num_selected_experts"), c.FFN, 0, nil)
}

// llama4 has experts in every Nth layer, in addition to one for all tokens. Its dense layers have their own width.
func llama4(k *keys, c *Config) {
	llama(k, c)
	step := max(1, k.num(1, "interleave_moe_layer_step"))
	c.experts(k.num(0, "num_local_experts"), k.num(0, "num_experts_per_tok"), c.FFN, c.FFN, func(layer int64) bool { return (layer+1)%step == 0 })
	c.FFN = k.num(c.FFN, "intermediate_size_mlp")
}
