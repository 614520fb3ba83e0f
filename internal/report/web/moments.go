package web

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// maxCritical is the maximum number of sent pieces of the critical path.
const maxCritical = 5000

// critical is the chain of operations that the end waited for, in a window. Of very many pieces the shortest neighbours
// are merged; their sum is the window.
func (r *Directory) critical(q url.Values) (any, error) {
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	rows, err := table[result.CriticalRow](r, "critical")
	if err != nil {
		return nil, err
	}
	path, ops := []result.CriticalRow{}, 0
	for _, x := range rows {
		if x.Start >= to || x.End <= from {
			continue
		}
		ops += int(x.Ops)
		x.Start, x.End = max(x.Start, from), min(x.End, to)
		path = append(path, x)
	}
	c := Critical{From: from, To: to, Operations: ops}
	var of []*[cause.Max]float64
	if c.Path, of, err = r.divided(result.MergeCritical(path, maxCritical), from, to); err != nil {
		return nil, err
	}
	c.explained(of)
	return c, nil
}

// longest splits a list into the most longest items and the others, both in their order.
func longest[T any](list []T, most int, length func(T) int64) (kept, left []T) {
	if len(list) <= most {
		return list, nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length(list[b]), length(list[a])) })
	keep := make([]bool, len(list))
	for _, i := range order[:most] {
		keep[i] = true
	}
	for i, x := range list {
		if keep[i] {
			kept = append(kept, x)
		} else {
			left = append(left, x)
		}
	}
	return kept, left
}

// halt is a pause of a port: the egress port that held most of its bytes, the root, start and end.
type halt struct {
	port, cause, root int32
	from, to          int64
}

// halts pairs pauses with their ends. One without an end lasts to the end of the run. A port that is paused for two
// priorities is paused while one of them is.
func (r *Directory) halts() ([]halt, int, error) {
	rows, err := table[result.PauseRow](r, "pauses")
	if err != nil {
		return nil, 0, err
	}
	roots, err := r.mainRoots()
	if err != nil {
		return nil, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.paused != nil {
		return r.paused, len(rows), nil
	}
	type class struct{ port, priority int32 }
	open := map[class]int{}
	r.paused = []halt{}
	for _, p := range rows {
		k := class{p.Port, int32(p.Priority)}
		i, on := open[k]
		switch {
		case p.What == "pause" && !on:
			open[k] = len(r.paused)
			root, known := roots[pauseOf{p.Port, p.At}]
			if !known {
				root = p.Cause
			}
			r.paused = append(r.paused, halt{p.Port, p.Cause, root, p.At, r.span()})
		case p.What == "resume" && on:
			r.paused[i].to = p.At
			delete(open, k)
		}
	}
	return r.paused, len(rows), nil
}

// pauseColumns lists the ports that are paused in the middle of each column of a grid. This bounds the data for any
// number of pauses.
func (r *Directory) pauseColumns() (any, error) {
	halts, count, err := r.halts()
	if err != nil {
		return nil, err
	}
	cols := int64(r.columns(columns))
	width := float64(r.span()) / float64(cols)
	spans := [][5]int64{} // port, cause, first and last column, root
	for _, h := range halts {
		// The middle of column c is in [from, to).
		first, last := int64(math.Ceil(float64(h.from)/width-0.5)), int64(math.Ceil(float64(h.to)/width-0.5))-1
		if last = min(last, cols-1); first <= last {
			spans = append(spans, [5]int64{int64(h.port), int64(h.cause), first, last, int64(h.root)})
		}
	}
	return Pauses{cols, spans, count}, nil
}

// whenPaused returns when any port is paused in a window; times closer than near are merged.
func (r *Directory) whenPaused(from, to, near int64) ([][2]int64, error) {
	halts, _, err := r.halts()
	if err != nil {
		return nil, err
	}
	out := [][2]int64{}
	for _, h := range halts { // by their beginning
		if h.from >= to || h.to <= from {
			continue
		}
		if n := len(out); n > 0 && h.from-out[n-1][1] <= near {
			out[n-1][1] = max(out[n-1][1], h.to)
			continue
		}
		out = append(out, [2]int64{h.from, h.to})
	}
	return out, nil
}

// maxSpans is the maximum number of sent spans of ranks.
const maxSpans = 60_000

// rankSpans returns the activity of some ranks in a window. Spans of one kind closer than a two-thousandth of it
// are merged. If there are too many, the longest of the whole window are sent.
func (r *Directory) rankSpans(q url.Values) (any, error) {
	from, to, err := r.window(q)
	if err != nil {
		return nil, err
	}
	first, err := number(q, "first", 0, 0, 1<<20)
	if err != nil {
		return nil, err
	}
	n, err := number(q, "n", 64, 1, 512)
	if err != nil {
		return nil, err
	}
	rows, err := r.sortedRanks()
	if err != nil {
		return nil, err
	}
	index, names := map[string]int{}, []string{}
	at := func(s string) int {
		if i, ok := index[s]; ok {
			return i
		}
		index[s] = len(names)
		names = append(names, s)
		return len(names) - 1
	}
	most := int32(-1)
	for i := range rows {
		most = max(most, rows[i].Rank)
	}
	page := pageOf(rows, most+1, int32(first), int32(n), q.Get("order") == "end")
	near := (to - from) / 2000
	spans := [][5]int64{} // rank, start, end, class, name
	last := map[[2]int64]int{}
	shown := map[int32]bool{}
	for _, rank := range page {
		shown[rank] = true
	}
	for i := range rows {
		x := &rows[i]
		if !shown[x.Rank] || x.Start >= to || x.End <= from {
			continue
		}
		key := [2]int64{int64(x.Rank), int64(at(x.Name))}
		if j, ok := last[key]; ok && x.Start-spans[j][2] <= near {
			spans[j][2] = max(spans[j][2], x.End)
			continue
		}
		last[key] = len(spans)
		spans = append(spans, [5]int64{int64(x.Rank), x.Start, x.End, int64(at(x.Class)), key[1]})
	}
	length := func(s [5]int64) int64 { return s[2] - s[1] }
	spans, left := longest(spans, maxSpans, length)
	shorter := int64(0)
	for _, s := range left {
		shorter = max(shorter, length(s))
	}
	paused, err := r.whenPaused(from, to, near)
	if err != nil {
		return nil, err
	}
	sent, err := r.sentSlices(from, to, near, page)
	if err != nil {
		return nil, err
	}
	return Ranks{from, to, names, spans, most + 1, page, len(left), shorter, paused, sent}, nil
}

// pageOf lists n of all ranks, from first on: by number, or those that end last first.
func pageOf(rows []result.RankRow, all, first, n int32, byEnd bool) []int32 {
	page, end := make([]int32, max(all, 0)), make([]int64, max(all, 0))
	for i := range page {
		page[i] = int32(i)
	}
	for i := range rows {
		end[rows[i].Rank] = max(end[rows[i].Rank], rows[i].End)
	}
	if byEnd {
		slices.SortStableFunc(page, func(a, b int32) int { return cmp.Compare(end[b], end[a]) })
	}
	first = min(first, all)
	return page[max(0, first):max(0, min(first+n, all))]
}

func (r *Directory) sortedRanks() ([]result.RankRow, error) {
	rows, err := table[result.RankRow](r, "ranks")
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ranks == nil {
		r.ranks = append([]result.RankRow{}, rows...)
		sort.SliceStable(r.ranks, func(i, j int) bool { return r.ranks[i].Start < r.ranks[j].Start })
	}
	return r.ranks, nil
}
