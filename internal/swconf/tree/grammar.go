package tree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf"
)

// Grammar is a language's table of paths. A row is
//
//	interface <port> link mtu <size:int>
//
// Plain words are keywords; <name> takes any word, <name:int> and <name:num> a number, <name:a|b> one of
// several words, <name...> the rest of the path, which may be empty.
type Grammar struct {
	top   place
	Short bool // keywords may be abbreviated
}

// place is the matched part of a path.
type place struct {
	words map[string]*place
	takes []capture
	row   *Row
}

type capture struct {
	kind  kind
	name  string
	among []string
	next  *place
}

type kind uint8

const (
	anything kind = iota
	integer
	number
	choice
	rest
)

// Row is one path of a grammar, and its action.
type Row struct {
	Pattern string
	Do      func(*Match) // nil: known, and it does not matter here
	names   []string
}

// Match is a statement that fits a row.
type Match struct {
	Row   *Row
	Words []Word // the whole statement
	at    []int  // of each capture
	File  string
}

// Add adds a row.
func (g *Grammar) Add(pattern string, do func(*Match)) {
	r, at := &Row{Pattern: pattern, Do: do}, &g.top
	for _, f := range strings.Fields(pattern) {
		if !strings.HasPrefix(f, "<") {
			if at.words == nil {
				at.words = map[string]*place{}
			}
			if at.words[f] == nil {
				at.words[f] = &place{}
			}
			at = at.words[f]
			continue
		}
		name, typ, _ := strings.Cut(strings.Trim(f, "<>"), ":")
		c := capture{name: name, next: &place{}}
		switch {
		case strings.HasSuffix(name, "..."):
			c.kind, c.name = rest, strings.TrimSuffix(name, "...")
		case typ == "int":
			c.kind = integer
		case typ == "num":
			c.kind = number
		case typ != "":
			c.kind, c.among = choice, strings.Split(typ, "|")
		}
		r.names = append(r.names, c.name)
		i := slices.IndexFunc(at.takes, func(o capture) bool {
			return o.kind == c.kind && o.name == c.name && slices.Equal(o.among, c.among)
		})
		if i < 0 {
			i = len(at.takes)
			at.takes = append(at.takes, c)
		}
		at = at.takes[i].next
	}
	if at.row != nil {
		panic("two rows are " + pattern)
	}
	at.row = r
}

// Pass adds paths that are known and irrelevant, each with all paths below it.
func (g *Grammar) Pass(patterns ...string) {
	for _, p := range patterns {
		g.Add(p+" <more...>", nil)
	}
}

// Miss is why a statement fits no row.
type Miss struct {
	At   int // word that does not fit; number of words: the path ends early
	want *place
}

// Find returns the row of a statement, or why there is none.
func (g *Grammar) Find(words []Word) (*Match, *Miss) {
	m := &matcher{g: g, words: words}
	if m.run(&g.top, 0) {
		slices.Reverse(m.at)
		return &Match{Row: m.row, Words: words, at: m.at}, nil
	}
	return nil, &m.miss
}

type matcher struct {
	g     *Grammar
	words []Word
	row   *Row
	at    []int // positions of captures, the last one first
	miss  Miss
}

func (m *matcher) run(p *place, i int) bool {
	if i == len(m.words) {
		if p.row != nil {
			m.row = p.row
			return true
		}
		for k := range p.takes {
			if c := &p.takes[k]; c.kind == rest {
				m.row, m.at = c.next.row, append(m.at, i)
				return true
			}
		}
		return m.fail(p, i)
	}
	w := m.words[i].Text
	if next := p.words[w]; next != nil && m.run(next, i+1) {
		return true
	}
	for k := range p.takes {
		c := &p.takes[k]
		if c.kind == rest {
			m.row, m.at = c.next.row, append(m.at, i)
			return true
		}
		if c.fits(w) && m.run(c.next, i+1) {
			m.at = append(m.at, i)
			return true
		}
	}
	if next := m.g.short(p, w); next != nil && m.run(next, i+1) {
		return true
	}
	return m.fail(p, i)
}

