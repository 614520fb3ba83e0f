package model

// Kept is the activations of a layer of one part that are kept for a token's backward pass, in 16 bit values.
type Kept struct {
	Outer  float64 // around the part: input and output of its norm, of all tensor parallel ranks
	Inner  float64 // within it, divided among tensor parallel ranks
	Routed float64 // values sent to experts, divided among ranks that do not share an expert
	Heads  float64 // heads of attention that keep a row of scores each
}

// Keeps returns a layer's activations, by number from 0. Attention keeps queries, keys, values and the input of the
// output projection. A feed-forward part keeps the input and the output of its activation function. Experts keep
// them for each routed token. A Mamba-2 block keeps the output of its input projection, of the scan, and the input
// of the output projection (mamba_ssm, ops/triton/ssd_combined.py: mamba_split_conv1d_scan_combined). The
// convolution is recomputed. Layers like GPT-2's also have two dropout masks of one byte each, for a total of 34
// bytes per token and hidden value (Korthikanti et al. 2022, section 4.1).
func (c *Config) Keeps(layer int64) (k Kept) {
	kind := wholeLayer
	if c.kinds != "" {
		kind = rune(c.kinds[layer])
	}
	around := float64(2 * c.Hidden)
	if kind == attentionPart || kind == wholeLayer || kind == denseLayer || kind == sparseLayer {
		k.Outer, k.Heads = around, float64(c.Heads)
		k.Inner = float64(c.queries() + c.keysAndValues() + c.values())
	}
	if kind == densePart || kind == denseLayer || kind == wholeLayer && c.Experts == 0 {
		k.Outer, k.Inner = k.Outer+around, k.Inner+float64(c.matrices()*c.FFN)
	}
	if kind == moes || kind == sparseLayer || kind == wholeLayer && c.Experts > 0 {
		k.Outer, k.Inner = k.Outer+around, k.Inner+float64(c.matrices()*(c.TopK*c.expert.ffn+c.expert.shared))
		k.Routed = float64(c.TopK * c.expert.input)
		if c.expert.input != c.Hidden {
			k.Outer += float64(c.expert.input) // a token's narrower copy, before it is sent
		}
	}
	if m := &c.mamba; kind == mambaPart {
		inner := m.heads * m.headDim
		k.Outer, k.Inner = around, float64(2*inner+2*m.groups*m.state+m.heads+2*inner)
	}
	if kind == wholeLayer && c.Experts == 0 && !c.Gated() && c.KVHeads == c.Heads {
		k.Outer += float64(c.Hidden)
	}
	return k
}

// wholeLayer returns a layer of a model with equal layers.
const wholeLayer rune = 0

// KeepsOps returns the activations of a layer that keeps every second result of a matrix product, attention's
// output and the layer's input. This is PyTorch's selective checkpointing by operation, as torchtitan configures it
// (distributed/ activation_checkpoint.py). false: the layer has other parts, or experts.
func (c *Config) KeepsOps(layer int64) (k Kept, ok bool) {
	if c.kinds != "" && rune(c.kinds[layer]) != denseLayer || c.kinds == "" && c.Experts > 0 {
		return k, false
	}
	k.Outer = float64(c.Hidden)
	if k.Inner = float64(c.queries() + c.keysAndValues()/2 + c.values() + c.FFN); c.Gated() {
		k.Outer += float64(c.Hidden) // the seventh product, the output of the feed-forward part
	}
	return k, true
}

// keysAndValues is the width of the keys and values of a token.
func (c *Config) keysAndValues() int64 {
	if c.latent.keys > 0 {
		return c.queries() + c.values()
	}
	return 2 * c.KVHeads * c.HeadDim
}
