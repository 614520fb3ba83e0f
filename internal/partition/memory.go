package partition

import (
	"fmt"

	"railyard/internal/model"
	"railyard/unit"
)

// StateBytes are mixed precision's bytes per parameter with Adam: parameters and gradients in 16 bit; master copy,
// momentum and variance in 32 bit (ZeRO paper, docs/references.md, zero). That is 16 TB for a trillion parameters; a
// source document has the same formula, (4+12) bytes, and states about 24 TB.
const (
	paramBytes = 2
	GradBytes  = 2 // unless a layout has others
	optBytes   = 12
	StateBytes = paramBytes + GradBytes + optBytes
)

// SavedBytes is the bytes per parameter in a checkpoint: all but the gradients.
const SavedBytes = paramBytes + optBytes

// WeightBytes is the bytes per parameter in bf16, the only state for inference: 16, 140 and 810 GB for 8, 70 and 405
// billion (one source's figure 13-3, which states at least 10 GPUs of 80 GB for the last; they would lack 10 GB).
const WeightBytes = paramBytes

// RankMemory is the memory of a rank of one pipeline stage.
type RankMemory struct {
	Stage       int        `json:"stage"`
	Layers      int64      `json:"layers"`
	Params      int64      `json:"parameters"` // parameters of this rank, before ZeRO
	Weights     unit.Bytes `json:"weight_bytes"`
	Gradients   unit.Bytes `json:"gradient_bytes"`
	Optimizer   unit.Bytes `json:"optimizer_bytes"`
	Activations unit.Bytes `json:"activation_bytes"`
	Buffers     unit.Bytes `json:"buffer_bytes"`
	InFlight    float64    `json:"microbatches_in_flight"`
}

// Total adds it up.
func (m RankMemory) Total() unit.Bytes {
	return m.Weights + m.Gradients + m.Optimizer + m.Activations + m.Buffers
}

// Gradient returns the bytes of a gradient element. Megatron-LM adds up gradients of bf16 weights in 32 bit, 6 + 12/d
// bytes per parameter with its distributed optimizer (docs/references.md, software).
func (l Layout) Gradient() int64 {
	if l.GradBytes == 0 {
		return GradBytes
	}
	return l.GradBytes
}

// LayerActivations returns the bytes that one layer keeps per microbatch on a rank (docs/references.md, activations).
func (l Layout) LayerActivations(m *model.Config) float64 { return l.Activations(m, 0, 1) }

// Activations returns the bytes that the layers from one to before another keep per microbatch on a rank.
func (l Layout) Activations(m *model.Config, from, to int64) (sum float64) {
	for layer := from; layer < to; layer++ {
		switch k, ops := m.KeepsOps(layer); {
		case l.Recompute == RecomputeFull: // its input
			sum += l.keeping(model.Kept{Outer: float64(m.Hidden)})
		case l.Recompute == RecomputeSelective && l.stack().ops && ops:
			sum += l.keeping(k)
		default:
			sum += l.keeping(m.Keeps(layer))
		}
	}
	return sum
}

// keeping returns the bytes of a layer's activations, 16 bit values. Unfused attention without recomputation also keeps
// its scores: 5 bytes per head and pair of tokens (Korthikanti et al. 2022, table 2). FlashAttention never stores them.
func (l Layout) keeping(k model.Kept) float64 {
	t := float64(l.TP)
	outer := t // ranks that share the tokens
	if !l.Sequence {
		outer = 1
	}
	tokens := float64(l.Seq/int64(l.CP)) * float64(l.Micro)
	values := k.Outer/outer + k.Inner/t + k.Routed*float64(l.ExpertTP())/t
	scores := 0.0
	if l.Recompute == RecomputeNone && l.Unfused {
		scores = 5 * k.Heads * float64(l.Seq) / t
	}
	return tokens * (2*values + scores)
}

// again is the most bytes that a layer of a stage needs while full recomputation makes them again.
func (l Layout) again(m *model.Config, stage int) (most float64) {
	if l.Recompute != RecomputeFull {
		return 0
	}
	for _, part := range l.Parts(m, stage) {
		for layer := part[0]; layer < part[1]; layer++ {
			most = max(most, l.keeping(m.Keeps(layer)))
		}
	}
	return most
}

// InFlight returns the number of microbatches whose activations a stage holds at the same time, in units of the whole
// stage.
func (l Layout) InFlight(stage int) float64 {
	m, p := float64(l.Microbatches), float64(l.PP)
	switch l.Schedule {
	case GPipe:
		return m
	case ZeroBubble: // weight gradients are postponed, so every stage keeps the activations of the first
		return min(m, p)
	case Interleaved:
		// Activations of the passes before the first backward pass, and of that pass (stage 0: p(1 + (p-1)/(p v)),
		// Korthikanti).
		v := float64(l.VPP)
		return min(m, (2*(p-float64(stage)-1)+(v-1)*p+1)/v)
	}
	return min(m, p-float64(stage))
}

