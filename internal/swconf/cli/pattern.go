package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// A pattern is one command:
//
//	random-detect [minimum-threshold] <min:int> <unit:bytes|kbytes> [ecn]
//
// A pattern that begins with [no] accepts "no" and "default" before the command, which restore the switch's
// default. A line with them matches no other pattern, and may stop early (no random-detect). One that begins with
// no accepts only that form.
//
// Plain words are keywords and may be abbreviated. <name> captures a word, <name:int> and <name:num> a number,
// <name:a|b> one of several keywords (the full one is captured), and <name...> the remaining line. [ ] is optional.
type node struct {
	kind  kind
	text  string   // keyword, or name of the capture
	among []string // choice
	inner []node   // optional
}

type kind uint8

const (
	keyword kind = iota
	word
	integer
	number
	choice
	rest
	optional
	end // end of the line, in accepted words
)

func compile(pattern string) []node {
	fields := strings.Fields(strings.ReplaceAll(strings.ReplaceAll(pattern, "[", " [ "), "]", " ] "))
	open := 0
	for _, f := range fields {
		switch f {
		case "[":
			open++
		case "]":
			open--
		}
		if open < 0 {
			break
		}
	}
	if open != 0 {
		panic("unbalanced brackets in pattern " + pattern)
	}
	nodes, _ := compileUntil(fields, "")
	for i, f := range fields { // a keyword would overwrite an earlier captured word
		if name, _, _ := strings.Cut(strings.Trim(f, "<>."), ":"); f[0] == '<' &&
			slices.Contains(fields[i+1:], name) {
			panic("the keyword " + name + " follows a capture of that name in pattern " + pattern)
		}
	}
	return nodes
}

func compileUntil(f []string, end string) (out []node, left []string) {
	for len(f) > 0 {
		w := f[0]
		f = f[1:]
		switch {
		case w == end:
			return out, f
		case w == "[":
			var inner []node
			inner, f = compileUntil(f, "]")
			out = append(out, node{kind: optional, inner: inner})
		case strings.HasPrefix(w, "<"):
			name, typ, _ := strings.Cut(strings.Trim(w, "<>"), ":")
			n := node{kind: word, text: name}
			switch {
			case strings.HasSuffix(name, "..."):
				n = node{kind: rest, text: strings.TrimSuffix(name, "...")}
			case typ == "int":
				n.kind = integer
			case typ == "num":
				n.kind = number
			case typ != "":
				n.kind, n.among = choice, strings.Split(typ, "|")
			}
			out = append(out, n)
		default:
			out = append(out, node{kind: keyword, text: w})
		}
	}
	return out, nil
}

// Match is the values that a rule captured from a line.
type Match struct {
	Line    *Line
	No      bool // the line began with "no" or "default"
	Default bool // with "default"
	Of      any  // argument that opened the command's mode
	args    []capture
	space   [6]capture
	// exact counts full keywords, loose the abbreviated ones.
	exact, loose int
	early        bool // a "no" form that stops before the pattern ends
	whole        bool // whether its first word cannot be abbreviated
}

// capture is a word of a line with the name from its pattern.
type capture struct {
	name string
	Word
}

// get returns a capture: the last one of a name.
func (m *Match) get(name string) (Word, bool) {
	for i := len(m.args) - 1; i >= 0; i-- {
		if m.args[i].name == name {
			return m.args[i].Word, true
		}
	}
	return Word{}, false
}

func (m *Match) set(name string, w Word) { m.args = append(m.args, capture{name, w}) }

// forget makes a match ready for another rule.
func (m *Match) forget() {
	m.args, m.exact, m.loose, m.early, m.whole = m.space[:0], 0, 0, false, false
}

// Has reports whether a capture or an optional keyword was given.
func (m *Match) Has(name string) bool { _, ok := m.get(name); return ok }

// Word returns a captured word, or "".
func (m *Match) Word(name string) string { w, _ := m.get(name); return w.Text }

// Col returns the column of a capture, or of the line's first word.
func (m *Match) Col(name string) int {
	if w, ok := m.get(name); ok {
		return w.Col
	}
	return m.Line.Words[0].Col
}

// Int returns a captured integer; patterns guarantee its form.
func (m *Match) Int(name string) int64 {
	n, _ := strconv.ParseInt(m.Word(name), 10, 64)
	return n
}

// Num returns a captured number.
func (m *Match) Num(name string) float64 {
	n, _ := strconv.ParseFloat(m.Word(name), 64)
	return n
}

// miss describes how far a pattern matched and the accepted words there.
type miss struct {
	at   int // index of the word that did not fit; number of words: the line ended
	want []*node
}

