package cli

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Mode is one level of a command line: its rules, that is the commands accepted in it.
type Mode struct {
	Name string
	*table
	of any
}

// table is the rules of a mode, and the rules that lines with a first word can match.
type table struct {
	rules []rule
	heads map[string][]int // first indexed rule by first letter of the first keyword; "" for captures
	fits  map[string][]int

	indexed int
}

type rule struct {
	*meaning
	do func(*Match) *Mode
}

// NewMode makes an empty mode.
func NewMode(name string) *Mode { return &Mode{Name: name, table: &table{}} }

// Of is the mode opened for an object, which its commands find in Match.Of. A table is thus created once, and not
// for each of sixty thousand interfaces.
func (m *Mode) Of(v any) *Mode { return &Mode{m.Name, m.table, v} }

// On adds a command. do is called for each matching line and returns the mode that the command opens, or nil.
func (m *Mode) On(pattern string, do func(*Match) *Mode) *Mode {
	m.rules, m.fits = append(m.rules, rule{commands.meaning(pattern, translate), do}), nil
	return m
}

// Set adds a command that opens no mode.
func (m *Mode) Set(pattern string, do func(*Match)) *Mode {
	return m.On(pattern, func(x *Match) *Mode { do(x); return nil })
}

// Skip adds commands that are known and irrelevant, with all lines indented below them.
func (m *Mode) Skip(read func(*Match), patterns ...string) *Mode {
	do := func(x *Match) *Mode { read(x); return skipped }
	for _, p := range patterns {
		m.rules = append(m.rules, rule{passedOver.meaning(p, translateSkipped), do})
	}
	m.fits = nil
	return m
}

// Families adds commands like Skip: by their beginning, the words that may follow, separated by bars, or none if
// any may. The device rejects other words, so the line is unknown: ip adress 10.0.0.1/31 leaves a port without its
// address.
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

// skipped accepts all lines below an ignored command.
var skipped = NewMode("skipped")

func init() {
	skipped.On("[no] <anything...>", func(*Match) *Mode { return nil })
	skipped.index() // shared by all readers: immutable from now on
}

// Unknown is a line no rule fits.
type Unknown struct {
	Line *Line
	Col  int
	Why  string
	Cut  bool     // the line ends before the command does
	Near []string // commands that begin as the line does, without optional parts
}

// frame is an open mode. Its lines so far determine whether its contents are written indented.
type frame struct {
	mode   *Mode
	indent int
	body   body
}

type body uint8

const (
	empty  body = iota
	below       // indented deeper than its command
	beside      // a sibling, not a child: modes follow commands only, as on the switch
)

// maxSections is the maximum number of sub-modes of a configuration, maxIndent of columns before a command: larger
// values occur in no switch's configuration.
const (
	maxSections = 10_000
	maxIndent   = 200
)

// Read feeds lines to the rules, beginning in the root mode, and returns the lines that no rule matches. On the
// switch a line belongs to the innermost mode that accepts it, for any indentation. Tables are less complete than
// switches, so indentation decides if a section is indented. Otherwise, or after a prompt, only commands decide. A
// word that could mean two commands is not guessed. The line is nil unless it exceeds the limit of sections.
func Read(lines []Line, root *Mode) (list []Unknown, tooMany *Line) {
	var unknown []Unknown
	r := reader{stack: []frame{{mode: root, indent: -1, body: below}}}
	indented := false
	for _, l := range lines {
		indented = indented || l.Indent > 0
	}
	r.flat = !indented
	sections := 0
	for i := range lines {
		l := &lines[i]
		if strings.EqualFold(l.Text, "end") || l.Indent < 0 && asked.MatchString(l.Text) {
			r.stack = r.stack[:1]
			continue
		}
		if strings.EqualFold(l.Text, "exit") || len(r.stack) > 1 && len(l.Words) == 1 &&
			strings.HasPrefix(strings.ToLower(l.Text), "exit-") {
			r.exit()
			continue
		}
		depth := r.depth(l)
		next, at, bad := r.dispatch(l, depth)
		if bad != nil {
			unknown = append(unknown, *bad)
			r.stack = r.stack[:r.open(depth)]
			if !r.flat { // lines indented below an unknown line are unknown with it
				r.stack = append(r.stack, frame{mode: NewMode("unknown"), indent: l.Indent})
			}
			continue
		}
		r.took(l, at, depth)
		if next != nil {
			r.stack = append(r.stack, frame{mode: next, indent: l.Indent})
			if next != skipped {
				sections++
			}
			if sections > maxSections || len(r.stack) > maxIndent {
				return unknown, l
			}
		}
	}
	return unknown, nil
}

