package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mode is one level of a command line: its rules, and what may be typed in it.
type Mode struct {
	Name  string
	rules []rule
	heads map[string][]int // by first letter of the first keyword; "" for captures
}

type rule struct {
	nodes    []node
	pattern  string
	no, only bool // understands "no"; fits nothing else
	do       func(*Match) *Mode
}

// NewMode makes an empty mode.
func NewMode(name string) *Mode { return &Mode{Name: name, heads: map[string][]int{}} }

// On adds a command. do is called for each line that fits and returns the mode
// that the command opens, or nil.
func (m *Mode) On(pattern string, do func(*Match) *Mode) *Mode {
	r := rule{pattern: pattern, do: do}
	if rest, ok := strings.CutPrefix(pattern, "[no] "); ok {
		r.no, pattern = true, rest
	} else if rest, ok := strings.CutPrefix(pattern, "no "); ok {
		r.no, r.only, pattern = true, true, rest
	}
	r.nodes = compile(pattern)
	head := ""
	if n := r.nodes[0]; n.kind == keyword {
		head = strings.ToLower(n.text[:1])
	}
	m.heads[head] = append(m.heads[head], len(m.rules))
	m.rules = append(m.rules, r)
	return m
}

// Set adds a command that opens no mode.
func (m *Mode) Set(pattern string, do func(*Match)) *Mode {
	return m.On(pattern, func(x *Match) *Mode { do(x); return nil })
}

// Skip adds commands that are known and do not matter here, with everything
// that is indented below them.
func (m *Mode) Skip(read func(*Match), patterns ...string) *Mode {
	for _, p := range patterns {
		m.On("[no] "+p+" [ <more...> ]", func(x *Match) *Mode { read(x); return skipped })
	}
	return m
}

// Families adds commands like Skip: by what they begin with the words that may follow, with a bar between,
// or none where anything may. A word that is none of them is one that the device refuses, and not a line
// that is known: ip adress 10.0.0.1/31 leaves a port without its address.
func (m *Mode) Families(read func(*Match), families map[string]string) *Mode {
	for _, head := range slices.Sorted(maps.Keys(families)) {
		pattern := head
		if words := families[head]; words != "" {
			pattern += " <what:" + words + ">"
		}
		m.Skip(read, pattern)
	}
	return m
}

// skipped takes whatever stands below a command that was passed over.
var skipped = NewMode("skipped")

func init() {
	skipped.On("[no] <anything...>", func(*Match) *Mode { return nil })
}

// Unknown is a line no rule fits.
type Unknown struct {
	Line *Line
	Col  int
	Why  string
	Cut  bool // the line ends where a command goes on
}

type frame struct {
	mode   *Mode
	indent int
}

// maxSections bounds the sub-modes that a text opens, maxIndent the columns before a
// command: what has more of them is no switch's configuration.
const (
	maxSections = 10_000
	maxIndent   = 200
)

// Read feeds lines to the rules, beginning in the root mode, and returns those
// that none of them takes. Where the text is indented, indentation says which
// mode a line belongs to; without it a line belongs to the innermost mode that
// knows it. A word that could mean two commands is not guessed. The line is nil unless
// it opens more sections than a text may have.
func Read(lines []Line, root *Mode) (list []Unknown, tooMany *Line) {
	var unknown []Unknown
	indented := false
	for _, l := range lines {
		indented = indented || l.Indent > 0
	}
	stack, sections := []frame{{root, -1}}, 0
	for i := range lines {
		l := &lines[i]
		if len(stack) > 1 && (strings.EqualFold(l.Text, "exit") ||
			strings.HasPrefix(strings.ToLower(l.Text), "exit-")) {
			stack = stack[:len(stack)-1]
			continue
		}
		if strings.EqualFold(l.Text, "end") || strings.EqualFold(l.Text, "exit") {
			stack = stack[:1]
			continue
		}
		depth := len(stack)
		if indented && l.Indent >= 0 {
			for depth > 1 && stack[depth-1].indent >= l.Indent {
				depth--
			}
		}
		next, at, bad := dispatch(l, stack, depth)
		if bad != nil {
			unknown = append(unknown, *bad)
			stack = stack[:depth]
			if indented { // what stands indented below an unknown line is unknown with it
				stack = append(stack, frame{NewMode("unknown"), l.Indent})
			}
			continue
		}
		stack = stack[:at+1]
		if next != nil {
			stack = append(stack, frame{next, l.Indent})
			if sections++; sections > maxSections || len(stack) > maxIndent {
				return unknown, l
			}
		}
	}
	return unknown, nil
}

