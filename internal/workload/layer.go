package workload

import (
	"railyard/internal/coll"
	"railyard/unit"
)

var tensorNames = map[coll.Kind]string{coll.AllReduce: "tp all-reduce", coll.AllGather: "tp all-gather",
	coll.ReduceScatter: "tp reduce-scatter"}

// tensor makes every tensor parallel group of a stage run a collective of b bytes.
func (s *step) tensor(p int, kind coll.Kind, b unit.Bytes) (out []arrival) {
	if s.TP == 1 || b == 0 { // a hybrid may lack a part
		return nil
	}
	for _, ranks := range s.seats[p] {
		if s.Fold {
			id := s.b.Compute(ranks[0], s.ringTime(kind, b), TensorParallel, s.pending(ranks[0])...)
			out = append(out, arrival{ranks[0], id})
			continue
		}
		ready := make([][]int32, len(ranks))
		for i, r := range ranks {
			ready[i] = s.pending(r)
		}
		run, by := s.within(kind, b, ranks)
		s.b.Collective(Collective{tensorNames[kind], kind, TensorParallel, b, ranks, by, 0}, func() {
			for i, d := range run(s.b, ranks, b, ready) {
				if by == coll.ByRing {
					d = d[:1]
				}
				for _, id := range d {
					out = append(out, arrival{ranks[i], id})
				}
			}
		})
	}
	return out
}

// enter and leave surround a block. With sequence parallelism the tokens are gathered before it and the partial
// sums scattered after it; otherwise the sums are all-reduced after it (Korthikanti et al. 2022, figure 5). enter
// gathers the given multiple of b bytes.
func (s *step) enter(p int, b unit.Bytes, times unit.Bytes) {
	if s.Sequence {
		s.await(s.tensor(p, coll.AllGather, times*s.shown(b)))
	}
	s.behind(p, b, times)
}

func (s *step) leave(p int, b unit.Bytes) []arrival {
	s.joined(p)
	if s.Sequence {
		return s.tensor(p, coll.ReduceScatter, s.shown(b))
	}
	return s.tensor(p, coll.AllReduce, s.shown(b))
}

// layer is the forward pass of one layer.
func (s *step) layer(p int, c Class) {
	s.enter(p, s.mixed(), 1)
	s.attention(p, c)
	s.await(s.leave(p, s.mixed()))
	s.exchange(p)
	s.enter(p, s.Routed(), 1)
	s.each(p, func(k *kernels) unit.Time { return k.mlp.forward }, c)
	s.await(s.leave(p, s.Routed()))
	s.exchange(p)
}

// layerBack is the backward pass of one layer. postponed leaves the weight gradients to a later pass. It gathers
// the gradients and again the tokens for the weight gradients, because with sequence parallelism a rank keeps only
// its share.
func (s *step) layerBack(p int, postponed bool) {
	s.exchange(p)
	s.enter(p, s.Routed(), 2)
	s.finish(p, func(k *kernels) *cost { return &k.mlp }, s.Routed(), postponed)
	s.exchange(p)
	s.enter(p, s.mixed(), 2)
	s.attentionBack(p)
	s.finish(p, func(k *kernels) *cost { return &k.proj }, s.mixed(), postponed)
}

// finish computes a block's gradients and reduces the gradients of its inputs; with overlap the weight gradients
// are computed meanwhile.
func (s *step) finish(p int, block func(*kernels) *cost, b unit.Bytes, postponed bool) {
	inputs := func(k *kernels) unit.Time { return block(k).inputs }
	weights := func(k *kernels) unit.Time { return block(k).weights }
	switch {
	case postponed:
		s.each(p, inputs, Backward)
		s.await(s.leave(p, b))
	case s.TensorOverlap && s.TP > 1:
		s.each(p, inputs, Backward)
		reduced := s.leave(p, b)
		s.each(p, weights, Backward)
		s.await(reduced)
	default:
		s.each(p, func(k *kernels) unit.Time { return block(k).backward() }, Backward)
		s.await(s.leave(p, b))
	}
}

// attention is the forward pass of the attention block. With context parallelism keys and values pass around a
// ring, while each rank's queries use the received ones (Liu et al. 2023, Ring Attention).
func (s *step) attention(p int, c Class) {
	if s.CP == 1 {
		s.each(p, func(k *kernels) unit.Time { return k.proj.forward + k.core.forward }, c)
		return
	}
	s.each(p, func(k *kernels) unit.Time { return k.proj.forward }, c)
	have := map[int]int32{}
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			have[r] = s.last[r]
		}
	}
	piece := func(k *kernels) unit.Time { return k.core.forward / unit.Time(s.CP) }
	s.each(p, piece, c)
	for range s.CP - 1 {
		have = s.rotate(p, s.Keys(), func(r int) []int32 { return []int32{have[r]} })
		for _, ranks := range s.seats[p] {
			for _, r := range ranks {
				s.hold(r, have[r])
			}
		}
		s.each(p, piece, c)
	}
}

// attentionBack is the backward pass of the scores. Keys and values pass around the ring again, and after them the
// gradients, to which each rank adds and which finally return to their ranks.
func (s *step) attentionBack(p int) {
	if s.CP == 1 {
		s.each(p, func(k *kernels) unit.Time { return k.core.inputs }, Backward)
		return
	}
	piece := func(k *kernels) unit.Time { return k.core.inputs / unit.Time(s.CP) }
	start := map[int][]int32{}
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			start[r] = s.pending(r)
		}
	}
	s.each(p, piece, Backward)
	keys := func(r int) []int32 { return start[r] }
	have, sums := map[int]int32{}, map[int]int32{}
	for k := range s.CP - 1 {
		if k > 0 {
			before := have
			keys = func(r int) []int32 { return []int32{before[r]} }
		}
		have = s.rotate(p, s.Keys(), keys)
		sums = s.sums(p, sums)
		for _, ranks := range s.seats[p] {
			for _, r := range ranks {
				s.hold(r, have[r])
			}
		}
		s.each(p, piece, Backward)
	}
	for r, id := range s.sums(p, sums) {
		s.hold(r, id)
	}
}

// sums passes on the gradients of keys and values: the received ones plus the rank's own.
func (s *step) sums(p int, came map[int]int32) map[int]int32 {
	return s.rotate(p, s.Keys(), func(r int) []int32 {
		if id, ok := came[r]; ok {
			return []int32{id, s.last[r]}
		}
		return []int32{s.last[r]}
	})
}

// rotate sends b bytes from every rank of a stage to the next one of its context parallel ring. It returns what
// arrives, by rank.
func (s *step) rotate(p int, b unit.Bytes, after func(rank int) []int32) map[int]int32 {
	in := map[int]int32{}
	for dp := range s.DP {
		for i := range s.tensorRanks() {
			ranks := make([]int, s.CP)
			for c := range ranks {
				ranks[c] = s.seats[p][dp*s.CP+c][i]
			}
			s.b.Collective(Collective{"cp ring", coll.SendRecv, ContextParallel, b, ranks, coll.ByRing, 0},
				func() {
					for c, r := range ranks {
						next := ranks[(c+1)%s.CP]
						in[next] = s.b.Transfer(r, next, b, after(r)...)
					}
				})
		}
	}
	return in
}
