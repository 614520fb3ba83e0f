package workload

import (
	"cmp"
	"slices"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/unit"
)

// Kernel models: the costs of a layer on a GPU besides its matrix products.
const (
	// Flat: operations over the product of peak and efficiency, nothing else.
	Flat = "flat"
	// Fused: matrix products as in flat. Norms, activation functions and residuals stream through the GPU's memory,
	// and attention scores stay on the chip (FlashAttention).
	Fused = "fused"
	// Unfused: as fused, and attention scores stream through memory too, as in
	// Megatron-LM of 2021.
	Unfused = "unfused"
)

// cost is the time of a part of a layer for one microbatch on one rank: its forward pass, its input gradients and
// its weight gradients.
type cost struct{ forward, inputs, weights unit.Time }

func (c cost) backward() unit.Time { return c.inputs + c.weights }

// kernels are the pieces of a layer, and the output projection with its loss.
type kernels struct{ proj, core, mlp, head cost }

// Kernels works the pieces out. Streamed bytes per token are given for 16 bit values of hidden size h, feed-forward
// size f and a heads over s tokens. They are two norms and two residuals (22h with dropout and its mask as in GPT,
// 20h without), the activation function (4f, gated 6f), and rotary embeddings. Further ones are scores through
// scaling, mask, softmax and dropout (11as), and four passes over the 32 bit logits. The backward pass streams
// twice as much.
func (t *Training) kernels() kernels { return t.kernelsOn(t.GPU) }

// kernelsOn returns those on a GPU.
func (t *Training) kernelsOn(gpu model.GPU) kernels {
	if t.Software != nil {
		return t.kernelsBy(t.Software, gpu)
	}
	m := t.Model
	piece := func(tokens, flops, bytes float64) cost { return t.piece(gpu, gpu.BF16, tokens, flops, bytes) }
	tokens := float64(t.Micro * t.Seq / int64(t.CP))
	h, tp := float64(m.Hidden), float64(t.TP)
	share := 1.0 // share of the sequence, in norms and residuals
	if t.Sequence {
		share = 1 / tp
	}
	norm, active, rotary := 22*h*share, 4*m.ActiveFFN()/tp, 0.0
	if m.Gated() {
		norm, active, rotary = 20*h*share, active*1.5, 4*m.Rotated()/tp
	}
	scores := 11 * m.Scores(t.Seq) / tp
	if t.Kernels != Unfused {
		scores = 0
	}
	flops := m.LayerFLOPs(1, t.Seq)
	core := m.CoreFLOPs(t.Seq)
	proj := flops*m.AttentionShare(t.Seq) - core
	mlp := flops - proj - core
	k := kernels{
		proj: t.product(gpu, tokens, proj, norm/2+rotary, m.MixerWidth()/tp),
		core: piece(tokens, core, scores),
		mlp:  t.product(gpu, tokens, mlp, norm/2+active, m.FFNWidth()/tp),
		head: piece(tokens, m.HeadFLOPs(1, t.Seq), 16*float64(m.Vocab)/tp),
	}
	k.core.inputs, k.core.weights = k.core.inputs+k.core.weights, 0 // no weights there
	if t.Recompute == partition.RecomputeSelective && t.Kernels == Unfused {
		k.core.inputs += k.core.forward // FlashAttention's kernel does so within its efficiency
	}
	return k
}

// gpuKinds are the kinds of GPUs that the step runs on.
func (t *Training) gpuKinds() (kinds []model.GPU) {
	for _, gpu := range t.Each {
		if !slices.Contains(kinds, gpu) {
			kinds = append(kinds, gpu)
		}
	}
	if kinds == nil {
		kinds = []model.GPU{t.GPU}
	}
	return kinds
}

// allKernels returns the parts on each kind of GPU, and the kind of each rank.
func (t *Training) allKernels() (kinds []kernels, kind []int) {
	all := t.gpuKinds()
	for _, gpu := range all {
		kinds = append(kinds, t.kernelsOn(gpu))
	}
	kind = make([]int, t.Ranks())
	for r := range t.Each {
		kind[r] = slices.Index(all, t.Each[r])
	}
	return kinds, kind
}

// Smallest is the GPU that has the least memory.
func (t *Training) Smallest() (least model.GPU) {
	for i, gpu := range t.gpuKinds() {
		if i == 0 || gpu.Usable < least.Usable {
			least = gpu
		}
	}
	return least
}

