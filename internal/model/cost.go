package model

// Gated reports whether the feed-forward part is SwiGLU, as in Llama.
func (c *Config) Gated() bool { return c.gated }

// matrices returns how many a feed-forward part has.
func (c *Config) matrices() int64 {
	if c.gated {
		return 3
	}
	return 2
}

// queries and values are the widths of all heads together.
func (c *Config) queries() int64 {
	if c.latent.keys > 0 {
		return c.Heads * (c.latent.nope + c.latent.rope)
	}
	return c.Heads * c.HeadDim
}

func (c *Config) values() int64 {
	if c.latent.keys > 0 {
		return c.Heads * c.latent.value
	}
	return c.Heads * c.HeadDim
}

// projections are the weights of an attention block's matrix products.
func (c *Config) projections() int64 {
	h, l := c.Hidden, &c.latent
	if l.keys == 0 {
		return 2*h*c.Heads*c.HeadDim + 2*h*c.KVHeads*c.HeadDim
	}
	n := h*(l.keys+l.rope) + l.keys*c.Heads*(l.nope+l.value) + c.values()*h
	if l.query == 0 {
		return n + h*c.queries()
	}
	return n + h*l.query + l.query*c.queries()
}

// attentionParams returns the parameters of an attention block.
func (c *Config) attentionParams() int64 {
	n := c.projections() + c.perHead
	if c.latent.keys > 0 {
		n += c.latent.query + c.latent.keys // their norms
	}
	if c.biasQKV {
		n += (c.Heads + 2*c.KVHeads) * c.HeadDim
	}
	if c.biasOut {
		n += c.Hidden
	}
	return n
}

// denseParams returns the parameters of a feed-forward part without experts.
func (c *Config) denseParams() int64 {
	n := c.matrices() * c.Hidden * c.FFN
	if c.biasFFN {
		n += (c.matrices()-1)*c.FFN + c.Hidden
	}
	return n
}

// oneExpert is the parameters of one expert.
func (c *Config) oneExpert() int64 { return c.matrices() * c.expert.input * c.expert.ffn }

// besides returns the weights of a layer with experts that every token uses: shared experts, and the projections to
// and from the experts' width if that is narrower.
func (c *Config) besides() int64 {
	n := c.matrices() * c.Hidden * c.expert.shared
	if c.expert.input != c.Hidden {
		n += 2 * c.Hidden * c.expert.input
	}
	return n
}

// sparseParams returns the parameters of a feed-forward part with experts, without the experts.
func (c *Config) sparseParams() int64 {
	return c.besides() + c.Hidden*c.Experts + c.expert.extra
}

// mixed are the weights of a Mamba-2 block's matrix products.
func (c *Config) mixed() int64 {
	m := &c.mamba
	inner := m.heads * m.headDim
	return c.Hidden*(2*inner+2*m.groups*m.state+m.heads) + inner*c.Hidden
}

// mambaParams returns the parameters of a Mamba-2 block: its projections, the convolution, its decay, step and
// skip, and its norm.
func (c *Config) mambaParams() int64 {
	m := &c.mamba
	inner := m.heads * m.headDim
	return c.mixed() + (inner+2*m.groups*m.state)*(m.kernel+1) + 3*m.heads + inner
}

// layers are the parameters of all layers.
func (c *Config) layers() int64 {
	norm := c.norms * c.Hidden
	if c.biased {
		norm *= 2
	}
	return c.Layers*norm + c.attention*c.attentionParams() + c.dense*c.denseParams() +
		c.sparse*(c.sparseParams()+c.Experts*c.oneExpert()) + c.mambas*c.mambaParams()
}

// ExpertParams returns the parameters of one layer's experts, of the mean layer; 0 without them.
func (c *Config) ExpertParams() int64 { return c.sparse * c.Experts * c.oneExpert() / c.Layers }

// Span returns the parameters of the layers from one number to before another, from 0: those of experts, and all
// others.
func (c *Config) Span(from, to int64) (shared, experts int64) {
	norm := c.norms * c.Hidden
	if c.biased {
		norm *= 2
	}
	if c.kinds == "" {
		experts = (to - from) * c.ExpertParams()
		return (to-from)*c.LayerParams() - experts, experts
	}
	for l := from; l < to; l++ {
		shared += norm
		switch kind := c.kinds[l]; kind {
		case denseLayer:
			shared += c.attentionParams() + c.denseParams()
		case sparseLayer:
			shared += c.attentionParams() + c.sparseParams()
			experts += c.Experts * c.oneExpert()
		case attentionPart:
			shared += c.attentionParams()
		case densePart:
			shared += c.denseParams()
		case mambaPart:
			shared += c.mambaParams()
		case moes:
			shared += c.sparseParams()
			experts += c.Experts * c.oneExpert()
		}
	}
	return shared, experts
}

// LayerParams returns the parameters of the mean layer.
func (c *Config) LayerParams() int64 { return c.layers() / c.Layers }

// EmbeddingParams returns the parameters outside the layers: token and position
// embeddings, the output projection unless tied, the final norm.
func (c *Config) EmbeddingParams() int64 {
	n := c.Vocab*c.Hidden + c.Hidden
	if !c.Tied {
		n += c.Vocab * c.Hidden
	}
	if c.absolute {
		n += c.Context * c.Hidden
	}
	if c.biased {
		n += c.Hidden
	}
	return n
}

// Params returns all parameters.
func (c *Config) Params() int64 { return c.layers() + c.EmbeddingParams() }

// ActiveParams returns the parameters that process a token. Of the experts it includes only those to which the
// token is routed. Without experts they are all.
func (c *Config) ActiveParams() int64 {
	return c.Params() - c.sparse*(c.Experts-c.TopK)*c.oneExpert()
}

