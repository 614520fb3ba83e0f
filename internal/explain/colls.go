package explain

import (
	"sort"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// uneven reports whether operations differ in size, or a rank has several.
func uneven(d *workload.DAG, ops []int32) bool {
	if len(ops) < 2 {
		return false
	}
	from := map[int32]bool{}
	for _, i := range ops {
		o := &d.Ops[i]
		if o.Bytes != d.Ops[ops[0]].Bytes || from[o.Rank] {
			return true
		}
		from[o.Rank] = true
	}
	return false
}

// collectives sums up the instances of each collective. Time runs from the first start of a transfer, or of its
// protocol, to the last delivery. So a late rank makes the collective slow, and no bus bandwidth can exceed line
// rate.
func (r *reading) collectives() []result.Collective {
	n := len(r.dag.Colls)
	from, to := make([]unit.Time, n), make([]unit.Time, n)
	crosses := make([]bool, n)
	whole := make([]bool, n)
	for i := range from {
		from[i], whole[i] = unit.Never, true
	}
	for i := range r.dag.Ops {
		o := &r.dag.Ops[i]
		if o.Coll < 0 {
			continue
		}
		if r.exec.End[i] == unit.Never {
			whole[o.Coll] = false
			continue
		}
		begin := r.exec.Start[i]
		for p := r.exec.Cause[i]; p >= 0 && synchronises(r.dag, &r.dag.Ops[p], o.Coll); p = r.exec.Cause[p] {
			begin = r.exec.Start[p]
		}
		from[o.Coll], to[o.Coll] = min(from[o.Coll], begin), max(to[o.Coll], r.exec.End[i])
		crosses[o.Coll] = crosses[o.Coll] || !r.exec.Local(int(o.Rank), int(o.Peer))
	}
	type group struct {
		job     int
		name    string
		ranks   int
		crosses bool
	}
	at := map[group]int{}
	var out []result.Collective
	var kinds []coll.Kind
	var rates []float64    // of the NICs or pipes that bound them, bytes/s
	var ends [][]unit.Time // of the runs of a repeated collective
	ops, limits := r.byCollective(), newBounds(r)
	stored := map[int]*accesses{}
	for i := range r.dag.Colls {
		c := &r.dag.Colls[i]
		if !whole[i] || from[i] == unit.Never {
			continue
		}
		job := r.exec.Work.OfCollective(int32(i))
		k := group{job, c.Name, len(c.Ranks), crosses[i]}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			kinds, rates, ends = append(kinds, c.Kind), append(rates, 0), append(ends, nil)
			out = append(out, result.Collective{Job: r.jobName(job), Name: c.Name, Kind: c.Kind.String(),
				Algorithm: c.By, Ranks: len(c.Ranks), TimeMin: int64(unit.Never)})
		}
		o := &out[j]
		o.Uneven = o.Uneven || c.Kind == coll.SendRecv && uneven(r.dag, ops(i))
		switch {
		case r.plan.Totals:
		case c.Class.Stored():
			if stored[j] == nil {
				stored[j] = &accesses{}
			}
			stored[j].add(ops(i), from[i], to[i])
		default:
			if bound, rate, why := limits.bound(c, ops(i)); bound > o.Bound {
				o.Bound, o.BoundWhy, rates[j] = bound, why, rate
			}
		}
		for len(ends[j]) <= c.Run {
			ends[j] = append(ends[j], 0)
		}
		ends[j][c.Run] = max(ends[j][c.Run], to[i])
		d := to[i] - from[i]
		o.Count++
		o.Bytes += int64(c.Bytes)
		o.Time += int64(d) // means below
		o.TimeMin, o.TimeMax = min(o.TimeMin, int64(d)), max(o.TimeMax, int64(d))
		if d > 0 {
			o.BusBest = max(o.BusBest, float64(c.Bytes)/d.Seconds()*c.Kind.BusFactor(len(c.Ranks)))
		}
	}
	for i := range out {
		o := &out[i]
		if o.Time > 0 { // total bytes over total time, so that size, time and bandwidth are consistent
			o.AlgBW = float64(o.Bytes) / unit.Time(o.Time).Seconds()
			o.BusBW = o.AlgBW * kinds[i].BusFactor(o.Ranks)
		}
		if all := stored[i]; all != nil {
			whole := workload.Collective{Kind: kinds[i], Bytes: unit.Bytes(o.Bytes), Ranks: make([]int, o.Ranks)}
			o.Bound, rates[i], o.BoundWhy = limits.bound(&whole, all.ops)
			o.BusBW = float64(o.Bytes) / max(1, all.took()).Seconds() * kinds[i].BusFactor(o.Ranks)
			o.BusBest, o.Uneven = o.BusBW, true
		}
		if o.Uneven && o.Bound > 0 { // the rate of the fullest NIC or pipe: no message stands for all
			x := rates[i] / o.Bound
			o.Bound, o.BusBW, o.BusBest = rates[i], x*o.BusBW, x*o.BusBest
		}
		if runs := len(ends[i]); runs > 2 {
			half := runs / 2
			o.Steady = int64(ends[i][runs-1]-ends[i][half]) / int64(runs-1-half)
		}
		o.Time /= int64(o.Count)
		o.Bytes /= int64(o.Count)
	}
	sort.SliceStable(out, func(i, j int) bool {
		return out[i].Time*int64(out[i].Count) > out[j].Time*int64(out[j].Count)
	})
	return out
}
