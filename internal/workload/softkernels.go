package workload

import (
	"math"
	"slices"

	"railyard/internal/model"
	"railyard/unit"
)

// bound is work on a rank and microbatch: the longer of operations at a rate, and of streamed bytes.
func (s *Software) bound(gpu model.GPU, flops, rate, bytes float64) float64 {
	return max(flops/rate, s.stream(gpu, bytes))
}

// stream is the time in seconds that bytes take through the GPU's memory.
func (s *Software) stream(gpu model.GPU, bytes float64) float64 {
	return bytes * 8 / (float64(gpu.HBM) * s.Memory)
}

// matmul is the rate that matrix products of a precision reach.
func (s *Software) matmul(gpu model.GPU, p *precision) float64 {
	share := s.Matmul16
	switch p.of {
	case "fp8":
		share = s.Matmul8
	case "fp4":
		share = s.Matmul4
	}
	peak, _ := gpu.Peak(p.of) // CheckPrecision has refused unsupported precisions
	return peak * share * power(gpu)
}

// power is the share of the clock that the power limit leaves a Blackwell GPU in long runs, relative to one of
// 1,400 W. Data sheets name equal peaks from 1,000 W to 1,400 W, and published runs of one layout differ as their
// limits do.
func power(gpu model.GPU) float64 {
	if gpu.SM < 100 || gpu.Watts == 0 {
		return 1
	}
	return min(1, gpu.Watts/1400)
}

// recipe returns the run's recipe, else its software's.
func (t *Training) recipe() *Recipe {
	if t.Recipe != nil {
		return t.Recipe
	}
	return &t.Software.Recipe
}

// Again returns how often a layer's module is worked out again in the backward pass: 0 or 1.
func (t *Training) again(module string) float64 {
	if t.Software != nil && slices.Contains(t.recipe().Again, module) {
		return 1
	}
	return 0
}

// ExpertTransfers returns how many of an all-to-all's times a layer shows, forward and backward.
func (t *Training) ExpertTransfers() float64 {
	if t.Software == nil {
		return 4
	}
	n := 4 + 2*t.again("moe")
	if t.recipe().Overlap {
		n *= 1 - t.Software.HideExpert
	}
	return n
}

// Dedup reports whether a token is sent only once to each rank with experts for it.
func (t *Training) Dedup() bool { return t.Software != nil && t.recipe().Dedup }

// gradientBytes is the bytes of a weight in its gradient's 32 bit sum, read and written with each microbatch.
const gradientBytes = 8

// kernelsBy are the pieces of the mean layer on a GPU as a software runs them: some layers may keep 16 bit products.
func (t *Training) kernelsBy(s *Software, gpu model.GPU) kernels {
	p := t.precision()
	if p == nil {
		p = &precisions[0]
	}
	k := t.kernelsIn(s, gpu, p)
	if n := t.recipe().BF16Layers; n > 0 {
		share := min(1, float64(n)/float64(t.Model.Layers))
		plain := t.kernelsIn(s, gpu, &precisions[0])
		mix := func(a, b cost) cost {
			of := func(a, b unit.Time) unit.Time { return a + unit.Time(share*float64(b-a)) }
			return cost{of(a.forward, b.forward), of(a.inputs, b.inputs), of(a.weights, b.weights)}
		}
		k.proj, k.mlp = mix(k.proj, plain.proj), mix(k.mlp, plain.mlp)
	}
	return k
}

// kernelsIn are those with products of a precision. Matrix products run at their share of the
// peak, or as fast as operands, results and weights pass memory. Norms, activations, casts, the permutation of
// tokens to experts and a Mamba-2 block's scan stream through memory. Attention has its own rate, and its backward
// pass has five products for the forward pass's two (Dao 2023, arXiv 2307.08691, section 3.1).
func (t *Training) kernelsIn(s *Software, gpu model.GPU, p *precision) kernels {
	m := t.Model
	tokens, tp := float64(t.Micro*t.Seq/int64(t.CP)), float64(t.TP)
	share := 1.0 // share of the sequence, in norms and residuals
	if t.Sequence {
		share = 1 / tp
	}
	h, rate := float64(m.Hidden), s.matmul(gpu, p)
	norm, active, rotary := 22*h*share, 4*m.ActiveFFN()/tp, 0.0
	if m.Gated() {
		norm, active, rotary = 20*h*share, active*1.5, 4*m.Rotated()/tp
	}
	flops, core := m.LayerFLOPs(1, t.Seq), m.CoreFLOPs(t.Seq)
	proj := flops*m.AttentionShare(t.Seq) - core
	experts := m.ExpertFLOPs()
	dense := flops - proj - core - experts

	cast := func(operands float64) float64 { return s.stream(gpu, tokens*operands*p.bytes/tp) }
	piece := func(work, streamed, casts float64) cost {
		return cost{seconds(work + streamed + casts), seconds(work + 2*streamed + casts), seconds(work)}
	}
	scan := 2 * m.Scanned() / tp * s.ScanPasses
	// narrow heads have as many exponentials for fewer operations
	attention := tokens * m.AttentionFLOPs(t.Seq) / 2 / tp /
		(gpu.BF16 * s.Attention * power(gpu) * min(1, m.HeadWidth()/128))
	attention /= t.lengthShare()
	if t.recipe().FP8Attention && m.HeadWidth() >= 128 { // of narrow heads the exponentials take the time
		attention /= fp8Attention
	}
	k := kernels{
		proj: piece(tokens*proj/tp/rate, s.stream(gpu, tokens*(norm/2+rotary+scan)), cast(m.MixerWidth())),
		core: cost{forward: seconds(attention), inputs: seconds(2.5 * attention)},
		mlp:  piece(tokens*dense/tp/rate, s.stream(gpu, tokens*(norm/2+active)), cast(m.FFNWidth())),
	}
	merge := seconds(s.stream(gpu, tokens/tp*t.merged()))
	k.core.forward, k.core.inputs = k.core.forward+merge, k.core.inputs+merge
	k.core.inputs += unit.Time(t.again("core_attn")) * k.core.forward
	if experts > 0 {
		routed := t.routed(s, gpu, p, tokens/tp)
		k.mlp = cost{k.mlp.forward + routed.forward, k.mlp.inputs + routed.inputs, k.mlp.weights + routed.weights}
	}
	head := tokens * m.HeadFLOPs(1, t.Seq) / tp / s.matmul(gpu, &precisions[0])
	k.head = piece(head, s.stream(gpu, tokens*16*float64(m.Vocab)/tp), 0)
	k.mlp.inputs += unit.Time(t.again("moe")) * k.mlp.forward
	k.mlp.inputs += seconds(t.again("layernorm") * s.stream(gpu, tokens*norm))
	return k
}

