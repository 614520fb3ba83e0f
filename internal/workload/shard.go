package workload

import (
	"railyard/internal/coll"
	"railyard/unit"
)

// pool is gradients of one rank's dense parameters and of its experts.
type pool struct{ dense, sparse unit.Bytes }

// collect makes groups of ranks that share parameters run a collective after the last one of its chain. It returns
// the deliveries.
func (s *step) collect(groups [][]int, chain [][]int32, kind coll.Kind, name string, b unit.Bytes) (out []arrival) {
	run := coll.Ring(kind)
	by, channels := coll.ByRing, s.Rings()
	if kind == coll.AllReduce {
		if run, _ = coll.AllReduceBy(s.Algorithm, s.DP*s.CP, s.on()); s.Algorithm == coll.ByNVLSTree {
			run = coll.NVLSTree(s.Switch, s.on())
		}
		by = usual(kind, s.Algorithm)
	}
	ring := by == coll.ByRing
	if !ring {
		channels = 1
	}
	for _, ranks := range groups {
		if len(ranks) < 2 || b <= 0 {
			continue
		}
		next := make([][]int32, len(ranks))
		s.b.Collective(Collective{name, kind, DataParallel, b, ranks, by, 0}, func() {
			for c := range channels {
				part := b*unit.Bytes(c+1)/unit.Bytes(channels) - b*unit.Bytes(c)/unit.Bytes(channels)
				order := coll.ChannelOrder(ranks, s.on(), c)
				in, ready := make([]int, len(ranks)), make([][]int32, len(ranks))
				for i, at := range order {
					in[i] = ranks[at]
					ready[i] = append(s.pending(in[i]), chain[in[i]]...)
				}
				for i, d := range run(s.b, in, part, ready) {
					if at := order[i]; ring {
						next[at] = append(next[at], d[0]) // the last operation of a rank; the rest existed before
					} else {
						next[at] = append(next[at], s.b.latest(d, ready[i])...)
					}
				}
			}
		})
		for i, r := range ranks {
			chain[r] = next[i]
			for _, id := range next[i] {
				out = append(out, arrival{r, id})
			}
		}
	}
	return out
}

// Rings returns how many rings side by side reduce gradients, and gather parameters.
func (t *Training) Rings() int {
	if t.Channels > 0 {
		return t.Channels
	}
	ranks := make([]int, 0, t.DP*t.CP)
	for e := range t.DP * t.CP {
		ranks = append(ranks, t.rank(0, e%t.CP, e/t.CP, 0))
	}
	return min(coll.MostChannels, t.on().Rings(ranks))
}

// on returns the positions of the built ranks.
func (t *Training) on() coll.Servers {
	switch {
	case t.Servers.Known():
		return t.Servers
	case t.Fold:
		return coll.Even(t.PerServer / t.TP).Meshed(t.Mesh)
	}
	return coll.Even(t.PerServer).Meshed(t.Mesh)
}

// fetched is the parameters of a pass in transfer (ZeRO 3).
type fetched struct {
	part int
	uses []int       // layers in the order the pass needs them
	in   [][]arrival // by use
	next int
}

// fetch starts to gather the parameters of a part's layers for one pass: those of the first use, and those within
// reach.
func (s *step) fetch(p, part int, back bool) {
	if s.ZeRO != 3 {
		return
	}
	f := &fetched{part: part, uses: s.uses(part, back)}
	f.in = make([][]arrival, len(f.uses))
	s.ahead[p] = f
	for i := range min(1+s.Prefetch, len(f.uses)) {
		s.gatherLayer(p, i)
	}
}

// uses lists a part's layers as a pass needs them: once each, and in the backward pass twice if recomputation does
// not keep them for the gradients.
func (s *step) uses(part int, back bool) (out []int) {
	n, layers := s.units(part), int(s.Layers(s.Model, part))
	for i := range n {
		if !back {
			out = append(out, i)
			continue
		}
		l := n - 1 - i
		out = append(out, l)
		if s.Regather && l < layers {
			out = append(out, l)
		}
	}
	return out
}

// use makes the ranks of a stage wait for the next parameters, and starts to gather the parameters that are now
// within reach.
func (s *step) use(p int) {
	if s.ZeRO != 3 {
		return
	}
	f := s.ahead[p]
	i := f.next
	f.next++
	if ahead := i + 1 + s.Prefetch; ahead < len(f.uses) {
		s.gatherLayer(p, ahead)
	}
	s.await(f.in[i])
}

// gatherLayer gathers the parameters of a pass's i-th use, piece by piece.
func (s *step) gatherLayer(p, i int) {
	f := s.ahead[p]
	dense, sparse := s.params(f.part, f.uses[i])
	n := max(1, s.Gathers)
	for range n {
		f.in[i] = append(f.in[i], s.collect(s.dense[p], s.gather, coll.AllGather, "dp all-gather",
			unit.Bytes(2*dense/float64(n)))...)
		f.in[i] = append(f.in[i], s.collect(s.sparse[p], s.gather, coll.AllGather, "dp all-gather",
			unit.Bytes(2*sparse/float64(n)))...)
	}
}

