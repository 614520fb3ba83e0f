package explain

import (
	"slices"

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
	for i := range r.dag.Ops {
		// Computation on the host's CPU runs in parallel with the GPU.
		if o := &r.dag.Ops[i]; o.Compute() && r.exec.End[i] != unit.Never && o.Class != workload.OnHost {
			row(result.RankRow{Rank: o.Rank, Start: int64(r.exec.Start[i]), End: int64(r.exec.End[i]),
				Class: o.Class.String(), Name: o.Class.String(), Job: r.jobOf(int32(i))})
		}
	}
	type span struct {
		from, to unit.Time
		of       int32 // collective + 1
	}
	spans, transfers := make([]span, r.dag.Ranks), r.byCollective()
	var ranks []int32
	for c := range r.dag.Colls {
		ranks = ranks[:0]
		for _, i := range transfers(c) {
			o, from, to := &r.dag.Ops[i], r.exec.Start[i], r.exec.End[i]
			if to == unit.Never || o.Class == workload.OnHost {
				continue
			}
			for _, end := range [2]int32{o.Rank, o.Peer} {
				if r.graph.StoreOf(int(end)) >= 0 {
					continue
				}
				if s := &spans[end]; s.of == int32(c)+1 {
					s.from, s.to = min(s.from, from), max(s.to, to)
				} else {
					*s, ranks = span{from, to, int32(c) + 1}, append(ranks, end)
				}
			}
		}
		slices.Sort(ranks)
		for _, k := range ranks {
			row(result.RankRow{Rank: k, Start: int64(spans[k].from), End: int64(spans[k].to),
				Class: r.dag.Colls[c].Class.String(), Name: r.dag.Colls[c].Name,
				Job: r.jobName(r.exec.Work.OfCollective(int32(c)))})
		}
	}
	return all
}
