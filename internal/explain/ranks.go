package explain

import (
	"sort"

	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// maxRankRows bounds the table of rank operations; longer runs keep compute
// and collectives of the first ranks only.
var maxRankRows = 400_000 // a variable for tests

// ranks fills the table of rank operations: every computation, and every
// collective as each of its ranks saw it. It returns the number of rows without a limit.
func (r *reading) ranks(t *result.Tables) (all int) {
	row := func(x result.RankRow) {
		if all++; all <= maxRankRows {
			t.Ranks = append(t.Ranks, x)
		}
	}
	type span struct{ from, to unit.Time }
	spans := make([]map[int32]span, len(r.dag.Colls))
	add := func(c, rank int32, from, to unit.Time) {
		if spans[c] == nil {
			spans[c] = map[int32]span{}
		}
		s, ok := spans[c][rank]
		if !ok {
			s = span{from, to}
		}
		spans[c][rank] = span{min(s.from, from), max(s.to, to)}
	}
	for i := range r.dag.Ops {
		o := &r.dag.Ops[i]
		if r.exec.End[i] == unit.Never || o.Class == workload.OnHost { // beside what the GPU computes
			continue
		}
		if o.Compute() {
			row(result.RankRow{Rank: o.Rank, Start: int64(r.exec.Start[i]), End: int64(r.exec.End[i]),
				Class: o.Class.String(), Name: o.Class.String(), Job: r.jobOf(int32(i))})
		} else if o.Coll >= 0 {
			for _, end := range []int32{o.Rank, o.Peer} {
				if r.graph.StoreOf(int(end)) < 0 {
					add(o.Coll, end, r.exec.Start[i], r.exec.End[i])
				}
			}
		}
	}
	for c, m := range spans {
		ranks := make([]int32, 0, len(m))
		for k := range m {
			ranks = append(ranks, k)
		}
		sort.Slice(ranks, func(i, j int) bool { return ranks[i] < ranks[j] })
		for _, k := range ranks {
			row(result.RankRow{Rank: k, Start: int64(m[k].from), End: int64(m[k].to),
				Class: r.dag.Colls[c].Class.String(), Name: r.dag.Colls[c].Name,
				Job: r.jobName(r.exec.Work.OfCollective(int32(c)))})
		}
	}
	return all
}
