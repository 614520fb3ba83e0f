package explain

import (
	"slices"

	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// stalls lists, by job and step, waits for data of storage servers while ranks had nothing else to do: the rank that
// waited longest, and the straggler.
func (r *reading) stalls() (out []result.Stall) {
	for j := range r.exec.Work.Jobs {
		out = append(out, r.stallsOf(j)...)
	}
	return out
}

func (r *reading) stallsOf(j int) (out []result.Stall) {
	part := &r.exec.Work.Jobs[j]
	free, steps := map[int32]unit.Time{}, map[int32]int{}
	for i := part.Ops[0]; i < part.Ops[1]; i++ {
		o := &r.dag.Ops[i]
		if !o.Compute() || o.Class == workload.OnHost || r.exec.End[i] == unit.Never {
			continue
		}
		at, ok := free[o.Rank]
		if !ok {
			at = part.Start
		}
		free[o.Rank] = r.exec.End[i]
		if cause := r.exec.Cause[i]; cause >= 0 && r.dag.Ops[cause].Class.Stored() && r.exec.Start[i] > at {
			kind := "data"
			if r.dag.Ops[cause].Class == workload.Saving {
				kind = "checkpoint"
			}
			step := steps[o.Rank] + 1
			if o.Class == workload.Saving { // behind its step
				step--
			}
			r.stalled(&out, result.Stall{Job: r.jobName(j), Step: step, Kind: kind, Ranks: 1,
				Waited: int64(r.exec.Start[i] - at), Rank: r.graph.GPUName(int(o.Rank))}, cause)
		}
		if o.Class == workload.Optimizer {
			steps[o.Rank]++
		}
	}
	slices.SortStableFunc(out, func(a, b result.Stall) int { return a.Step - b.Step })
	return out
}

// stalled books a wait.
func (r *reading) stalled(all *[]result.Stall, s result.Stall, cause int32) {
	at := slices.IndexFunc(*all, func(o result.Stall) bool { return o.Step == s.Step && o.Kind == s.Kind })
	if at >= 0 {
		old := &(*all)[at]
		if old.Ranks++; old.Waited >= s.Waited {
			return
		}
		s.Ranks = old.Ranks
	}
	r.late(&s, cause)
	if at < 0 {
		*all = append(*all, s)
	} else {
		(*all)[at] = s
	}
}

// late divides a wait: from the last arrival back to the first request, by where the time went.
func (r *reading) late(s *result.Stall, last int32) {
	o := &r.dag.Ops[last]
	s.From, s.Came = r.graph.GPUName(int(o.Rank)), int64(r.exec.End[last])
	if o.Coll >= 0 {
		s.Bytes = int64(r.dag.Colls[o.Coll].Bytes)
	}
	for i := last; i >= 0 && r.dag.Ops[i].Coll == o.Coll; i = r.exec.Cause[i] {
		x := &r.dag.Ops[i]
		s.Asked = int64(r.exec.Start[i])
		if took := int64(r.exec.End[i] - r.exec.Start[i]); r.exec.Local(int(x.Rank), int(x.Peer)) {
			s.Media += took
		} else {
			s.Network += took
		}
	}
}

// asynchronous sums up checkpoints that are written in the background.
func (r *reading) asynchronous(s *result.Storage) {
	for j := range r.exec.Work.Jobs {
		p := &r.exec.Work.Jobs[j]
		last, done := r.lastOf(p.Ops)
		if !done || p.Training == nil || p.Training.Checkpoint == nil || p.Training.Checkpoint.Mode != workload.Async {
			continue
		}
		wrote, until, of := unit.Time(0), r.exec.End[last], map[int32][2]unit.Time{} // by collective
		for i := p.Ops[0]; i < p.Ops[1]; i++ {
			if !r.exec.Work.Background(i) {
				continue
			}
			c, x := r.dag.Ops[i].Coll, [2]unit.Time{r.exec.Start[i], r.exec.End[i]}
			if was, known := of[c]; known {
				x = [2]unit.Time{min(x[0], was[0]), max(x[1], was[1])}
			}
			of[c] = x
			wrote, until = max(wrote, x[1]-x[0]), max(until, x[1])
		}
		if int64(wrote) <= s.Write {
			continue
		}
		steps := unit.Time(p.Training.StepsInRow())
		s.Write, s.After = int64(wrote), int64(until-r.exec.End[last])
		if every := unit.Time(p.Training.Checkpoint.Every); steps >= 2*every {
			s.Every = int64((r.exec.End[last] - p.Start) / steps * every)
		}
	}
}

// storage sums up what storage servers did.
func (r *reading) storage() *result.Storage {
	g := r.graph
	s := &result.Storage{Servers: g.Stores(), Network: r.plan.Storage.Network}
	busy := make([][2]unit.Time, g.Stores()) // reading, writing
	for i := range r.dag.Ops {
		o := &r.dag.Ops[i]
		if !o.Class.Stored() || o.Compute() || r.exec.End[i] == unit.Never {
			continue
		}
		from, to := int(o.Rank), int(o.Peer)
		switch {
		case r.exec.Local(from, to):
			way := 0
			if store := g.StoreOf(from); from != g.Media(store) {
				way = 1
			}
			line, _ := r.exec.Alone(from, to, o.Bytes)
			busy[g.StoreOf(from)][way] += line
		case g.StoreOf(from) >= 0 && o.Bytes > r.plan.Storage.Access.Command:
			s.Read += int64(o.Bytes)
		case g.StoreOf(to) >= 0 && o.Bytes > r.plan.Storage.Access.Command:
			s.Written += int64(o.Bytes - r.plan.Storage.Access.Command)
		}
	}
	for i, b := range busy {
		if share := max(b[0], b[1]).Seconds() / max(r.seen.At.Seconds(), 1e-12); i == 0 || share > s.Busy {
			s.Busy, s.Busiest = share, g.GPUName(g.Memory(i))
		}
	}
	r.asynchronous(s)
	return s
}
