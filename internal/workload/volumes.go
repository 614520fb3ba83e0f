package workload

import (
	"railyard/internal/coll"
	"railyard/internal/partition"
	"railyard/unit"
)

// activations is the size of a microbatch between layers, all tensor parallel ranks
// together.
func (t *Training) activations() unit.Bytes {
	return unit.Bytes(t.Micro * t.Seq / int64(t.CP) * t.Model.Hidden * 2)
}

// Routed returns the input bytes of a layer's feed-forward part. With experts on other ranks, each token counts
// once per expert.
func (t *Training) Routed() unit.Bytes {
	if t.EP > 1 {
		return unit.Bytes(float64(t.Micro*t.Seq/int64(t.CP)*2) * t.Model.Dispatched())
	}
	return unit.Bytes(float64(t.activations()) * t.Model.FFNShare())
}

// mixed is the size of a microbatch on which the mean layer's attention works, or a Mamba-2 block of a hybrid,
// whose layers have one part each.
func (t *Training) mixed() unit.Bytes {
	return unit.Bytes(float64(t.activations()) * t.Model.MixerShare())
}

// Keys is the size of a rank's keys and values in a layer.
func (t *Training) Keys() unit.Bytes {
	return unit.Bytes(float64(2*t.Micro*t.Seq/int64(t.CP)) * t.Model.Keys() / float64(t.TP))
}

// ringTime returns the time of a tensor parallel group's ring over NVLink alone. In a mesh all send to all in
// parallel.
func (t *Training) ringTime(kind coll.Kind, b unit.Bytes) unit.Time {
	if t.switched(kind, b) {
		return unit.Serialize(coll.NVLSBytes(t.Switch, t.TP, b), t.NVLink) + t.NVLatency
	}
	rounds := t.TP - 1
	if t.Mesh && t.TP > 2 {
		rounds = 1
	}
	if kind == coll.AllReduce {
		rounds *= 2
	}
	each := unit.Serialize((b+unit.Bytes(t.TP)-1)/unit.Bytes(t.TP), t.NVLink) + t.NVLatency
	return unit.Time(rounds) * each
}

// TensorTimes returns the time that a layer's tensor parallel collectives take, forward and backward, over NVLink
// alone.
func (t *Training) TensorTimes() (forward, backward unit.Time) {
	for _, b := range t.tensorBlocks() {
		forward, backward = forward+b[0], backward+b[1]
	}
	return forward, backward
}

// tensorBlocks returns these times of the mixer and of the feed-forward part.
func (t *Training) tensorBlocks() (blocks [2][2]unit.Time) {
	if t.TP == 1 {
		return blocks
	}
	for i, b := range []unit.Bytes{t.mixed(), t.Routed()} {
		if i > 0 && t.OverTP { // tokens stay shared out
			break
		}
		forward, backward := t.ringTime(coll.AllReduce, b), t.ringTime(coll.AllReduce, b)
		if t.Sequence {
			scatter := t.ringTime(coll.ReduceScatter, b)
			forward, backward = t.ringTime(coll.AllGather, b)+scatter, t.ringTime(coll.AllGather, 2*b)+scatter
		}
		if t.Recompute == partition.RecomputeFull {
			backward += forward
		}
		blocks[i] = [2]unit.Time{forward, backward}
	}
	return blocks
}

// ShownTensorTime returns the part of a layer's tensor parallel time, forward and backward, that no computing hides:
// hidden transfers are under way while their block computes, which waits for them at its end.
func (t *Training) ShownTensorTime() (shown unit.Time) {
	k, share := t.kernels(), t.HiddenTensor()
	compute := [2][2]unit.Time{{k.proj.forward + k.core.forward, k.proj.backward() + k.core.backward()},
		{k.mlp.forward, k.mlp.backward()}}
	for i, block := range t.tensorBlocks() {
		if t.Recompute == partition.RecomputeFull {
			compute[i][1] += compute[i][0]
		}
		for pass, all := range block {
			hidden := unit.Time(share * float64(all))
			shown += all - min(hidden, compute[i][pass])
		}
	}
	return shown
}

// ReceiveTime returns the time that a stage takes to gather, over NVLink, an activation that another stage sent in
// shares.
func (t *Training) ReceiveTime() unit.Time {
	if t.TP == 1 || t.Sequence || !t.ScatterGather {
		return 0
	}
	return t.ringTime(coll.AllGather, t.activations())
}

// TensorBytes returns the bytes that a rank sends in a layer's tensor parallel collectives per microbatch.
func (t *Training) TensorBytes() float64 {
	rounds := 4.0 // all-reduces count twice
	if t.Sequence {
		rounds = 5
	}
	if t.Recompute == partition.RecomputeFull {
		rounds += 2
	}
	blocks := t.mixed()
	if !t.OverTP {
		blocks += t.Routed()
	}
	return rounds * float64(blocks) * float64(t.TP-1) / float64(t.TP)
}

// units returns the number of gathered layers of a part, counting the head, and the embedding if it is separate.
func (t *Training) units(part int) int {
	n := int(t.Layers(t.Model, part))
	if part == t.Chunks()-1 || n == 0 {
		n++
	}
	return n
}

// params returns the parameters of one rank in a layer of a part. The embedding belongs to the first layer, or is a
// separate part. Layer number Layers of the last part is the head.
func (t *Training) params(part, l int) (dense, sparse float64) {
	m := t.Model
	tp := float64(t.TP)
	head := float64(m.Vocab * m.Hidden)
	if l == int(t.Layers(m, part)) && part > 0 || t.Chunks() == 1 && l == int(m.Layers) {
		if m.Tied && t.Chunks() == 1 {
			return 0, 0 // the embedding itself
		}
		return (head + float64(m.Hidden)) / tp, 0
	}
	sparse = float64(m.ExpertParams())
	dense = float64(m.LayerParams()) - sparse
	if t.Layers(m, part) == 0 {
		dense, sparse = 0, 0
	}
	if part == 0 && l == 0 {
		dense += float64(m.EmbeddingParams() - m.Hidden)
		if !m.Tied {
			dense -= head
		}
	}
	return dense / tp, sparse / float64(t.ExpertTP()*t.EP)
}

// StageParams returns the parameters of one rank of a pipeline stage: those that all replicas share, and its
// experts.
func (t *Training) StageParams(stage int) (dense, sparse float64) {
	for v := range t.VPP {
		part := v*t.PP + stage
		for l := range t.units(part) {
			d, s := t.params(part, l)
			dense, sparse = dense+d, sparse+s
		}
	}
	return dense, sparse
}
