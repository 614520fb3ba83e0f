package explain

import (
	"cmp"
	"slices"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// timeline divides the time from a start to the end of some operations from the view of the rank that ended last: its
// computations, and each gap before a computation by its cause. The parts add up to the step time. It also returns the
// ranks that the rank was blocked on.
func (r *reading) timeline(ops [2]int32, start unit.Time) (s result.Step) {
	last, done := r.lastOf(ops)
	end := r.seen.At
	if done {
		end = r.exec.End[last]
	}
	return r.timelineOf(executed{r.exec}, ops, last, start, end)
}

// times are the start and end of each operation, in the run or in a replay of it, and the operation whose end released
// it.
type times interface {
	starts(op int32) unit.Time
	stops(op int32) unit.Time
	freedBy(op int32) int32
}

// executed is the run itself.
type executed struct{ x *exec.Execution }

func (e executed) starts(op int32) unit.Time { return e.x.Start[op] }
func (e executed) stops(op int32) unit.Time  { return e.x.End[op] }
func (e executed) freedBy(op int32) int32    { return e.x.Cause[op] }

// timelineOf splits the time from a start to an end, as the rank of the last operation saw it.
func (r *reading) timelineOf(x times, ops [2]int32, last int32, start, end unit.Time) (s result.Step) {
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
		if o := &r.dag.Ops[i]; o.Compute() && o.Rank == rank && x.stops(i) != unit.Never &&
			o.Class != workload.TensorParallel && o.Class != workload.OnHost { // a folded group's ring, launches: waits
			own = append(own, i)
		}
	}
	slices.SortStableFunc(own, func(a, b int32) int { return cmp.Compare(x.starts(a), x.starts(b)) })
	g, at := gaps{r, x, &s, map[int32]int64{}}, start // accounted up to here
	for _, i := range own {
		o := &r.dag.Ops[i]
		if gap := x.starts(i) - at; gap > 0 {
			g.blame(x.freedBy(i), last, at, gap)
		}
		from := max(x.starts(i), at)
		switch took := int64(max(x.stops(i)-from, 0)); o.Class {
		case workload.Other:
			s.ExposedOther += took
		case workload.Saving: // a copy to the server's memory
			s.ExposedSave += took
		default:
			s.Compute += took
		}
		at = max(at, x.stops(i))
	}
	if tail := end - at; tail > 0 {
		g.blame(last, last, at, tail)
	}
	if s.Bubble > 0 {
		took := g.computing(ops)
		s.Uneven = min(s.Bubble, int64(slices.Max(took)-took[rank]))
	}
	s.WaitedFor = g.waitedFor(last, start)
	g.alike(s.WaitedFor, ops, rank)
	s.ExposedComm = s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther +
		s.ExposedLoad + s.ExposedSave + s.ExposedHost
	return s
}

// all are the operations of all jobs.
func (r *reading) all() [2]int32 { return [2]int32{0, int32(len(r.dag.Ops))} }

// lastOf is which of some operations ended last, -1 for none, and whether all have. Operations in the background end
// no step.
func (r *reading) lastOf(ops [2]int32) (last int32, done bool) {
	last, done = -1, true
	async := r.exec.Work.Async() // else the operations themselves need no look
	for i := ops[0]; i < ops[1]; i++ {
		switch end := r.exec.End[i]; {
		case end == unit.Never:
			done = false
		case async && r.exec.Work.Background(i):
		case last < 0 || end >= r.exec.End[last]:
			last = i
		}
	}
	return last, done && last >= 0
}

// gaps books the gaps between a rank's computations.
type gaps struct {
	r     *reading
	x     times
	s     *result.Step
	waits map[int32]int64 // by rank
}

// blame assigns a gap that began at a time to its causes: it follows the chain of the operations that ended last,
// backwards. While that was a transfer the gap is its class's. While another rank computed, or nothing ran (as before
// the job of the last operation), it is bubble in a training with pipeline stages, else a wait for that rank.
func (g *gaps) blame(cause, last int32, at, gap unit.Time) {
	r, t := g.r, at+gap
	for t > at && cause >= 0 {
		began := max(g.x.starts(cause), at)
		if d := int64(t - began); d > 0 {
			o := &r.dag.Ops[cause]
			switch book := bookOf(g.s, o); {
			case book != nil:
				*book += d
			case r.staged(cause):
				g.s.Bubble += d
			default:
				g.s.Waiting += d
				g.waits[o.Rank] += d
			}
			t = began
		}
		cause = g.x.freedBy(cause)
	}
	if rest := int64(t - at); r.staged(last) {
		g.s.Bubble += rest
	} else {
		g.s.Waiting += rest
	}
}

// mostWaited bounds the ranks that a step names as waited for.
const mostWaited = 8

// waitedFor returns the ranks that were waited for longest, with their computing on the critical path.
func (g *gaps) waitedFor(last int32, start unit.Time) []result.Waited {
	var all []result.Waited
	for rank, d := range g.waits {
		all = append(all, result.Waited{Rank: rank, GPU: g.r.graph.GPUName(int(rank)), Time: d})
	}
	slices.SortFunc(all, func(a, b result.Waited) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Rank, b.Rank))
	})
	if len(all) == 0 {
		return nil
	}
	all = all[:min(len(all), mostWaited)]
	end := g.x.stops(last)
	for op := last; op >= 0 && end > start; op = g.x.freedBy(op) {
		o, from := &g.r.dag.Ops[op], max(start, g.x.starts(op))
		i := slices.IndexFunc(all, func(w result.Waited) bool { return w.Rank == o.Rank })
		if d := int64(end - from); d > 0 && i >= 0 && o.Compute() && bookOf(g.s, o) == nil {
			all[i].Path += d
		}
		end = min(end, from)
	}
	return all
}

// alike counts, for each rank that another one waited for, the ranks that compute as long in the same operations.
func (g *gaps) alike(waits []result.Waited, ops [2]int32, waiting int32) {
	if len(waits) == 0 {
		return
	}
	took := g.computing(ops)
	for i := range waits {
		w := &waits[i]
		least := unit.Time((1 - asLong) * float64(took[w.Rank]))
		if took[waiting] >= least {
			continue
		}
		for rank, d := range took {
			if int32(rank) != w.Rank && d >= least {
				w.Alike++
			}
		}
	}
}

// computing returns how long each rank computes in some operations.
func (g *gaps) computing(ops [2]int32) []unit.Time {
	took := make([]unit.Time, g.r.graph.TotalGPUs())
	for i := ops[0]; i < ops[1]; i++ {
		if o := &g.r.dag.Ops[i]; o.Compute() && bookOf(g.s, o) == nil && g.x.stops(i) != unit.Never {
			took[o.Rank] += g.x.stops(i) - g.x.starts(i)
		}
	}
	return took
}

// asLong is the share by which computing of ranks may differ that take about as long.
const asLong = 0.05

// staged reports whether an operation belongs to a training with pipeline stages.
func (r *reading) staged(op int32) bool {
	t := r.exec.Work.Jobs[r.exec.Work.Of(op)].Training
	return t != nil && t.PP > 1
}

// bookOf is the account of an operation in a rank's gap; nil: computing of another rank.
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
	return nil
}
