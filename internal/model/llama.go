package model

// llama is a decoder with RMSNorm, rotary positions, grouped heads and SwiGLU (Touvron et al. 2023), which Mistral,
// Phi-3, Qwen and GLM share.
func llama(k *keys, c *Config) {
	c.gated = true
	c.biasQKV = k.is(false, "attention_bias")
	c.biasOut, c.biasFFN = c.biasQKV, k.is(false, "mlp_bias")
	if c.Type == "mistral" {
		c.windowed(k, 0)
	}
}

// qwen2 has biases of queries, keys and values. Of its windowed layers max_window_layers have no window.
func qwen2(k *keys, c *Config) {
	c.gated, c.biasQKV = true, true
	if k.is(false, "use_sliding_window") {
		c.windowed(k, 0)
		c.window.layers = min(c.window.layers, max(0, c.Layers-k.num(0, "max_window_layers")))
	}
}

// qwen3 has no biases, and norms of heads' queries and keys.
func qwen3(k *keys, c *Config) {
	llama(k, c)
	c.perHead = 2 * c.HeadDim
}

// glm has biases of queries, keys and values, and in GLM-4 of 2025 two norms more.
func glm(k *keys, c *Config) {
	llama(k, c)
	if c.biasOut = false; c.Type == "glm4" {
		c.norms = 4
	}
}

// chatGLM is GLM under the names of its first configurations.
func chatGLM(k *keys, c *Config) {
	c.gated = true
	c.biasQKV = k.is(false, "add_qkv_bias")
	if !k.is(true, "multi_query_attention") {
		c.KVHeads = c.Heads
	}
}

// gemma has GeGLU and a tied embedding; Gemma 2 and 3 four norms and windows, 3 norms of heads.
func gemma(k *keys, c *Config) {
	c.gated, c.Tied = true, k.is(true, "tie_word_embeddings")
	switch c.Type {
	case "gemma2":
		c.norms = 4
		c.windowed(k, 2)
	case "gemma3_text":
		c.norms, c.perHead = 4, 2*c.HeadDim
		c.windowed(k, k.num(6, "sliding_window_pattern"))
	}
}
