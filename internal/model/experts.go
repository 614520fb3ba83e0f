package model

// AttentionFLOPs returns the operations per token of the mean layer's attention scores and values, forward: CoreFLOPs
// without the scan of Mamba-2 blocks.
func (c *Config) AttentionFLOPs(seq int64) float64 {
	return c.mean(c.attention) * 2 * c.reach(seq) * float64(c.queries()+c.values())
}

// AttentionWidth returns how many values of a token leave the mean layer's attention.
func (c *Config) AttentionWidth() float64 { return c.mean(c.attention) * float64(c.values()) }

// HeadWidth returns the width of one head's values.
func (c *Config) HeadWidth() float64 { return float64(c.values()) / float64(c.Heads) }

// ExpertFLOPs returns the operations per token of the mean layer's routed experts, forward.
func (c *Config) ExpertFLOPs() float64 {
	return c.mean(c.sparse) * 2 * float64(c.TopK*c.oneExpert())
}

// ExpertShape returns a routed expert's input width, its own width, and the number of its matrices.
func (c *Config) ExpertShape() (input, ffn, matrices int64) {
	return c.expert.input, c.expert.ffn, c.matrices()
}

// Scanned returns how many values of a token the mean layer's Mamba-2 block scans: its inner width with the states
// of its groups.
func (c *Config) Scanned() float64 {
	m := &c.mamba
	return c.mean(c.mambas) * float64(2*m.heads*m.headDim+2*m.groups*m.state)
}

// SparseShare returns the share of layers that have experts.
func (c *Config) SparseShare() float64 { return c.mean(c.sparse) }

// ExpertWidth returns the width of the routed experts that work on a token, of the mean layer.
func (c *Config) ExpertWidth() float64 { return c.mean(c.sparse) * float64(c.TopK*c.expert.ffn) }

// Clamped reports whether experts clamp the input of their activation function, as in GPT-OSS (swiglu_limit).
func (c *Config) Clamped() bool { return c.clamped }

// MixerShare returns the share of layers with attention or a Mamba-2 block, and FFNShare the share with a
// feed-forward part or experts. Both are 1 except in hybrids.
func (c *Config) MixerShare() float64 { return c.mean(c.attention + c.mambas) }

// FFNShare is described with MixerShare.
func (c *Config) FFNShare() float64 { return c.mean(c.dense + c.sparse) }

// Blocks returns how many blocks the mean layer has: attention or Mamba-2, and a feed-forward part, 2; of a hybrid's 1.
func (c *Config) Blocks() float64 { return c.mean(c.attention + c.mambas + c.dense + c.sparse) }