// reader is the state of a parser of command lines.
type reader struct {
	stack []frame // open modes, the innermost last
	flat  bool    // sections of this configuration are not indented
}

// exit leaves the innermost mode. An ignored line may have opened a section. If no line is indented below it, it
// has not.
func (r *reader) exit() {
	n := len(r.stack)
	for n > 1 && r.stack[n-1].body == empty && (r.stack[n-1].mode == skipped || r.stack[n-1].mode.rules == nil) {
		n--
	}
	r.stack = r.stack[:max(n-1, 1)]
}

// depth returns the number of open modes below which a line belongs by its indentation.
func (r *reader) depth(l *Line) int {
	depth := len(r.stack)
	for l.Indent >= 0 && depth > 1 && r.stack[depth-1].indent >= l.Indent {
		depth--
	}
	return depth
}

// open returns the number of modes that stay open at a line indented below depth of them: those, and further ones with
// unindented contents.
func (r *reader) open(depth int) int {
	n := depth
	for n < len(r.stack) && (r.stack[n].body == beside || r.stack[n].body == empty && r.flat) {
		n++
	}
	return n
}

// took records how the lines of a mode are indented, and leaves the modes inside it.
func (r *reader) took(l *Line, at, depth int) {
	f := &r.stack[at]
	switch {
	case l.Indent < 0 || at == 0:
	case at < depth && f.body == empty:
		f.body = below
	case at >= depth && f.body != below:
		f.body, r.flat = beside, true
	}
	r.stack = r.stack[:at+1]
}

// dispatch finds the mode that accepts a line: the open ones, from the innermost, then deeper ones that its
// indentation has left. A full command precedes an abbreviation: class, of a policy, is not class-map, and router,
// below a protocol, is not router-id.
func (r *reader) dispatch(l *Line, depth int) (next *Mode, at int, bad *Unknown) {
	open := r.open(depth)
	var found *Match
	var by *rule
	for i := range r.order(l, depth, open) {
		if x, rule, _ := r.stack[i].mode.match(l, false); x != nil && (found == nil || x.whole) {
			found, by, at = x, rule, i
			if x.whole {
				break
			}
		}
	}
	if found != nil {
		return by.do(found), at, nil
	}
	for i := range r.order(l, depth, open) {
		if _, _, u := r.stack[i].mode.match(l, true); bad == nil || better(u, bad) {
			bad = u
		}
	}
	return nil, 0, bad
}

// order lists the modes that may accept a line, by their positions in the stack.
func (r *reader) order(l *Line, depth, open int) iter.Seq[int] {
	return func(yield func(int) bool) {
		try := func(i int) bool { return r.stack[i].mode == skipped && l.Indent <= r.stack[i].indent || yield(i) }
		for i := open - 1; i >= 0; i-- {
			if i == 0 && depth > 1 && l.Indent > 0 {
				break // a line indented below a command is not a global one
			}
			if !try(i) {
				return
			}
		}
		for i := len(r.stack) - 1; i >= open; i-- {
			if !try(i) {
				return
			}
		}
	}
}

// better prefers the complaint that got further into the line.
func better(a, b *Unknown) bool { return a != nil && a.Col > b.Col }

