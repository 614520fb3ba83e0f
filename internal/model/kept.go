package model

// Kept is what a layer of one part keeps of a token for its backward pass, in values of 16 bit.
type Kept struct {
	Outer  float64 // around the part: what enters its norm and what leaves that; of all tensor parallel ranks
	Inner  float64 // within it, divided among tensor parallel ranks
	Routed float64 // what is sent to experts, divided among ranks that do not share an expert
	Heads  float64 // of attention: heads with a row of scores each
}

// Keeps returns what a layer of a hybrid keeps, by number from 0; false for layers with both attention and a
// feed-forward part. Attention keeps queries, keys, values and what enters the output projection; a feed-forward part
// what enters its activation function and what leaves that; experts the same of each token that is sent to them; a
// Mamba-2 block what its input projection makes, what the scan makes and what enters the output projection (mamba_ssm,
// ops/triton/ssd_combined.py: mamba_split_conv1d_scan_combined; the convolution is recomputed). These models have no
// dropout, and so no masks.
func (c *Config) Keeps(layer int64) (k Kept, hybrid bool) {
	if c.kinds == "" {
		return k, false
	}
	k.Outer = float64(2 * c.Hidden)
	m := &c.mamba
	switch c.kinds[layer] {
	case attentionPart:
		k.Inner, k.Heads = float64(c.queries()+2*c.KVHeads*c.HeadDim+c.values()), float64(c.Heads)
	case densePart:
		k.Inner = float64(c.matrices() * c.FFN)
	case mambaPart:
		inner := m.heads * m.headDim
		k.Inner = float64(2*inner + 2*m.groups*m.state + m.heads + 2*inner)
	case moes:
		k.Inner = float64(c.matrices() * (c.TopK*c.expert.ffn + c.expert.shared))
		k.Routed = float64(c.TopK * c.expert.input)
		if c.expert.input != c.Hidden {
			k.Outer += float64(c.expert.input) // a token's narrower copy, before it is sent
		}
	default:
		return Kept{}, false
	}
	return k, true
}
