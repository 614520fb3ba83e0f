package explain

import (
	"cmp"
	"slices"

	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// timeline splits the time from a start to the end of some operations as the rank that ended
// last saw it: its computing, and each gap before a computation by what held it up. The parts
// add up to the step time.
func (r *reading) timeline(ops [2]int32, start unit.Time) (s result.Step) {
	last, done := r.lastOf(ops)
	end := r.seen.At
	if done {
		end = r.exec.End[last]
	}
	s.StepTime = int64(max(end-start, 0))
	if last < 0 {
		return s
	}
	rank := r.dag.Ops[last].Rank
	if r.graph.StoreOf(int(rank)) >= 0 { // its answer to a rank
		rank = r.dag.Ops[last].Peer
	}
	var own []int32
	for i := ops[0]; i < ops[1]; i++ {
		if o := &r.dag.Ops[i]; o.Compute() && o.Rank == rank && r.exec.End[i] != unit.Never &&
			o.Class != workload.TensorParallel && o.Class != workload.OnHost { // a folded group's ring, launches: waits
			own = append(own, i)
		}
	}
	slices.SortStableFunc(own, func(a, b int32) int { return cmp.Compare(r.exec.Start[a], r.exec.Start[b]) })
	at := start // accounted up to here
	for _, i := range own {
		o := &r.dag.Ops[i]
		if gap := r.exec.Start[i] - at; gap > 0 {
			r.blame(&s, r.exec.Cause[i], at, gap)
		}
		from := max(r.exec.Start[i], at)
		switch took := int64(max(r.exec.End[i]-from, 0)); o.Class {
		case workload.Other:
			s.ExposedOther += took
		case workload.Saving: // a copy to the server's memory
			s.ExposedSave += took
		default:
			s.Compute += took
		}
		at = max(at, r.exec.End[i])
	}
	if tail := end - at; tail > 0 {
		r.blame(&s, last, at, tail)
	}
	s.ExposedComm = s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther +
		s.ExposedLoad + s.ExposedSave + s.ExposedHost
	return s
}

// all are the operations of all jobs.
func (r *reading) all() [2]int32 { return [2]int32{0, int32(len(r.dag.Ops))} }

// lastOf is which of some operations ended last, -1 for none, and whether all have.
func (r *reading) lastOf(ops [2]int32) (last int32, done bool) {
	last, done = -1, true
	for i := ops[0]; i < ops[1]; i++ {
		switch end := r.exec.End[i]; {
		case end == unit.Never:
			done = false
		case last < 0 || end >= r.exec.End[last]:
			last = i
		}
	}
	return last, done && last >= 0
}

// blame books a gap that began at a time to what held the rank up: it follows the
// chain of operations that ended last, backwards. While that was a transfer the
// gap is its class's; while another rank computed, or nothing ran, it is bubble.
func (r *reading) blame(s *result.Step, cause int32, at, gap unit.Time) {
	t := at + gap
	for t > at && cause >= 0 {
		began := max(r.exec.Start[cause], at)
		if d := int64(t - began); d > 0 {
			*bookOf(s, &r.dag.Ops[cause]) += d
			t = began
		}
		cause = r.exec.Cause[cause]
	}
	s.Bubble += int64(t - at)
}

// bookOf is the account of an operation in a rank's gap.
func bookOf(s *result.Step, o *workload.Op) *int64 {
	switch o.Class {
	case workload.TensorParallel:
		return &s.ExposedTP
	case workload.PipelineParallel:
		return &s.ExposedPP
	case workload.DataParallel:
		return &s.ExposedDP
	case workload.ContextParallel:
		return &s.ExposedCP
	case workload.ExpertParallel:
		return &s.ExposedEP
	case workload.Other:
		return &s.ExposedOther
	case workload.DataLoading:
		return &s.ExposedLoad
	case workload.Saving:
		return &s.ExposedSave
	case workload.OnHost:
		return &s.ExposedHost
	}
	return &s.Bubble
}
