package counters

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// table reads the output of Python's tabulate: headings, a line of dashes with the column positions, rows. A heading
// begins another table.
type table struct {
	heads  []string
	spans  [][2]int
	last   line // the one before: a heading, if dashes follow
	skewed bool // whether the last row has cells that are not below their headings
}

// next parses a line and returns the cells of a row; nil if it is none. A line before dashes is a heading; dashes
// without a gap end the table.
func (t *table) next(l line, following string) (cells []string) {
	s := strings.TrimRight(l.text, " \t")
	t.skewed = false
	defer func() { t.last = l }()
	switch {
	case s == "":
		t.spans, t.heads = nil, nil
		return nil
	case rule(s) && strings.Contains(s, "--"):
		if spans := dashes(s); len(spans) > 1 || t.spans == nil {
			t.spans = spans
			t.heads = t.row(strings.TrimRight(t.last.text, " \t"))
			if t.heads == nil {
				t.spans = nil
			}
		} else {
			t.spans = nil
		}
		return nil
	case t.spans == nil || rule(following) && strings.Contains(following, "--  --"):
		return nil
	}
	cells = t.row(s)
	t.skewed = cells == nil
	return cells
}

// row returns the cells of a line, nil if they are not below their headings: the line is incomplete or not part of
// the table. A line whose columns have lost their places, as after a copy that joins spaces, has as many words as
// there are columns, none of which is a part of a number with commas; one heading may have two.
func (t *table) row(s string) []string {
	joined := len(t.spans) > 1 && t.spans[1][0]-t.spans[0][1] < 2 // the dashes, too
	if !joined && t.aligned(s) {
		return t.cut(s)
	}
	words := strings.Fields(s)
	if len(words) == len(t.spans)+1 && words[0] == "Port" {
		words = append([]string{words[0] + " " + words[1]}, words[2:]...)
	}
	if len(words) == len(t.spans) && !slices.ContainsFunc(words, partial) {
		return words
	}
	return nil
}

// partial reports a word of digits and commas that is no number, as a space within 1,234 leaves it.
func partial(word string) bool {
	_, ok := number(word, line{})
	return !ok && strings.Contains(word, ",") && strings.Trim(word, "0123456789,") == ""
}

// aligned reports whether the space between the columns of a line is empty, and each cell begins or ends with its
// column. Numbers with a point are aligned by it.
func (t *table) aligned(s string) bool {
	end := 0
	for _, at := range t.spans {
		if strings.TrimSpace(s[min(end, len(s)):min(at[0], len(s))]) != "" {
			return false
		}
		end = at[1]
		cell := s[min(at[0], len(s)):min(end, len(s))]
		inner := strings.HasPrefix(cell, " ") && (strings.HasSuffix(cell, " ") || len(s) < end)
		if inner && strings.TrimSpace(cell) != "" && !strings.Contains(cell, ".") {
			return false
		}
	}
	return strings.TrimSpace(s[min(end, len(s)):]) == ""
}

// dashes returns the columns at which fields begin and end.
func dashes(s string) (out [][2]int) {
	start := -1
	for i := 0; i <= len(s); i++ {
		switch is := i < len(s) && s[i] == '-'; {
		case is && start < 0:
			start = i
		case !is && start >= 0:
			out = append(out, [2]int{start, i})
			start = -1
		}
	}
	return out
}

// cut is the cells of a line.
func (t *table) cut(s string) []string {
	var cells []string
	for _, at := range t.spans {
		if at[0] >= len(s) {
			cells = append(cells, "")
			continue
		}
		cells = append(cells, strings.TrimSpace(s[at[0]:min(at[1], len(s))]))
	}
	return cells
}

// grid writes such a table: cells right-aligned, except the first columns.
type grid struct {
	heads []string
	left  int // number of left-aligned columns
	rows  [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) write(w *bytes.Buffer) {
	if len(g.rows) == 0 {
		return
	}
	wide := make([]int, len(g.heads))
	all := append([][]string{g.heads}, g.rows...)
	for i := range g.heads {
		for k := range all {
			wide[i] = max(wide[i], len(all[k][i]))
		}
	}
	dash := make([]string, len(wide))
	for i := range dash {
		dash[i] = strings.Repeat("-", wide[i])
	}
	all = append([][]string{g.heads, dash}, g.rows...)
	for _, cells := range all {
		var b strings.Builder
		for i, c := range cells {
			if i > 0 {
				b.WriteString("  ")
			}
			if i < g.left {
				fmt.Fprintf(&b, "%-*s", wide[i], c)
			} else {
				fmt.Fprintf(&b, "%*s", wide[i], c)
			}
		}
		w.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
	w.WriteByte('\n')
}
