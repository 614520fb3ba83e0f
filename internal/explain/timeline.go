package explain

import (
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// timeline splits the step as the rank that ended last saw it: its computing, and
// each gap before a computation by what held it up. The parts add up to the step time.
func (r *reading) timeline(s *result.Summary) {
	lastOp := r.lastOp()
	now := r.seen.At
	s.StepTime = int64(now)
	if lastOp < 0 {
		return
	}
	if r.exec.Done() {
		s.StepTime = int64(r.exec.End[lastOp])
	}
	rank := r.dag.Ops[lastOp].Rank
	at := unit.Time(0) // accounted up to here
	for i := range r.dag.Ops {
		o := &r.dag.Ops[i]
		if !o.Compute() || o.Class == workload.TensorParallel || o.Rank != rank || r.exec.End[i] == unit.Never { // such a one is a folded group's ring: a wait
			continue
		}
		if gap := r.exec.Start[i] - at; gap > 0 {
			r.blame(s, r.exec.Cause[i], at, gap)
		}
		from := max(r.exec.Start[i], at)
		if o.Class == workload.Other {
			s.ExposedOther += int64(max(r.exec.End[i]-from, 0))
		} else {
			s.Compute += int64(max(r.exec.End[i]-from, 0))
		}
		at = max(at, r.exec.End[i])
	}
	if tail := unit.Time(s.StepTime) - at; tail > 0 {
		r.blame(s, lastOp, at, tail)
	}
	s.ExposedComm = s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther
}

// lastOp is the operation that ended last, -1 for none.
func (r *reading) lastOp() int32 {
	last := int32(-1)
	for i := range r.dag.Ops {
		if r.exec.End[i] != unit.Never && (last < 0 || r.exec.End[i] >= r.exec.End[last]) {
			last = int32(i)
		}
	}
	return last
}

// blame books a gap that began at a time to what held the rank up: it follows the
// chain of operations that ended last, backwards. While that was a transfer the
// gap is its class's; while another rank computed, or nothing ran, it is bubble.
func (r *reading) blame(s *result.Summary, cause int32, at, gap unit.Time) {
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
func bookOf(s *result.Summary, o *workload.Op) *int64 {
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
	}
	return &s.Bubble
}
