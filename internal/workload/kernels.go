package workload

import (
	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/unit"
)

// Kernel models: what a layer costs on a GPU beyond its matrix products.
const (
	// Flat: operations over the peak times the efficiency, nothing else.
	Flat = "flat"
	// Fused: matrix products as in flat; norms, activation functions and residuals
	// stream through the GPU's memory; attention scores stay on the chip
	// (FlashAttention).
	Fused = "fused"
	// Unfused: as fused, and attention scores stream through memory too, as in
	// Megatron-LM of 2021.
	Unfused = "unfused"
)

// cost is the time of a piece of a layer for one microbatch on one rank: its
// forward pass, its input gradients and its weight gradients.
type cost struct{ forward, inputs, weights unit.Time }

func (c cost) backward() unit.Time { return c.inputs + c.weights }

// kernels are the pieces of a layer, and the output projection with its loss.
type kernels struct{ proj, core, mlp, head cost }

// Kernels works the pieces out. Streamed bytes per token are, for 16 bit values
// of hidden size h, feed-forward size f and a heads over s tokens: two norms and
// two residuals (22h with dropout and its mask as in GPT, 20h without), the
// activation function (4f, gated 6f), rotary embeddings, scores through scaling,
// mask, softmax and dropout (11as), and four passes over the 32 bit logits. The
// backward pass streams twice as much.
func (t *Training) kernels() kernels {
	m := t.Model
	tokens := float64(t.Micro * t.Seq / int64(t.CP))
	h, tp := float64(m.Hidden), float64(t.TP)
	share := 1.0 // of the sequence, in norms and residuals
	if t.Sequence {
		share = 1 / tp
	}
	norm, active, rotary := 22*h*share, 4*float64(m.FFN)*float64(max(1, m.TopK))/tp, 0.0
	if m.Gated() {
		norm, active, rotary = 20*h*share, active*1.5, 4*float64((m.Heads+m.KVHeads)*m.HeadDim)/tp
	}
	scores := 11 * float64(m.Heads) * float64(t.Seq) / tp
	if t.Kernels != Unfused {
		scores = 0
	}
	flops := m.LayerFLOPs(1, t.Seq)
	core := 4 * float64(t.Seq) * float64(m.Heads*m.HeadDim)
	proj := flops*m.AttentionShare(t.Seq) - core
	mlp := flops - proj - core
	k := kernels{
		proj: t.piece(tokens, proj, norm/2+rotary),
		core: t.piece(tokens, core, scores),
		mlp:  t.piece(tokens, mlp, norm/2+active),
		head: t.piece(tokens, m.HeadFLOPs(1), 16*float64(m.Vocab)/tp),
	}
	k.core.inputs, k.core.weights = k.core.inputs+k.core.weights, 0 // no weights there
	if t.Recompute == partition.RecomputeSelective && t.Kernels == Unfused {
		k.core.inputs += k.core.forward // FlashAttention's kernel does so within its efficiency
	}
	return k
}

// piece turns operations, of all tensor parallel ranks, and streamed bytes, of
// one, per token into times.
func (t *Training) piece(tokens, flops, bytes float64) cost {
	matmul := t.compute(tokens * flops)
	if t.Kernels == Flat || t.Kernels == "" {
		return cost{matmul, matmul, matmul}
	}
	stream := unit.Serialize(unit.Bytes(min(tokens*bytes, 9e18)), t.GPU.HBM)
	return cost{matmul + stream, matmul + 2*stream, matmul}
}

// compute turns FLOPs of a tensor parallel group's share into time.
func (t *Training) compute(flops float64) unit.Time {
	return unit.FromSeconds(flops / float64(t.TP) / (t.GPU.BF16 * (t.Efficiency / 100)))
}

// longestPass is what all layers' computing of one kind may take in a microbatch: sums
// of them stay far from the end of a clock of picoseconds.
const longestPass = 100 * 3600 * unit.Second

// checkTimes refuses work that no GPU would be given: its times would overflow.
func (t *Training) checkTimes() error {
	k := t.kernels()
	for _, c := range []cost{k.proj, k.core, k.mlp, k.head} {
		if d := max(c.forward, c.inputs, c.weights); d > longestPass/unit.Time(t.Model.Layers) {
			return field.New("micro_batch",
				"%d layers of %v each are more than the %v of computing per microbatch that are taken; "+
					"micro_batch, sequence, efficiency and the model's sizes decide it",
				t.Model.Layers, d, longestPass)
		}
	}
	return nil
}

// LayerTimes returns a layer's forward and backward computing time for one
// microbatch, and the output projection's; recomputation is in the backward time.
func (t *Training) LayerTimes() (forward, backward, head unit.Time) {
	k := t.kernels()
	forward = k.proj.forward + k.core.forward + k.mlp.forward
	backward = k.proj.backward() + k.core.backward() + k.mlp.backward()
	if t.Recompute == partition.RecomputeFull {
		backward += forward
	}
	return forward, backward, k.head.forward + k.head.backward()
}

// AttentionTimes returns the time of a layer's attention scores, forward and
// backward; WeightTime that of its weight gradients.
func (t *Training) AttentionTimes() (forward, backward unit.Time) {
	k := t.kernels()
	return k.core.forward, k.core.inputs
}

// WeightTime is how long a layer's weight gradients of a microbatch take.
func (t *Training) WeightTime() unit.Time {
	k := t.kernels()
	return k.proj.weights + k.mlp.weights
}

// OptimizerTime is the time of the update: it streams gradients, master weights
// and both Adam moments through the GPU's memory, 28 bytes per parameter that a
// rank holds.
func (t *Training) OptimizerTime(params float64) unit.Time {
	if t.ZeRO > 0 {
		params /= float64(t.DP * t.CP)
	}
	return unit.Serialize(unit.Bytes(28*params), t.GPU.HBM)
}