// most is the maximum number of listed accepted words; of more, the nearest is listed.
const most = 8

// said returns the accepted words in place of the one found.
func (m *miss) said(found string) string {
	var words, all []string
	for _, n := range m.want {
		switch n.kind {
		case keyword:
			words = append(words, n.text)
		case choice:
			words = append(words, n.among...)
		}
		if s := n.String(); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	slices.Sort(words)
	if words = slices.Compact(words); len(words) <= most {
		return strings.Join(all, ", ")
	}
	if hint := field.Choice("", found, words, "").Hint; hint != "" {
		return fmt.Sprintf("%q, or one of %d other words", hint, len(words)-1)
	}
	return fmt.Sprintf("one of %d words", len(words))
}

// matcher tries one pattern on one line's words.
type matcher struct {
	words    []Word
	line     *Line
	lenient  bool // a "no" form may stop early
	why      bool // record how far a pattern matched
	furthest miss
}

// lineEnd is the end of a pattern.
var lineEnd = &node{kind: end}

func (m *matcher) fail(at int, want *node) bool {
	switch {
	case !m.why:
	case at > m.furthest.at || m.furthest.want == nil:
		m.furthest = miss{at, append(m.furthest.want[:0], want)}
	case at == m.furthest.at && len(m.furthest.want) < 20:
		m.furthest.want = append(m.furthest.want, want)
	}
	return false
}

// after is the node that follows an optional part of a pattern.
type after struct {
	nodes []node
	then  *after
}

// run matches nodes from word i on, then the following nodes, to the end of the line.
func (m *matcher) run(nodes []node, i int, x *Match, then *after) bool {
	for len(nodes) == 0 {
		if then == nil {
			return i == len(m.words) || m.fail(i, lineEnd)
		}
		nodes, then = then.nodes, then.then
	}
	n := &nodes[0]
	if n.kind == optional && i >= len(m.words) {
		return m.run(nodes[1:], i, x, then)
	}
	if n.kind == optional {
		args, exact, loose, early := x.args, x.exact, x.loose, x.early
		if m.run(n.inner, i, x, &after{nodes[1:], then}) {
			return true
		}
		x.args, x.exact, x.loose, x.early = args, exact, loose, early
		return m.run(nodes[1:], i, x, then)
	}
	if i >= len(m.words) {
		if m.lenient && i > 0 {
			x.early = true
			return true
		}
		return m.fail(i, n)
	}
	w := m.words[i]
	switch n.kind {
	case keyword:
		ok, exact := abbreviates(w.Text, n.text)
		if !ok {
			return m.fail(i, n)
		}
		m.count(x, exact)
		x.set(n.text, w)
	case word:
		x.set(n.text, w)
	case integer:
		if _, err := strconv.ParseInt(w.Text, 10, 63); err != nil {
			return m.fail(i, n)
		}
		x.set(n.text, w)
	case number:
		if v, err := strconv.ParseFloat(w.Text, 64); err != nil || v < 0 || v > 1e15 || v != v {
			return m.fail(i, n)
		}
		x.set(n.text, w)
	case choice:
		full, exact, ok := pick(w.Text, n.among)
		if !ok {
			return m.fail(i, n)
		}
		m.count(x, exact)
		x.set(n.text, Word{full, w.Col})
	case rest:
		at := w.Col - m.line.Words[0].Col
		x.set(n.text, Word{m.line.Text[at:], w.Col})
		i = len(m.words) - 1
	}
	return m.run(nodes[1:], i+1, x, then)
}

func (m *matcher) count(x *Match, exact bool) {
	if exact {
		x.exact++
	} else {
		x.loose++
	}
}

// abbreviates reports whether s is a keyword or a prefix of it. Case does not matter, as on the devices.
func abbreviates(s, full string) (ok, exact bool) {
	if strings.EqualFold(s, full) {
		return true, true
	}
	return len(s) > 0 && len(s) < len(full) && strings.EqualFold(full[:len(s)], s), false
}

// pick finds the one choice that s abbreviates.
func pick(s string, among []string) (full string, exact, ok bool) {
	found := 0
	for _, a := range among {
		switch ok, exact := abbreviates(s, a); {
		case exact:
			return a, true, true
		case ok:
			full = a
			found++
		}
	}
	return full, false, found == 1
}

func (n node) String() string {
	switch n.kind {
	case keyword:
		return fmt.Sprintf("%q", n.text)
	case integer:
		return "a whole number"
	case number:
		return "a number"
	case choice:
		return strings.Join(n.among, " or ")
	case end:
		return "the end of the line"
	}
	return "<" + n.text + ">"
}