// match finds the rule for a line; most full keywords win. Two rules that match equally well through different
// abbreviations are ambiguous. The reason why no rule matches is computed on request.
func (m *Mode) match(l *Line, why bool) (*Match, *rule, *Unknown) {
	words, no, reset := l.Words, false, false
	if len(words) > 1 {
		no, reset = strings.EqualFold(words[0].Text, "no"), strings.EqualFold(words[0].Text, "default")
	}
	if no = no || reset; no {
		words = words[1:]
	}
	if m != skipped && strings.EqualFold(words[0].Text, "no") { // alone, twice, or after default
		return nil, nil, &Unknown{Line: l, Col: words[0].Col, Why: "\"no\" is not accepted before this command"}
	}
	var best *Match
	var deaf *rule // the best match except for the "no"
	said := 0
	var hit, rival *rule
	furthest := miss{at: -1}
	var near []*rule // rules that failed there
	mm := matcher{words: words, line: l, lenient: no, why: why}
	var x *Match
	for _, i := range m.fitting(words[0].Text) {
		r := &m.rules[i]
		if r.only && !no {
			continue
		}
		if x == nil {
			x = &Match{Line: l, No: no, Default: reset, Of: m.of}
		}
		x.forget()
		mm.furthest = miss{}
		if !mm.run(r.nodes, 0, x, nil) {
			if mm.furthest.at > furthest.at {
				furthest, near = mm.furthest, nil
			} else if mm.furthest.at == furthest.at && furthest.at > 0 && len(furthest.want) < 100 {
				furthest.want = append(furthest.want, mm.furthest.want...)
			}
			if why && !no && mm.furthest.at == furthest.at && furthest.at > 0 {
				near = append(near, r)
			}
			continue
		}
		switch {
		case no && !r.no:
			if deaf == nil || x.exact > said {
				deaf, said = r, x.exact
			}
		case best == nil || x.exact > best.exact || x.exact == best.exact && best.early && !x.early:
			best, hit, rival, x = x, r, nil, best
		case x.exact < best.exact || x.early != best.early: // the complete one of two equally specific patterns
		case x.exact == best.exact && x.loose > 0 && best.loose > 0 && first(hit) != first(r):
			rival = r
		}
	}
	if rival != nil {
		return nil, nil, &Unknown{Line: l, Col: words[0].Col,
			Why: fmt.Sprintf("%q is ambiguous: %q or %q", words[0].Text, first(hit), first(rival))}
	}
	if deaf != nil && (best == nil || said > best.exact) {
		return nil, nil, &Unknown{Line: l, Col: l.Words[0].Col,
			Why: fmt.Sprintf("%q is not understood before %s", l.Words[0].Text, deaf.nodes[0])}
	}
	if best != nil {
		best.whole = hit.nodes[0].inFull(words[0].Text)
		return best, hit, nil
	}
	if !why {
		return nil, nil, nil
	}
	u := &Unknown{Line: l, Col: words[0].Col, Why: "unknown command"}
	for _, r := range near[:min(len(near), mostNear)] {
		u.Near = append(u.Near, usage(r.nodes))
	}
	if furthest.at > 0 {
		if furthest.at >= len(words) {
			last := words[len(words)-1]
			u.Col, u.Cut = last.Col+len(last.Text), true
			u.Why = "the command ends early, expected " + furthest.said("")
		} else {
			u.Col, u.Why = words[furthest.at].Col,
				fmt.Sprintf("found %q, expected %s", words[furthest.at].Text, furthest.said(words[furthest.at].Text))
		}
	}
	return nil, nil, u
}

// mostNear is the maximum number of suggested commands for a line.
const mostNear = 4

// maxFits is the maximum number of cached first words of a configuration.
const maxFits = 4096

// fitting are the rules that a line with a first word can mean. A word that is a complete command abbreviates no
// longer one: ip does not match ipv6.
func (t *table) fitting(word string) []int {
	if list, known := t.fits[word]; known {
		return list
	}
	t.index()
	head := t.heads[strings.ToLower(word[:1])]
	if len(head) == 0 {
		return t.heads[""]
	}
	whole := slices.ContainsFunc(head, func(i int) bool { return strings.EqualFold(t.rules[i].nodes[0].text, word) })
	var list []int
	for _, i := range head {
		if ok, exact := abbreviates(word, t.rules[i].nodes[0].text); ok && (exact || !whole) {
			list = append(list, i)
		}
	}
	list = append(list, t.heads[""]...)
	if t.fits == nil {
		t.fits = map[string][]int{}
	}
	if len(t.fits) < maxFits {
		t.fits[word] = list
	}
	return list
}

// index sorts added rules by their first keywords at the first lookup, because many modes are created for
// configurations without a line of them.
func (t *table) index() {
	if t.heads == nil {
		t.heads = map[string][]int{}
	}
	for ; t.indexed < len(t.rules); t.indexed++ {
		head := ""
		if n := &t.rules[t.indexed].nodes[0]; n.kind == keyword {
			head = strings.ToLower(n.text[:1])
		}
		t.heads[head] = append(t.heads[head], t.indexed)
	}
}

// inFull reports whether a word is a pattern's first one, not abbreviated.
func (n *node) inFull(word string) bool {
	switch n.kind {
	case keyword:
		return strings.EqualFold(n.text, word)
	case choice:
		return slices.ContainsFunc(n.among, func(a string) bool { return strings.EqualFold(a, word) })
	}
	return true
}

func first(r *rule) string { return r.nodes[0].text }
