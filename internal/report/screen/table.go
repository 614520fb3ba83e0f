package screen

import (
	"io"
	"slices"
	"strings"
)

// Column is one column of a table. The first is left-aligned, others are right-aligned unless Left.
type Column struct {
	Head  string
	Left  bool
	Rare  bool // omitted if all its cells are empty, zero or do not apply
	Spare bool // omitted if the screen is too narrow, the last one first
}

// Table is a table without lines between its cells. Its last column, if left-aligned, wraps.
type Table struct {
	Indent  string
	Columns []Column
	rows    [][]string
	style   []Style
}

// Add adds a row; missing cells are empty.
func (t *Table) Add(cells ...string) { t.AddStyled("", cells...) }

// AddStyled adds a row in a style.
func (t *Table) AddStyled(style Style, cells ...string) {
	row := make([]string, len(t.Columns))
	copy(row, cells)
	t.rows, t.style = append(t.rows, row), append(t.style, style)
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return len(t.rows) }

// nothing reports whether a cell is empty, a zero or a dash.
func nothing(cell string) bool {
	number, _, _ := strings.Cut(cell, " ")
	return number == "" || number == "0" || number == "–" || number == "-" || number == "0.0"
}

// gap is the number of columns between two cells.
const gap = 2

// Print prints the table.
func (t *Table) Print(w io.Writer) {
	layout := Of(w)
	var shown []int
	for i, c := range t.Columns {
		if !c.Rare || slices.ContainsFunc(t.rows, func(row []string) bool { return !nothing(row[i]) }) {
			shown = append(shown, i)
		}
	}
	widths := t.widths(shown)
	for layout.Width > 0 && t.total(widths) > layout.Width {
		k := len(shown) - 1
		for k >= 0 && !t.Columns[shown[k]].Spare {
			k--
		}
		if k < 0 {
			break
		}
		shown, widths = slices.Delete(shown, k, k+1), slices.Delete(widths, k, k+1)
	}
	rest := len(shown) - 1
	if over := t.total(widths) - layout.Width; layout.Width > 0 && over > 0 && rest > 0 {
		if t.Columns[shown[rest]].Left { // its text wraps
			less := min(over, max(widths[rest]-24, 0))
			widths[rest] -= less
			over -= less
		}
		widths[0] = max(widths[0]-over, min(widths[0], 12))
	}
	heads := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i] = c.Head
	}
	if slices.ContainsFunc(heads, func(h string) bool { return h != "" }) {
		t.line(w, layout, shown, widths, heads, "")
	}
	for i, row := range t.rows {
		t.line(w, layout, shown, widths, row, t.style[i])
	}
}

// Fits reports whether all columns fit a layout's width.
func (t *Table) Fits(l Layout) bool {
	all := make([]int, len(t.Columns))
	for i := range all {
		all[i] = i
	}
	return l.Width == 0 || t.total(t.widths(all)) <= l.Width
}

func (t *Table) widths(shown []int) []int {
	out := make([]int, len(shown))
	for k, i := range shown {
		out[k] = Width(t.Columns[i].Head)
		for _, row := range t.rows {
			out[k] = max(out[k], Width(row[i]))
		}
	}
	return out
}

func (t *Table) total(widths []int) int {
	n := Width(t.Indent) + gap*(len(widths)-1)
	for _, x := range widths {
		n += x
	}
	return n
}

// line prints the cells of a row, and the further lines of its last cell.
func (t *Table) line(w io.Writer, layout Layout, shown, widths []int, cells []string, style Style) {
	var b strings.Builder
	b.WriteString(t.Indent)
	var more []string
	last := len(shown) - 1
	for k, i := range shown {
		cell, left := cells[i], k == 0 || t.Columns[i].Left
		if k > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		switch {
		case k == last && k > 0 && left && layout.Width > 0 && Width(cell) > widths[k]:
			lines := Fold(cell, widths[k], true)
			cell, more = lines[0], lines[1:]
		case k == 0:
			cell = Clip(cell, widths[k])
		}
		blank := strings.Repeat(" ", max(widths[k]-Width(cell), 0))
		if left {
			b.WriteString(cell + blank)
		} else {
			b.WriteString(blank + cell)
		}
	}
	indent := strings.Repeat(" ", t.total(widths)-widths[last])
	for _, l := range append([]string{b.String()}, prefixed(indent, more)...) {
		l = strings.TrimRight(l, " ")
		if style != "" {
			l = layout.Paint(style, l)
		}
		io.WriteString(w, l+"\n")
	}
}

func prefixed(indent string, lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, indent+l)
	}
	return out
}