// lengthShare is the share of the rate at 8,192 tokens that attention reaches. With context parallelism a rank's
// queries meet half of another rank's keys, or half of them all of these: so do causal masks and both ends of a
// sequence on each rank divide the work.
func (t *Training) lengthShare() float64 {
	own := float64(t.Seq) / float64(t.CP)
	if t.CP == 1 {
		return lengthShares.at(own)
	}
	return (lengthShares.at(own) + lengthShares.at(own/2)) / 2
}

// curve is straight lines over the logarithm, between lengths that double from the first one on.
type curve struct {
	from   float64
	shares []float64
}

// lengthShares are FlashAttention-3's rates on H100 for 512 to 8,192 tokens, relative to the last one: 467, 565, 625,
// 638 and 646 TFLOP/s (Shah et al. 2024, arXiv 2407.08608, figure 5, forward, heads of 128, no mask).
var lengthShares = curve{512, []float64{0.723, 0.875, 0.967, 0.988, 1}}

func (c curve) at(x float64) float64 {
	last := float64(len(c.shares) - 1)
	at := min(max(math.Log2(x/c.from), 0), last)
	i := int(min(at, last-1))
	return c.shares[i] + (at-float64(i))*(c.shares[i+1]-c.shares[i])
}

// fp8Attention is how much faster attention is in FP8 than in BF16: 1,200 and 740 TFLOP/s on H100 (Shah et al. 2024,
// FlashAttention-3, arXiv 2407.08608).
const fp8Attention = 1200.0 / 740

// merged is the memory traffic, in bytes per token, of merging the parts of a ring of attention, forward or
// backward. After each step but the first the 16 bit sum is read and written, and the part is read. With a causal
// mask and both ends of a sequence on each rank, half of the steps have half of the queries
// (NVIDIA/TransformerEngine, attention/dot_product_attention/context_parallel.py, flash_attn_fwd_out_correction).
func (t *Training) merged() float64 {
	return float64(t.CP-1) * 0.75 * 3 * 2 * t.Model.AttentionWidth()
}

// routed are the pieces of a layer's routed experts.
func (t *Training) routed(s *Software, gpu model.GPU, p *precision, tokens float64) cost {
	m := t.Model
	passes, clamped := s.ExpertPasses, 0.0
	if t.recipe().Fused && p.bytes > 0 {
		passes = s.FusedPasses
	} else if m.Clamped() {
		clamped = s.stream(gpu, tokens*2*m.ExpertWidth()*s.ClampPasses)
	}
	work := t.grouped(s, gpu, p, tokens)
	streamed := s.stream(gpu, tokens*2*m.Dispatched()*passes) + clamped
	c := cost{seconds(work + streamed), seconds(work + 2*streamed), seconds(work)}
	if t.again("moe") == 0 {
		c.inputs += seconds(t.again("moe_act") * (clamped + s.stream(gpu, tokens*6*m.ExpertWidth())))
	}
	return c
}

// grouped is the time in seconds of the mean layer's products of routed experts, in one of three passes. Each
// expert's tokens fill tiles of 128 rows; its weights, and its gradients' sum, are read or written once.
func (t *Training) grouped(s *Software, gpu model.GPU, p *precision, tokens float64) float64 {
	m := t.Model
	input, ffn, matrices := m.ExpertShape()
	local := float64(m.Experts) / float64(t.EP)
	each := tokens * float64(m.TopK) / local
	rows := math.Ceil(each/tile) * tile
	value := 2.0
	if p.bytes > 0 {
		value = 1
	}
	flops, bytes := 0.0, 0.0
	for i := range matrices {
		in, out := float64(input), float64(ffn)
		if i == matrices-1 {
			in, out = out, in
		}
		flops += 2 * rows * in * out
		bytes += rows*(in*value+out*2) + in*out*(value+gradientBytes)/2
	}
	return m.SparseShare() * local * s.bound(gpu, flops, s.matmul(gpu, p), bytes)
}

// tile is the rows of a tile of a grouped matrix product (CUTLASS, Hopper and Blackwell: 128).
const tile = 128

// seconds converts, far from overflow.
func seconds(s float64) unit.Time { return unit.FromSeconds(min(s, 1e6)) }

// HostTime is the time in seconds that the host needs for a layer of a microbatch, forward and backward.
func (t *Training) HostTime() float64 {
	if t.Software == nil {
		return 0
	}
	h := 0.0
	switch local := float64(t.Model.Experts) / float64(t.EP); t.recipe().Graphs {
	case "":
		h = t.Software.HostLayer * t.Model.Blocks() / 2
		fallthrough
	case GraphLayers:
		h += t.Model.SparseShare() * local * t.Software.HostExpert
	}
	if t.Recompute == "full" {
		h *= 4.0 / 3
	}
	return h
}