// dispatch finds the mode that knows a line: by indentation first, then its
// parents, then the deeper modes that were open before.
func dispatch(l *Line, stack []frame, depth int) (next *Mode, at int, bad *Unknown) {
	try := func(i int) (done bool) {
		if stack[i].mode == skipped && l.Indent <= stack[i].indent {
			return false
		}
		x, r, u := stack[i].mode.match(l)
		if x != nil {
			next, at, bad = r.do(x), i, nil
			return true
		}
		if bad == nil || better(u, bad) {
			bad = u
		}
		return false
	}
	for i := depth - 1; i >= 0; i-- {
		if i == 0 && depth > 1 && l.Indent > 0 {
			break // what is indented below a command is no global one
		}
		if try(i) {
			return
		}
	}
	for i := len(stack) - 1; i >= depth; i-- {
		if try(i) {
			return
		}
	}
	return
}

// better prefers the complaint that got further into the line.
func better(a, b *Unknown) bool { return a != nil && a.Col > b.Col }

// match finds the rule for a line: most keywords written out in full wins; two
// rules that fit equally well through different abbreviations are ambiguous.
func (m *Mode) match(l *Line) (*Match, *rule, *Unknown) {
	words, no, reset := l.Words, false, false
	if len(words) > 1 {
		no, reset = strings.EqualFold(words[0].Text, "no"), strings.EqualFold(words[0].Text, "default")
	}
	if no = no || reset; no {
		words = words[1:]
	}
	if m != skipped && strings.EqualFold(words[0].Text, "no") { // alone, twice, or behind default
		return nil, nil, &Unknown{Line: l, Col: words[0].Col,
			Why: "\"no\" does not stand before a command here"}
	}
	var best *Match
	var deaf *rule // fits best but for the "no", so well
	said := 0
	var hit, rival *rule
	furthest := miss{at: -1}
	head := strings.ToLower(words[0].Text[:1])
	whole := false // the first word is a command's: it abbreviates no longer one, as ip would ipv6
	for _, i := range m.heads[head] {
		whole = whole || strings.EqualFold(m.rules[i].nodes[0].text, words[0].Text)
	}
	for _, list := range [2][]int{m.heads[head], m.heads[""]} {
		for _, i := range list {
			r := &m.rules[i]
			if r.only && !no || whole && r.nodes[0].kind == keyword &&
				!strings.EqualFold(r.nodes[0].text, words[0].Text) {
				continue
			}
			x := &Match{Line: l, No: no, Default: reset, args: map[string]Word{}}
			mm := matcher{words: words, line: l, lenient: no}
			if !mm.run(r.nodes, 0, x, func(j int) bool {
				return j == len(words) || mm.fail(j, node{kind: end})
			}) {
				if mm.furthest.at > furthest.at {
					furthest = mm.furthest
				} else if mm.furthest.at == furthest.at && furthest.at > 0 && len(furthest.want) < 100 {
					furthest.want = append(furthest.want, mm.furthest.want...)
				}
				continue
			}
			switch {
			case no && !r.no:
				if deaf == nil || x.exact > said {
					deaf, said = r, x.exact
				}
			case best == nil || x.exact > best.exact || x.exact == best.exact && best.early && !x.early:
				best, hit, rival = x, r, nil
			case x.exact < best.exact || x.early != best.early: // of two that say as much the whole one
			case x.exact == best.exact && x.loose > 0 && best.loose > 0 && first(hit) != first(r):
				rival = r
			}
		}
	}
	if rival != nil {
		return nil, nil, &Unknown{l, words[0].Col, fmt.Sprintf("%q is ambiguous: %q or %q", words[0].Text,
			first(hit), first(rival)), false}
	}
	if deaf != nil && (best == nil || said > best.exact) {
		return nil, nil, &Unknown{Line: l, Col: l.Words[0].Col,
			Why: fmt.Sprintf("%q is not understood before %s", l.Words[0].Text, deaf.nodes[0])}
	}
	if best != nil {
		return best, hit, nil
	}
	u := &Unknown{Line: l, Col: words[0].Col, Why: "unknown command"}
	if furthest.at > 0 {
		if furthest.at >= len(words) {
			last := words[len(words)-1]
			u.Col, u.Cut = last.Col+len(last.Text), true
			u.Why = "the command ends early, expected " + furthest.said("")
		} else {
			u.Col, u.Why = words[furthest.at].Col,
				fmt.Sprintf("found %q, expected %s", words[furthest.at].Text,
					furthest.said(words[furthest.at].Text))
		}
	}
	return nil, nil, u
}

func first(r *rule) string { return r.nodes[0].text }
