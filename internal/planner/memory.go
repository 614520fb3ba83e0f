package planner

import (
	"fmt"

	"railyard/internal/model"
	"railyard/unit"
)

// Recomputation of activations in the backward pass.
const (
	RecomputeNone      = "none"      // everything is kept
	RecomputeSelective = "selective" // the attention's large intermediates are made again
	RecomputeFull      = "full"      // only each layer's input is kept
)

// Schedules of a pipeline.
const (
	GPipe       = "gpipe"       // all forward passes, then all backward passes
	OneFOneB    = "1f1b"        // one forward, one backward
	Interleaved = "interleaved" // 1f1b with several model chunks per rank
	ZeroBubble  = "zero-bubble" // ZB-H1: weight gradients fill the bubble
)

// Layout is how a model is spread over GPUs.
type Layout struct {
	TP, PP, DP   int
	CP           int // context parallel ranks: a sequence is cut into so many parts
	EP           int // expert parallel ranks, out of the data parallel ones
	VPP          int // model chunks per rank, for interleaved
	ZeRO         int // 0 to 3
	Sequence     bool
	Recompute    string
	Schedule     string
	Micro        int64 // sequences per microbatch
	Microbatches int   // per replica and step
	Seq          int64 // tokens
}

// StateBytes are mixed precision's bytes per parameter with Adam: parameters and
// gradients in 16 bit; master copy, momentum and variance in 32 bit (ZeRO paper,
// HANDBOOK.md 10.4).
const (
	paramBytes = 2
	gradBytes  = 2
	optBytes   = 12
	StateBytes = paramBytes + gradBytes + optBytes
)

