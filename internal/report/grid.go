package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
)

// Grid is a comparison whose last list of values is a table's columns: its variants row by row.
type Grid struct {
	Key      string           // key of the last list
	Columns  []string         // its values
	Rows     []string         // other differing settings
	Variants []result.Variant // len(Rows) times len(Columns)
}

// at returns the variants of a row.
func (g *Grid) at(row int) []result.Variant {
	n := len(g.Columns)
	return g.Variants[row*n : (row+1)*n]
}

// NewGrid builds a grid of variants in the order of crossed lists KEY=VALUE,VALUE; nil for a single list, or if
// variants are missing.
func NewGrid(lists []string, variants []result.Variant) *Grid {
	if len(lists) < 2 {
		return nil
	}
	key, last, _ := strings.Cut(lists[len(lists)-1], "=")
	g := &Grid{Key: key, Columns: strings.Split(last, ","), Variants: variants}
	n := len(g.Columns)
	if n < 3 || len(variants) < 2*n || len(variants)%n != 0 {
		return nil
	}
	for i, v := range variants {
		at := strings.LastIndexByte(v.Label, ' ')
		name, value := v.Label[:max(at, 0)], v.Label[at+1:]
		value = value[strings.LastIndexByte(value, '=')+1:]
		if at < 0 || value != g.Columns[i%n] || i%n > 0 && name != g.Rows[i/n] {
			return nil
		}
		if i%n == 0 {
			g.Rows = append(g.Rows, name)
		}
	}
	return g
}

// Steps returns the steps in milliseconds, row by row, the mean over seeds; 0 of a variant that failed.
func (g *Grid) Steps() (rows [][]float64) {
	for i := range g.Rows {
		var row []float64
		for _, v := range g.at(i) {
			row = append(row, mean(values(completion, v))/1e9)
		}
		rows = append(rows, row)
	}
	return rows
}

// ofGrid are the figures below the step, of rows that have any.
var ofGrid = []metric{
	{name: "  NIC drops", value: ofReorder(func(m *result.ReorderMemory) int64 { return m.Refused }), show: plain},
	{name: "  drops", value: func(s *result.Summary) float64 { return float64(s.Drops) }, show: plain},
}

// Table prints the answer, and the step of each variant, the mean over seeds, with a column for each value of the
// last list.
func (g *Grid) Table(w io.Writer, title string) {
	verdict(w, title, g.Variants)
	t := screen.Table{Columns: []screen.Column{{Head: "step, by " + g.Key}}}
	for _, c := range g.Columns {
		t.Columns = append(t.Columns, screen.Column{Head: c})
	}
	for i, name := range g.Rows {
		row := g.at(i)
		cells := []string{name}
		for _, v := range row {
			if len(v.Runs) == 0 {
				cells = append(cells, "failed")
				continue
			}
			cells = append(cells, completion.show(mean(values(completion, v))))
		}
		t.Add(cells...)
		for _, m := range ofGrid {
			has := func(v result.Variant) bool { return slices.Max(append(values(m, v), 0)) > 0 }
			if !slices.ContainsFunc(row, has) {
				continue
			}
			cells := []string{m.name}
			for _, v := range row {
				cells = append(cells, m.show(mean(values(m, v))))
			}
			t.AddStyled(screen.Baseline, cells...)
		}
	}
	fmt.Fprintln(w)
	t.Print(w)
	overSeeds(w, g.Variants)
	failures(w, g.Variants)
}