// Memory works out every pipeline stage of a layout.
func (l Layout) Memory(m *model.Config) ([]RankMemory, error) {
	if err := l.Check(m); err != nil {
		return nil, err
	}
	var out []RankMemory
	for stage := range l.PP {
		layers, shared, experts, pair, act := int64(0), int64(0), int64(0), int64(0), 0.0
		for _, part := range l.Parts(m, stage) {
			s, e := m.Span(part[0], part[1])
			layers, shared, experts = layers+part[1]-part[0], shared+s, experts+e
			pair = max(pair, l.largestPair(m, part))
			act += l.Activations(m, part[0], part[1])
		}
		head := m.Vocab * m.Hidden
		if stage == 0 {
			shared += m.EmbeddingParams()
			if !m.Tied {
				shared -= head
			}
		}
		if stage == l.PP-1 && (!m.Tied || l.PP > 1) {
			shared += head // the output projection; a tied one is a copy of the embedding
		}
		shared = ceil(shared, int64(l.TP))
		expert := ceil(experts, int64(l.ExpertTP())*int64(l.EP))
		r := RankMemory{Stage: stage + 1, Layers: layers, Params: shared + expert, InFlight: l.InFlight(stage)}
		// ZeRO spreads states over all ranks that hold the same parameters.
		replicas, expertReplicas := int64(l.DP)*int64(l.CP), int64(l.ExpertRanks())/int64(l.EP)
		state := func(bytes int64, spread bool) unit.Bytes {
			if spread {
				return unit.Bytes(ceil(bytes*shared, replicas) + ceil(bytes*expert, expertReplicas))
			}
			return unit.Bytes(bytes * (shared + expert))
		}
		r.Weights, r.Gradients, r.Optimizer = state(paramBytes, l.ZeRO >= 3), state(l.Gradient(), l.ZeRO >= 2),
			state(optBytes, l.ZeRO >= 1)
		if l.Schedule == TwoVersions { // the one in use and the one being built
			r.Weights *= 2
		}
		act *= r.InFlight
		work := l.again(m, stage)
		if stage == l.PP-1 { // the loss of one microbatch, before the first layer is made again
			logits := l.logitBytes() * float64(l.Seq/int64(l.CP)) * float64(l.Micro) * float64(m.Vocab) / float64(l.TP)
			work = max(work, logits+float64(l.head(ceil(head, int64(l.TP)))))
		}
		act += work
		if act > 1e18 {
			return nil, fmt.Errorf("activations of %g bytes are beyond any GPU", act)
		}
		r.Activations = unit.Bytes(act)
		r.Buffers = l.gathered(shared+expert, pair)
		out = append(out, r)
	}
	return out, nil
}

// largestPair returns the most parameters of a rank in two successive layers of a part; one layer counts twice.
func (l Layout) largestPair(m *model.Config, part [2]int64) (most int64) {
	last := int64(0)
	for at := part[0]; at < part[1]; at++ {
		s, e := m.Span(at, at+1)
		one := ceil(s, int64(l.TP)) + ceil(e, int64(l.ExpertTP())*int64(l.EP))
		if at == part[0] {
			last = one
		}
		most, last = max(most, last+one), one
	}
	return most
}

// MostMemory is the percentage of a GPU's memory that a layout may fill: the rest is for fragmentation, the
// communication library and the framework.
const MostMemory = 90

// Fillable returns the part of a GPU's memory that a layout may fill.
func Fillable(memory unit.Bytes) unit.Bytes { return memory / 100 * MostMemory }

// Worst returns the stage whose ranks hold most.
func (l Layout) Worst(m *model.Config) (RankMemory, error) {
	stages, err := l.Memory(m)
	if err != nil {
		return RankMemory{}, err
	}
	worst := stages[0]
	for _, r := range stages {
		if r.Total() > worst.Total() {
			worst = r
		}
	}
	return worst, nil
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// ZeROBytes returns the bytes of parameter states on each of n GPUs that share them at a ZeRO stage (Rajbhandari et
// al. 2020, figure 1).
func ZeROBytes(params, n float64, stage int) float64 {
	b := 0.0
	for _, s := range []struct{ bytes, from int }{{optBytes, 1}, {GradBytes, 2}, {paramBytes, 3}} {
		if stage >= s.from {
			b += float64(s.bytes) * params / n
		} else {
			b += float64(s.bytes) * params
		}
	}
	return b
}

// Fits returns the number of GPUs for the given bytes per parameter, and the number with a share of the memory lost to
// activations and fragmentation (source document: 35 and 300 GPUs for the states of GPT-3 and GPT-4, 400 for GPT-4 at
// 75 % efficiency).
func Fits(params float64, bytesPer float64, memory unit.Bytes, efficiency float64) int64 {
	n := params * bytesPer / efficiency / float64(memory)
	return int64(n + 1 - 1e-9)
}