// RankMemory is what a rank of one pipeline stage holds.
type RankMemory struct {
	Stage       int        `json:"stage"`
	Layers      int64      `json:"layers"`
	Params      int64      `json:"parameters"` // of this rank, before ZeRO
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

// Check refuses layouts that do not divide the model.
func (l Layout) Check(m *model.Config) error {
	for _, f := range []struct {
		name string
		v    int
	}{{"tp", l.TP}, {"pp", l.PP}, {"dp", l.DP}, {"cp", l.CP}, {"ep", l.EP}, {"vpp", l.VPP}, {"microbatches", l.Microbatches}} {
		if f.v < 1 || f.v > 1<<20 {
			return fmt.Errorf("%s must lie between 1 and %d, found %d", f.name, 1<<20, f.v)
		}
	}
	chunks := int64(l.PP) * int64(l.VPP)
	switch {
	case l.ZeRO < 0 || l.ZeRO > 3:
		return fmt.Errorf("zero stage %d does not exist; accepted: 0 to 3", l.ZeRO)
	case m.Heads%int64(l.TP) != 0:
		return fmt.Errorf("tp %d does not divide the %d attention heads of %s", l.TP, m.Heads, m.Name)
	case m.Layers%chunks != 0:
		return fmt.Errorf("pp %d times vpp %d does not divide the %d layers of %s", l.PP, l.VPP, m.Layers, m.Name)
	case l.VPP > 1 && l.Schedule != Interleaved:
		return fmt.Errorf("vpp %d needs the schedule %s", l.VPP, Interleaved)
	case l.Schedule == Interleaved && l.PP > 1 && l.Microbatches%l.PP != 0:
		return fmt.Errorf("interleaving needs a multiple of pp %d microbatches, found %d", l.PP, l.Microbatches)
	case l.EP > 1 && (m.Experts == 0 || m.Experts%int64(l.EP) != 0):
		return fmt.Errorf("ep %d does not divide the %d experts of %s", l.EP, m.Experts, m.Name)
	case l.EP > 1 && (l.DP*l.CP)%l.EP != 0:
		return fmt.Errorf("ep %d does not divide dp %d times cp %d, whose ranks it takes", l.EP, l.DP, l.CP)
	case l.Seq < 1 || l.Seq > 1<<24 || l.Seq%int64(l.CP) != 0:
		return fmt.Errorf("a sequence of %d tokens is not cut into cp %d parts", l.Seq, l.CP)
	case l.Micro < 1 || l.Micro > 1<<20:
		return fmt.Errorf("micro batch must lie between 1 and %d, found %d", 1<<20, l.Micro)
	}
	switch l.Schedule {
	case GPipe, OneFOneB, Interleaved, ZeroBubble:
	default:
		return fmt.Errorf("schedule %q is not known; accepted: %s, %s, %s, %s", l.Schedule, GPipe, OneFOneB, Interleaved, ZeroBubble)
	}
	switch l.Recompute {
	case RecomputeNone, RecomputeSelective, RecomputeFull:
	default:
		return fmt.Errorf("recompute %q is not known; accepted: %s, %s, %s", l.Recompute, RecomputeNone, RecomputeSelective, RecomputeFull)
	}
	return nil
}

// GPUs is how many a layout takes.
func (l Layout) GPUs() int { return l.TP * l.PP * l.DP * l.CP }

// LayerActivations returns the bytes that one layer keeps per microbatch on a
// rank, in 16 bit (Korthikanti et al. 2022, table 2; HANDBOOK.md 10.3).
func (l Layout) LayerActivations(m *model.Config) float64 {
	t := float64(l.TP)
	sbh := float64(l.Seq/int64(l.CP)) * float64(l.Micro) * float64(m.Hidden)
	attention := 5 * float64(m.Heads) * float64(l.Seq) / float64(m.Hidden) // 5as/h
	switch {
	case l.Recompute == RecomputeFull && l.Sequence:
		return 2 * sbh / t
	case l.Recompute == RecomputeFull:
		return 2 * sbh
	case l.Recompute == RecomputeSelective && l.Sequence:
		return 34 * sbh / t
	case l.Recompute == RecomputeSelective:
		return sbh * (10 + 24/t)
	case l.Sequence:
		return sbh / t * (34 + attention)
	}
	return sbh * (10 + 24/t + attention/t)
}

// inFlight is how many microbatches' activations a stage keeps at once, in units
// of the whole stage.
func (l Layout) inFlight(stage int) float64 {
	m, p := float64(l.Microbatches), float64(l.PP)
	switch l.Schedule {
	case GPipe:
		return m
	case Interleaved:
		if stage == 0 && l.PP > 1 { // Korthikanti: p(1 + (p-1)/(p v))
			return min(m, p*(1+(p-1)/(p*float64(l.VPP))))
		}
		return min(m, p-float64(stage)+(p-1)/float64(l.VPP))
	}
	return min(m, p-float64(stage))
}

// Memory works out every pipeline stage of a layout.
func (l Layout) Memory(m *model.Config) ([]RankMemory, error) {
	if err := l.Check(m); err != nil {
		return nil, err
	}
	layers := m.Layers / int64(l.PP)
	dense, experts := m.LayerParams()-m.ExpertParams(), m.ExpertParams()
	var out []RankMemory
	for stage := range l.PP {
		shared := layers * dense
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
		expert := ceil(layers*experts, int64(l.TP)*int64(l.EP))
		r := RankMemory{Stage: stage + 1, Layers: layers, Params: shared + expert, InFlight: l.inFlight(stage)}
		// ZeRO spreads states over all ranks that hold the same parameters.
		replicas, expertReplicas := int64(l.DP)*int64(l.CP), int64(l.DP)*int64(l.CP)/int64(l.EP)
		state := func(bytes int64, spread bool) unit.Bytes {
			if spread {
				return unit.Bytes(ceil(bytes*shared, replicas) + ceil(bytes*expert, expertReplicas))
			}
			return unit.Bytes(bytes * (shared + expert))
		}
		r.Weights, r.Gradients, r.Optimizer = state(paramBytes, l.ZeRO >= 3), state(gradBytes, l.ZeRO >= 2), state(optBytes, l.ZeRO >= 1)
		act := l.LayerActivations(m) * float64(layers) * r.InFlight
		if stage == l.PP-1 { // logits in 32 bit, of one microbatch
			act += 4 * float64(l.Seq/int64(l.CP)) * float64(l.Micro) * float64(m.Vocab) / float64(l.TP)
		}
		if act > 1e18 {
			return nil, fmt.Errorf("activations of %g bytes are beyond any GPU", act)
		}
		r.Activations = unit.Bytes(act)
		if l.ZeRO >= 3 { // the layer at work and the one fetched ahead are gathered
			r.Buffers = unit.Bytes(2 * paramBytes * (ceil(dense, int64(l.TP)) + ceil(experts, int64(l.TP)*int64(l.EP))))
		}
		out = append(out, r)
	}
	return out, nil
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// ZeROBytes is what a GPU holds of the states of so many parameters that n GPUs
// share at a ZeRO stage (Rajbhandari et al. 2020, figure 1).
func ZeROBytes(params, n float64, stage int) float64 {
	b := 0.0
	for _, s := range []struct{ bytes, from int }{{optBytes, 1}, {gradBytes, 2}, {paramBytes, 3}} {
		if stage >= s.from {
			b += float64(s.bytes) * params / n
		} else {
			b += float64(s.bytes) * params
		}
	}
	return b
}

// Fits returns how many GPUs hold so many bytes per parameter, and how many with a
// share of the memory lost to activations and fragmentation (seed: 35 and 300
// GPUs for the states of GPT-3 and GPT-4, 400 for GPT-4 at 75 % efficiency).
func Fits(params float64, bytesPer float64, memory unit.Bytes, efficiency float64) int64 {
	n := params * bytesPer / efficiency / float64(memory)
	return int64(n + 1 - 1e-9)
}
