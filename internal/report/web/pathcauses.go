package web

import (
	"math"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// mixColumns is the number of columns of a window in which causes are averaged over the collectives of a class.
const mixColumns = 2000

// mix is the time of causes by column of a window, of one class of operations.
type mix [][cause.Max]float64

// mixes averages, by class and column, the causes of lost time of collectives, weighted by their time in the
// column.
func (r *Directory) mixes(from, to int64) (map[string]mix, error) {
	rows, err := r.accounts()
	if err != nil {
		return nil, err
	}
	out := map[string]mix{}
	for i := range rows {
		c := &rows[i]
		if c.End <= c.Start || c.End <= from || c.Start >= to {
			continue
		}
		m := out[c.Class]
		if m == nil {
			m = make(mix, mixColumns)
			out[c.Class] = m
		}
		over(from, to, c.Start, c.End, func(col int, ps float64) {
			for _, x := range cause.All() {
				m[col][x.ID] += ps * float64(c.Lost.Costs(x.ID)) / float64(c.End-c.Start)
			}
		})
	}
	return out, nil
}

// over calls f for the columns of a window that a span covers, with the span's time in each.
func over(from, to, start, end int64, f func(col int, ps float64)) {
	width := float64(to-from) / mixColumns
	if width <= 0 {
		return
	}
	a, b := float64(max(start, from)-from), float64(min(end, to)-from)
	for col := int(a / width); col < mixColumns && float64(col)*width < b; col++ {
		f(col, min(b, float64(col+1)*width)-max(a, float64(col)*width))
	}
}

// shares returns the causes of a piece of the critical path as shares of its time. It returns false for computation
// and where no collective accounts for it.
func shares(all map[string]mix, p *result.CriticalRow, from, to int64) (of [cause.Max]float64, ok bool) {
	m := all[p.Class]
	if m == nil || p.Peer < 0 {
		return of, false
	}
	over(from, to, p.Start, p.End, func(col int, ps float64) {
		sum := 0.0
		for _, x := range m[col] {
			sum += x
		}
		for id, x := range m[col] {
			if sum > 0 {
				of[id] += ps * x / sum
			}
		}
	})
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	for id := range of {
		of[id] /= sum
	}
	return of, sum > 0
}

// explained adds the causes of the path's pieces.
func (c *Critical) explained(pieces []*[cause.Max]float64) {
	has := [cause.Max]bool{}
	for _, of := range pieces {
		if of != nil {
			for id, x := range of {
				has[id] = has[id] || x >= 0.001
			}
		}
	}
	c.Causes, c.Shares = []string{}, make([][]float64, len(pieces))
	fine := 1e3
	if len(pieces) <= 100 { // the page writes their times
		fine = 1e9
	}
	for _, x := range cause.All() {
		if !has[x.ID] {
			continue
		}
		c.Causes = append(c.Causes, x.Key)
		for i, of := range pieces {
			if of != nil {
				c.Shares[i] = append(c.Shares[i], math.Round(of[x.ID]*fine)/fine)
			}
		}
	}
}

// losing returns the shortest window with nine tenths of the time above line rate on the critical path, and a
// margin. It returns nil if that is most of the run.
func (r *Directory) losing() (*[2]int64, error) {
	path, err := table[result.CriticalRow](r, "critical")
	if err != nil {
		return nil, err
	}
	end := r.span()
	path, pieces, err := r.divided(path, 0, end)
	if err != nil {
		return nil, err
	}
	lost, sum := make([]float64, mixColumns), 0.0
	for i := range path {
		p := &path[i]
		of := pieces[i]
		if of == nil {
			continue
		}
		share := 0.0
		for _, c := range cause.All() {
			if c.Loss {
				share += of[c.ID]
			}
		}
		over(0, end, p.Start, p.End, func(col int, ps float64) {
			lost[col] += share * ps
			sum += share * ps
		})
	}
	from, to := 0, mixColumns
	for a, b, in := 0, 0, 0.0; a < mixColumns; a++ {
		for ; b < mixColumns && in < 0.9*sum; b++ {
			in += lost[b]
		}
		if in >= 0.9*sum && b-a < to-from {
			from, to = a, b
		}
		in -= lost[a]
	}
	margin := (to - from) / 10
	if sum == 0 || to-from > mixColumns*6/10 {
		return nil, nil
	}
	at := func(col int) int64 { return int64(float64(end) / mixColumns * float64(col)) }
	return &[2]int64{at(max(0, from-margin)), min(end, at(min(mixColumns, to+margin)))}, nil
}
