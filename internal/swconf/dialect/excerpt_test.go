package dialect_test

import (
	"slices"
	"strings"
	"testing"
)

// differing are the lines in which two texts differ, for each. If lines were only removed or added, the other text
// has the previous line.
func differing(a, b string) (inA, inB []int) {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	head := 0
	for head < min(len(la), len(lb)) && la[head] == lb[head] {
		head++
	}
	tail := 0
	for tail < min(len(la), len(lb))-head && la[len(la)-1-tail] == lb[len(lb)-1-tail] {
		tail++
	}
	ma, mb := la[head:len(la)-tail], lb[head:len(lb)-tail]
	common := make([][]int, len(ma)+1) // longest common subsequences of the rest
	for i := range common {
		common[i] = make([]int, len(mb)+1)
	}
	for i := len(ma) - 1; i >= 0; i-- {
		for j := len(mb) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); ma[i] == mb[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(ma) || j < len(mb); {
		if i < len(ma) && j < len(mb) && ma[i] == mb[j] {
			i, j = i+1, j+1
			continue
		}
		fromA, fromB := i, j
		for (i < len(ma) || j < len(mb)) && (i == len(ma) || j == len(mb) || ma[i] != mb[j]) {
			if j == len(mb) || i < len(ma) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		inA, inB = append(inA, span(head+fromA, head+i)...), append(inB, span(head+fromB, head+j)...)
	}
	return inA, inB
}

// span is the numbers from one up to another, or the one before the first if there are none.
func span(from, to int) (out []int) {
	if from == to {
		return []int{max(0, from-1)}
	}
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

// excerpt shows the first of some lines of a text with its context and its headings, as a block of Markdown.
func excerpt(text string, marks []int) string {
	const around, most = 2, 3
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	shown := map[int]bool{}
	places := 0
	for k, m := range marks {
		if k == 0 || m > marks[k-1]+2*around+1 {
			places++
		}
		if places > most {
			break
		}
		for i := m; i <= min(len(lines)-1, m+around); i++ {
			shown[i] = true
		}
		deep := indent(lines[min(m, len(lines)-1)])
		for i := m - 1; i >= 0 && (deep > 0 || i >= m-around); i-- { // a line that is below no other heading
			if d := indent(lines[i]); d < deep || i >= m-around && d == deep {
				shown[i], deep = true, d
			}
		}
	}
	var at []int
	for i := range shown {
		at = append(at, i)
	}
	slices.Sort(at)
	var b strings.Builder
	b.WriteString("```\n")
	for k, i := range at {
		if k > 0 && i > at[k-1]+1 {
			b.WriteString(strings.Repeat(" ", indent(lines[i])) + "...\n")
		}
		b.WriteString(lines[i] + "\n")
	}
	if places > most {
		b.WriteString("...\n")
	}
	return b.String() + "```\n"
}

// wrapped breaks prose into lines that fit the terminal, each after a prefix.
func wrapped(prefix, prose string) string {
	var b strings.Builder
	line := prefix
	for _, word := range strings.Fields(prose) {
		if len(line) > len(prefix) && len(line)+1+len(word) > 100 {
			b.WriteString(line + "\n")
			line = prefix
		}
		if len(line) > len(prefix) {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func TestExcerpt(t *testing.T) {
	const text = "a\n  b\n  c\n    d\n    e\n    f\n    g\n  h\ni\n"
	for _, c := range []struct{ change, was, now string }{
		{strings.Replace(text, "    f\n", "    F\n", 1), "```\na\n  ...\n  c\n    d\n    e\n    f\n    " +
			"g\n  h\n```\n",
			"```\na\n  ...\n  c\n    d\n    e\n    F\n    g\n  h\n```\n"},
		{strings.Replace(text, "    f\n    g\n", "", 1), "```\na\n  ...\n  c\n    d\n    e\n    f\n    " +
			"g\n  h\ni\n```\n",
			"```\na\n  ...\n  c\n    d\n    e\n  h\ni\n```\n"},
	} {
		was, now := differing(text, c.change)
		if got := excerpt(text, was); got != c.was {
			t.Errorf("%v:\n%s", was, got)
		}
		if got := excerpt(c.change, now); got != c.now {
			t.Errorf("%v:\n%s", now, got)
		}
	}
}