// begin gathers the parameters that the previous step's optimizer left in shares. It gathers in buckets, in the
// order of use by the first forward passes (ZeRO 1 and 2, Megatron's overlapped gather).
func (s *step) begin() {
	if !s.GatherAhead {
		return
	}
	for p := range s.PP {
		var w pool
		var waiting [][2]int
		for v := range s.VPP {
			part := v*s.PP + p
			n := s.units(part)
			for l := range n {
				dense, sparse := s.params(part, l)
				w.dense, w.sparse = w.dense+unit.Bytes(2*dense), w.sparse+unit.Bytes(2*sparse)
				waiting = append(waiting, [2]int{part, l})
				if w.dense+w.sparse < s.Bucket && !(v == s.VPP-1 && l == n-1) {
					continue
				}
				in := s.collect(s.dense[p], s.gather, coll.AllGather, "dp all-gather", w.dense)
				in = append(in, s.collect(s.sparse[p], s.gather, coll.AllGather, "dp all-gather", w.sparse)...)
				for _, at := range waiting {
					s.early[at] = in
				}
				w, waiting = pool{}, nil
			}
		}
	}
}

// first makes the ranks wait for a layer's parameters that were gathered at the
// beginning, once.
func (s *step) first(part, l int) {
	at := [2]int{part, l}
	s.await(s.early[at])
	delete(s.early, at)
}

// written is called when a layer's gradients of a microbatch are complete. They are reduced in buckets after the
// last microbatch, and with ZeRO 2, where a rank keeps only its share, after each. With ZeRO 3 they are reduced
// layer by layer.
func (s *step) written(p, part, l, k int, postponed bool) {
	if postponed || s.ZeRO < 2 && !s.lastMicro(k) {
		return
	}
	dense, sparse := s.params(part, l)
	w := &s.pool[p]
	w.dense += unit.Bytes(dense * float64(s.Gradient()))
	w.sparse += unit.Bytes(sparse * float64(s.Gradient()))
	s.reduce(p, s.dense[p], &w.dense, l == 0)
	s.reduce(p, s.sparse[p], &w.sparse, l == 0)
}

// lastMicro reports whether a microbatch is its step's last.
func (s *step) lastMicro(k int) bool { return k%s.Microbatches == s.Microbatches-1 }

// reduce takes full buckets out of a stage's gradients, or everything.
func (s *step) reduce(p int, groups [][]int, pending *unit.Bytes, all bool) {
	kind, name := coll.AllReduce, "dp all-reduce"
	if s.ZeRO > 0 {
		kind, name = coll.ReduceScatter, "dp reduce-scatter"
	}
	if s.ZeRO == 3 {
		s.collect(groups, s.chain, kind, name, *pending)
		*pending = 0
		return
	}
	for all && *pending > 0 || s.Overlap && *pending >= s.Bucket {
		b := min(*pending, s.Bucket)
		s.collect(groups, s.chain, kind, name, b)
		*pending -= b
	}
}

// optimizer ends the step. Each rank updates its parameters, or its share of them. With ZeRO 1 and 2 the shares are
// gathered, here or in the next step.
func (s *step) optimizer() {
	for p := range s.PP {
		s.update(p, s.chain)
		if dense, sparse := s.StageParams(p); (s.ZeRO == 1 || s.ZeRO == 2) && !s.GatherAhead {
			s.spread(s.dense[p], unit.Bytes(2*dense))
			s.spread(s.sparse[p], unit.Bytes(2*sparse))
		}
	}
}

// update makes the ranks of a stage wait for reduced gradients and update their parameters.
func (s *step) update(p int, reduced [][]int32) {
	dense, sparse := s.StageParams(p)
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			s.hold(r, reduced[r]...)
			s.op(r, s.updateTime(dense+sparse, s.GPUOf(r)), Optimizer)
			s.startNext(r)
		}
	}
}

// keep records which reductions have the gradients of the step whose last microbatch has been emitted; the update
// does not wait for later ones.
func (s *step) keep(p int) {
	of := make([][]int32, len(s.chain))
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			of[r] = s.chain[r]
		}
	}
	s.kept[p] = append(s.kept[p], of)
}

// updateBy updates a stage's parameters by the gradients of a step.
func (s *step) updateBy(p, step int) { s.update(p, s.kept[p][step]) }

// spread gathers updated parameters in buckets; the next step waits for them.
func (s *step) spread(groups [][]int, left unit.Bytes) {
	var in []arrival
	for left > 0 {
		b := min(left, s.Bucket)
		in = append(in, s.collect(groups, s.gather, coll.AllGather, "dp all-gather", b)...)
		left -= b
	}
	s.await(in) // not between buckets, which follow one another by their chain
}
