package workload

import (
	"math"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
)

// checkSoftware rejects settings that contradict a framework, or that it does not support.
func (t *Training) checkSoftware() error {
	if t.Software == nil {
		return nil
	}
	if usual := NewTraining().Experts; t.By != "" && t.Experts != usual && t.Dedup() {
		return field.New("ep_algorithm", "%s contradicts software: %s, which sends a token once to each domain; accepted: %s",
			t.Experts, t.By, usual)
	}
	return t.Software.Permits(t.Layout)
}

// shown returns the part of a tensor parallel transfer that no computing hides.
func (s *step) shown(b unit.Bytes) unit.Bytes { return b - s.hidden(b) }

func (s *step) hidden(b unit.Bytes) unit.Bytes {
	return unit.Bytes(s.HiddenTensor() * float64(b))
}

// HiddenTensor returns the share of tensor parallel transfers that are under way while products compute. A framework
// that hides them cuts a product into as many parts as there are ranks: while a part arrives or leaves, another one
// computes, but for the first or last one (Wang et al. 2023, ASPLOS, "Overlap Communication with Dependent Computation
// via Decomposition"; TransformerEngine's ring exchange).
func (t *Training) HiddenTensor() float64 {
	if t.Software == nil {
		return 0
	}
	return t.Software.HideTensor * (1 - 1/float64(t.TP))
}

// behind starts the hidden part of a block's tensor parallel transfers, in parallel with the block: times b
// gathered bytes and b scattered, or all-reduced. The end of the block waits for these transfers.
func (s *step) behind(p int, b, times unit.Bytes) {
	h := s.hidden(b)
	if h == 0 {
		return
	}
	if !s.Sequence {
		s.aside[p] = s.tensor(p, coll.AllReduce, h)
		return
	}
	s.aside[p] = append(s.tensor(p, coll.AllGather, times*h), s.tensor(p, coll.ReduceScatter, h)...)
}

// joined makes a stage wait for the hidden part of a block's transfers.
func (s *step) joined(p int) {
	s.await(s.aside[p])
	s.aside[p] = nil
}

// launch starts the host's work for a layer and microbatch, forward or backward, in parallel with the GPUs. The
// layer cannot end before it. It is omitted if the GPUs' own work takes longer.
func (s *step) launch(p int, c Class) (in []arrival) {
	if s.Software == nil || s.b.Summing() {
		return nil
	}
	forward, backward, _ := s.LayerTimes()
	share := forward
	if c == Backward {
		share = backward
	}
	host := s.HostTime() * float64(share) / float64(forward+backward)
	d := unit.FromSeconds(host)
	if d <= share {
		return nil
	}
	for _, ranks := range s.seats[p] {
		for _, r := range ranks {
			in = append(in, arrival{r, s.b.Compute(r, d, OnHost, s.pending(r)...)})
		}
	}
	return in
}

// startNext adds the host's time of a step, after the update of a rank's parameters.
func (s *step) startNext(r int) {
	if s.Software != nil {
		s.op(r, unit.FromSeconds(s.Software.HostStep), OnHost)
	}
}

// exchange sends tokens to the ranks of their experts, or results back. Each rank sends its share of the
// microbatch, once per expert, equally over experts. The hidden part arrives while the ranks compute, before the
// next exchange.
func (s *step) exchange(p int) {
	if s.EP == 1 {
		return
	}
	s.await(s.late[p])
	b := s.Routed() / unit.Bytes(s.TP)
	h := unit.Bytes(0)
	if s.Software != nil && s.recipe().Overlap {
		h = unit.Bytes(s.Software.HideExpert * float64(b))
	}
	s.late[p] = s.tokens(p, h)
	s.await(s.tokens(p, b-h))
}

// tokens makes every group of experts of a stage exchange b bytes of each rank.
func (s *step) tokens(p int, b unit.Bytes) (in []arrival) {
	if b == 0 {
		return nil
	}
	run, _ := coll.AllToAllBy(s.Experts, s.on())
	if s.Dedup() {
		run = s.distinct
	}
	for first := 0; first < len(s.seats[p]); first += s.EP {
		for i := range s.tensorRanks() {
			ranks := make([]int, s.EP)
			ready := make([][]int32, s.EP)
			for x := range ranks {
				ranks[x] = s.seats[p][first+x][i]
				ready[x] = s.pending(ranks[x])
			}
			s.b.Collective(Collective{"ep all-to-all",
				coll.ToAll, ExpertParallel, b, ranks, usual(coll.ToAll, s.Experts), 0}, func() {
				for x, d := range run(s.b, ranks, b, ready) {
					for _, id := range d {
						if !slices.Contains(ready[x], id) { // otherwise the hidden part would accumulate
							in = append(in, arrival{ranks[x], id})
						}
					}
				}
			})
		}
	}
	return in
}

// distinct is an all-to-all in which a token is sent once to each rank of its domain with experts of it, and once
// to each other domain.
func (s *step) distinct(to coll.Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
	on, domains := s.on(), map[int]bool{}
	for _, r := range ranks {
		domains[on.Of(r)] = true
	}
	n, topK := len(ranks), float64(s.Model.TopK)
	near := unit.Bytes(float64(b) / float64(n) * Distinct(float64(n), topK))
	far := unit.Bytes(float64(b) / float64(n) * Distinct(float64(len(domains)), topK))
	done := make([][]int32, n)
	for i := range done {
		done[i] = append(done[i], ready[i]...)
	}
	for d := 1; d < n; d++ {
		for i, r := range ranks {
			j := (i + d) % n
			bytes := far
			if on.Of(r) == on.Of(ranks[j]) {
				bytes = near
			}
			done[j] = append(done[j], to.Transfer(r, ranks[j], bytes, ready[i]...))
		}
	}
	return done
}

// Distinct returns the share of a token's copies that remain if each rank, or each domain of ranks, receives one.
// With random experts it is the expected number that have some of the top k (DeepEP, HybridEP).
func Distinct(domains, topK float64) float64 {
	return domains * (1 - math.Pow(1-1/domains, topK)) / topK
}