// InputEmbedding returns the parameters of the embedding of tokens alone, of which each token reads one row; 0 if the
// output projection has the same.
func (c *Config) InputEmbedding() int64 {
	if c.Tied {
		return 0
	}
	return c.Vocab * c.Hidden
}

// mean is the share of layers that have a part.
func (c *Config) mean(of int64) float64 { return float64(of) / float64(c.Layers) }

// reach returns the tokens that a token's attention spans in a layer: the whole sequence, or a window. A window of
// the whole sequence counts as none, because neither accounts for causal masking.
func (c *Config) reach(seq int64) float64 {
	all, w := float64(seq), float64(c.window.tokens)
	if c.window.layers == 0 || w >= all {
		return all
	}
	share := float64(c.window.layers) / float64(max(1, c.attention))
	return (1-share)*all + share*w*(2-w/all)
}

// CoreFLOPs returns the forward operations per token of the mean layer's attention scores and values, and of a
// Mamba-2 block's scan. The scan has seven per element of its state (Megatron-LM's count).
func (c *Config) CoreFLOPs(seq int64) float64 {
	m := &c.mamba
	return c.mean(c.attention)*2*c.reach(seq)*float64(c.queries()+c.values()) +
		c.mean(c.mambas)*7*float64(m.heads*m.headDim*m.state)
}

// mixerFLOPs returns the operations of the mean layer's attention or Mamba-2 block, per token, forward.
func (c *Config) mixerFLOPs(seq int64) float64 {
	return c.mean(c.attention)*2*float64(c.projections()) + c.mean(c.mambas)*2*float64(c.mixed()) + c.CoreFLOPs(seq)
}

// LayerFLOPs returns the floating point operations of the mean layer's forward pass over tokens tokens in sequences
// of length seq. It has two per matrix parameter and token, and for attention scores and values 4·seq·hidden per
// token (Narayanan et al., SC'21, appendix: causal masking is not discounted).
func (c *Config) LayerFLOPs(tokens, seq int64) float64 {
	ffn := c.mean(c.dense)*float64(c.matrices()*c.Hidden*c.FFN) +
		c.mean(c.sparse)*float64(c.TopK*c.oneExpert()+c.besides())
	return float64(tokens) * (c.mixerFLOPs(seq) + 2*ffn)
}

// AttentionShare returns which part of LayerFLOPs is the attention block, or a hybrid's Mamba-2 block.
func (c *Config) AttentionShare(seq int64) float64 { return c.mixerFLOPs(seq) / c.LayerFLOPs(1, seq) }

// HeadFLOPs returns the forward operations of the output projection, and of the prediction of further tokens (MTP,
// DeepSeek-V3, section 2.2). Each prediction has a projection of two hidden states, a layer and the output
// projection.
func (c *Config) HeadFLOPs(tokens, seq int64) float64 {
	h, ahead := float64(c.Hidden), float64(c.ahead)
	return float64(tokens)*(1+ahead)*2*h*float64(c.Vocab) +
		ahead*(float64(tokens)*4*h*h+float64(c.parts)*c.LayerFLOPs(tokens, seq))
}

// StepFLOPs returns forward and backward (twice the forward) of a batch.
func (c *Config) StepFLOPs(tokens, seq int64) float64 {
	return 3 * (float64(c.Layers)*c.LayerFLOPs(tokens, seq) + c.HeadFLOPs(tokens, seq))
}

// ActiveFFN returns the width of the feed-forward part that works on a token, of the mean layer.
func (c *Config) ActiveFFN() float64 {
	return c.mean(c.dense)*float64(c.FFN) + c.mean(c.sparse)*float64(c.TopK*c.expert.ffn+c.expert.shared)
}

// Scores returns how many attention scores a token has in the mean layer: one per head and attended token.
func (c *Config) Scores(seq int64) float64 {
	return c.mean(c.attention) * float64(c.Heads) * c.reach(seq)
}

// Keys returns the width of a token's keys and values in the mean layer.
func (c *Config) Keys() float64 {
	if c.latent.keys > 0 {
		return c.mean(c.attention) * float64(c.queries()+c.values())
	}
	return c.mean(c.attention) * float64(2*c.KVHeads*c.HeadDim)
}

// Rotated returns the values per token to which rotary embeddings are applied in the mean layer.
func (c *Config) Rotated() float64 {
	if c.latent.keys > 0 {
		return c.mean(c.attention) * float64((c.Heads+1)*c.latent.rope)
	}
	return c.mean(c.attention) * float64((c.Heads+c.KVHeads)*c.HeadDim)
}

// Dispatched returns the number of a token's values that are sent to experts in the mean layer: their input width, once
// per expert.
func (c *Config) Dispatched() float64 {
	return c.mean(c.sparse) * float64(c.TopK*c.expert.input)
}

// MixerWidth returns the number of values per token that enter the matrix products of the mean layer's attention or
// Mamba-2 block. FFNWidth returns that of its feed-forward part.
func (c *Config) MixerWidth() float64 {
	return c.mean(c.attention)*float64(c.Hidden+c.values()+c.latent.query+c.latent.keys) +
		c.mean(c.mambas)*float64(c.Hidden+c.mamba.heads*c.mamba.headDim)
}

// FFNWidth is described with MixerWidth.
func (c *Config) FFNWidth() float64 {
	shared := 0.0
	if c.expert.shared > 0 {
		shared = float64(c.Hidden + c.expert.shared)
	}
	return c.mean(c.dense)*float64(c.Hidden+c.FFN) +
		c.mean(c.sparse)*(float64(c.TopK*(c.expert.input+c.expert.ffn))+shared)
}

// WithoutMTP returns the model without the layers that predict further tokens.
func (c *Config) WithoutMTP() *Config {
	plain := *c
	plain.ahead = 0
	return &plain
}
