package web

import (
	"cmp"
	"slices"

	"railyard/internal/result"
)

// sentSlices lists when messages of some ranks were under way, as rank, start and end, by queue pair: from posting, or
// from the end of the queue pair's previous message. Shorter ones than near are merged with their neighbour.
func (r *Directory) sentSlices(from, to, near int64, page []int32) ([][3]int64, error) {
	rows, err := table[result.FlowRow](r, "flows")
	if err != nil {
		return nil, err
	}
	ranks := map[string]int64{}
	for _, rank := range page {
		ranks[r.gpu(rank)] = int64(rank)
	}
	list := []*result.FlowRow{}
	for i := range rows {
		if _, shown := ranks[rows[i].From]; shown && rows[i].Posted < to {
			list = append(list, &rows[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *result.FlowRow) int { return cmp.Compare(a.Posted, b.Posted) })
	done, last := map[int32]int64{}, map[int32]int{} // by queue pair
	out := [][3]int64{}
	for _, m := range list {
		end := m.Done
		if end < 0 {
			end = r.span()
		}
		a := max(m.Posted, done[m.QP])
		done[m.QP] = max(done[m.QP], end)
		if end <= from || a >= to || end <= a {
			continue
		}
		if j, ok := last[m.QP]; ok && a-out[j][2] <= near && min(end-a, out[j][2]-out[j][1]) <= near {
			out[j][2] = max(out[j][2], end)
			continue
		}
		last[m.QP] = len(out)
		out = append(out, [3]int64{ranks[m.From], a, end})
	}
	out, _ = longest(out, maxSpans, func(s [3]int64) int64 { return s[2] - s[1] })
	return out, nil
}