// Fastest is the GPU with the highest peak, of equal ones that with the fastest memory, and whether the step runs on
// several kinds of GPUs.
func (t *Training) Fastest() (fastest model.GPU, mixed bool) {
	kinds := t.gpuKinds()
	fastest = slices.MaxFunc(kinds, func(a, b model.GPU) int {
		return cmp.Or(cmp.Compare(t.PeakOf(a), t.PeakOf(b)), cmp.Compare(a.HBM, b.HBM))
	})
	return fastest, len(kinds) > 1
}

// Peak returns the total rate of the GPUs of all built ranks in the training's precision, in FLOP/s; a folded rank
// represents a group.
func (t *Training) Peak() (sum float64) {
	if t.Each == nil {
		return float64(t.GPUs()) * t.PeakOf(t.GPU)
	}
	for i := range t.Each {
		sum += t.PeakOf(t.Each[i]) * float64(t.TP/t.tensorRanks())
	}
	return sum
}

// GPUOf is the GPU of a built rank.
func (t *Training) GPUOf(rank int) model.GPU {
	if t.Each != nil {
		return t.Each[rank]
	}
	return t.GPU
}

// piece converts operations per token at a peak, of all tensor parallel ranks, and streamed bytes per token, of one
// rank, to times on a GPU.
func (t *Training) piece(gpu model.GPU, peak, tokens, flops, bytes float64) cost {
	matmul := unit.FromSeconds(tokens * flops / float64(t.TP) / (peak * (t.Efficiency / 100)))
	if t.Kernels == Flat || t.Kernels == "" {
		return cost{matmul, matmul, matmul}
	}
	stream := unit.Serialize(unit.Bytes(min(tokens*bytes, 9e18)), gpu.HBM)
	return cost{matmul + stream, matmul + 2*stream, matmul}
}

// longestPass bounds the computation of one kind of all layers in a microbatch. Sums of it stay far below the
// maximum of a picosecond clock.
const longestPass = 100 * 3600 * unit.Second

// checkTimes rejects unrealistic work whose times would overflow.
func (t *Training) checkTimes() error {
	var all []cost
	for _, gpu := range t.gpuKinds() {
		k := t.kernelsOn(gpu)
		all = append(all, k.proj, k.core, k.mlp, k.head)
	}
	for _, c := range all {
		if d := max(c.forward, c.inputs, c.weights); d > longestPass/unit.Time(t.Model.Layers) {
			return field.New("micro_batch",
				"%s of %v each are more than the %v of computing per microbatch that are taken; micro_batch, sequence, efficiency and the model's sizes decide it",
				unit.Plural(t.Model.Layers, "layer"), d, longestPass)
		}
	}
	return nil
}

// LayerTimes returns a layer's forward and backward computation time for one microbatch, and the output
// projection's. Recomputation is in the backward time.
func (t *Training) LayerTimes() (forward, backward, head unit.Time) {
	k := t.kernels()
	forward = k.proj.forward + k.core.forward + k.mlp.forward
	backward = k.proj.backward() + k.core.backward() + k.mlp.backward()
	if t.Recompute == partition.RecomputeFull {
		backward += forward
	}
	return forward, backward, k.head.forward + k.head.backward()
}

// AttentionTimes returns the time of a layer's attention scores, forward and backward; WeightTime that of its weight
// gradients.
func (t *Training) AttentionTimes() (forward, backward unit.Time) {
	k := t.kernels()
	return k.core.forward, k.core.inputs
}

// WeightTime returns the time that a layer's weight gradients of a microbatch take.
func (t *Training) WeightTime() unit.Time {
	k := t.kernels()
	return k.proj.weights + k.mlp.weights
}

// OptimizerTime returns the time of the update. It streams gradients, master weights and both Adam moments through
// the GPU's memory, 28 bytes per parameter of a rank.
func (t *Training) OptimizerTime(params float64) unit.Time { return t.updateTime(params, t.GPU) }

func (t *Training) updateTime(params float64, gpu model.GPU) unit.Time {
	if t.ZeRO > 0 {
		params /= float64(t.DP * t.CP)
	}
	return unit.Serialize(unit.Bytes(28*params), gpu.HBM)
}