// short is the one keyword that a word abbreviates.
func (g *Grammar) short(p *place, w string) (only *place) {
	if !g.Short || w == "" || p.words[w] != nil {
		return nil
	}
	for k, next := range p.words {
		if strings.HasPrefix(k, w) {
			if only != nil {
				return nil
			}
			only = next
		}
	}
	return only
}

func (c *capture) fits(w string) bool {
	switch c.kind {
	case integer:
		_, err := strconv.ParseInt(w, 10, 63)
		return err == nil
	case number:
		v, err := strconv.ParseFloat(w, 64)
		return err == nil && v >= 0 && v <= 1e15
	case choice:
		return slices.Contains(c.among, w)
	}
	return true
}

func (m *matcher) fail(p *place, i int) bool {
	if m.miss.want == nil || i > m.miss.At {
		m.miss = Miss{i, p}
	}
	return false
}

// most is the maximum number of listed accepted words; of more, the nearest is listed.
const most = 8

// Why describes the word found, and the accepted ones.
func (m *Miss) Why(words []Word) string {
	var keys, all []string
	for k := range m.want.words {
		keys = append(keys, k)
	}
	for i := range m.want.takes {
		switch c := &m.want.takes[i]; c.kind {
		case choice:
			keys = append(keys, c.among...)
		case integer:
			all = append(all, "a whole number")
		case number:
			all = append(all, "a number")
		case anything:
			all = append(all, "<"+c.name+">")
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if m.want.row != nil && m.At < len(words) {
		all = append(all, "the end of the statement")
	}
	found := "the statement ends early"
	if m.At < len(words) {
		found = "found " + field.Quote(words[m.At].Text)
	}
	if len(keys) > most && m.At < len(words) {
		if hint := field.Choice("", words[m.At].Text, keys, "").Hint; hint != "" {
			return fmt.Sprintf("%s, expected %q, or one of %d other words", found, hint, len(keys)-1)
		}
	}
	if len(keys) > most {
		return fmt.Sprintf("%s, expected one of %d words", found, len(keys))
	}
	for i, k := range keys {
		keys[i] = strconv.Quote(k)
	}
	return found + ", expected " + strings.Join(append(keys, all...), ", ")
}

// index of a capture among the words, or -1.
func (m *Match) index(name string) int {
	if i := slices.Index(m.Row.names, name); i >= 0 && i < len(m.at) && m.at[i] < len(m.Words) {
		return m.at[i]
	}
	return -1
}

// Has reports whether a capture took a word.
func (m *Match) Has(name string) bool { return m.index(name) >= 0 }

// Word returns a captured word, or "".
func (m *Match) Word(name string) string {
	if i := m.index(name); i >= 0 {
		return m.Words[i].Text
	}
	return ""
}

// Rest are the words that a capture of the rest took.
func (m *Match) Rest(name string) []Word {
	if i := m.index(name); i >= 0 {
		return m.Words[i:]
	}
	return nil
}

// Int returns a captured integer.
func (m *Match) Int(name string) int64 {
	n, _ := strconv.ParseInt(m.Word(name), 10, 63)
	return n
}

// Num is a captured number.
func (m *Match) Num(name string) float64 {
	n, _ := strconv.ParseFloat(m.Word(name), 64)
	return n
}

// At is the place of a capture, or of the statement's last word.
func (m *Match) At(name string) swconf.Place {
	w := m.Words[len(m.Words)-1]
	if i := m.index(name); i >= 0 {
		w = m.Words[i]
	}
	return swconf.Place{File: m.File, Line: w.Line, Col: w.Col}
}

// Say makes a value with the position of a capture.
func Say[T any](m *Match, name string, v T) swconf.Said[T] { return swconf.Say(v, m.At(name)) }
