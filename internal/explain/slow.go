package explain

import (
	"cmp"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// slowless replays the run without slow ranks, if there are some, and returns what the other replays leave out: no
// network changes what ranks compute.
func (a *accounts) slowless(there bool) (v without) {
	if there {
		v = v.and(cause.SlowRank)
		p := a.m.replay(v)
		a.alone[cause.SlowRank], a.taken = p, []taken{{id: cause.SlowRank, p: p}}
	}
	return v
}

// account divides the time of a step among causes. What slow ranks cost it is a part of its own: the other parts are
// those of the replay without them.
func (a *accounts) account(s *result.Step, ops [2]int32, start unit.Time) {
	s.Chain = a.step(ops, start)
	p, cost, r := a.alone[cause.SlowRank], s.Chain.Own[cause.SlowRank], a.m.b.r
	if _, done := r.lastOf(ops); cost == 0 || !done {
		return
	}
	first := p.lastIn(ops)
	even := r.timelineOf(p, ops, first, start, p.stops(first))
	if !resized(&even, s.StepTime-cost) {
		return
	}
	even.StepTime, even.Chain, even.Slow = s.StepTime, s.Chain, cost
	even.SlowRanks = a.slowRanks(ops)
	*s = even
}

// resized makes the parts of a step add up to a time, each as large a share of it as before, and reports whether there
// were some.
func resized(s *result.Step, to int64) bool {
	from, sum, was := s.StepTime, int64(0), int64(0)
	if from <= 0 {
		return false
	}
	for _, part := range []*int64{&s.Compute, &s.ExposedTP, &s.ExposedPP, &s.ExposedDP, &s.ExposedCP, &s.ExposedEP,
		&s.ExposedOther, &s.ExposedLoad, &s.ExposedSave, &s.ExposedHost, &s.Bubble, &s.Waiting} {
		sum += *part
		now := to
		if sum < from {
			now = int64(float64(sum) / float64(from) * float64(to))
		}
		*part, was = now-was, now
	}
	s.Uneven = min(s.Uneven, s.Bubble)
	s.ExposedComm = s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP + s.ExposedOther +
		s.ExposedLoad + s.ExposedSave + s.ExposedHost
	return true
}

// slowRanks returns the ranks of some operations that the replay without slow ranks changes, the one that exceeds its
// siblings most first. Which of them is on the critical path is chance: it hides the others.
func (a *accounts) slowRanks(ops [2]int32) (all []result.SlowRank) {
	r, at := a.m.b.r, map[int32]int{} // by rank
	for _, s := range a.m.slower {
		if s.Op < ops[0] || s.Op >= ops[1] {
			continue
		}
		o := &r.dag.Ops[s.Op]
		i, known := at[o.Rank]
		if !known {
			i, at[o.Rank] = len(all), len(all)
			slow := result.SlowRank{Rank: o.Rank, GPU: r.graph.GPUName(int(o.Rank))}
			if t := r.exec.Work.Jobs[r.exec.Work.Of(s.Op)].Training; t != nil {
				fastest, _ := t.Fastest()
				slow.Kind, slow.Fastest = r.plan.KindOf(int(o.Rank)).GPU.Name, fastest.Name
			}
			all = append(all, slow)
		}
		all[i].Usual -= int64(o.Dur - s.Usual)
	}
	for op := ops[0]; op < ops[1]; op++ {
		o := &r.dag.Ops[op]
		if i, is := at[o.Rank]; is && o.Compute() && bookOf(&result.Step{}, o) == nil {
			all[i].Compute += int64(o.Dur)
			all[i].Usual += int64(o.Dur)
		}
	}
	slices.SortFunc(all, func(x, y result.SlowRank) int {
		return cmp.Or(cmp.Compare(y.Excess(), x.Excess()), cmp.Compare(x.Rank, y.Rank))
	})
	return all
}
