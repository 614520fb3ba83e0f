package tree

import (
	"cmp"
	"slices"

	"railyard/internal/swconf"
)

// Word is one word of a path, with its place.
type Word struct {
	Text      string
	Line, Col int
}

// Statement is one path.
type Statement struct {
	Words []Word
	gone  bool
}

// Tree is the settings of a configuration, in its order.
type Tree struct {
	list []*Statement
	top  *node // once a statement is deleted
	seen int   // statements that it has
}

type node struct {
	kids map[string]*node
	own  []*Statement
}

// Set adds a statement.
func (t *Tree) Set(words []Word) { t.list = append(t.list, &Statement{Words: words}) }

// Delete removes the statements at a path and below it, and returns their number.
func (t *Tree) Delete(path []Word) (n int) {
	if t.top == nil {
		t.top = &node{kids: map[string]*node{}}
	}
	for ; t.seen < len(t.list); t.seen++ {
		s, at := t.list[t.seen], t.top
		for _, w := range s.Words {
			next := at.kids[w.Text]
			if next == nil {
				next = &node{kids: map[string]*node{}}
				at.kids[w.Text] = next
			}
			at = next
		}
		at.own = append(at.own, s)
	}
	if len(path) == 0 {
		n, t.top = t.top.fell(), nil
		t.seen = len(t.list)
		t.top = &node{kids: map[string]*node{}}
		return n
	}
	at := t.top
	for _, w := range path[:len(path)-1] {
		if at = at.kids[w.Text]; at == nil {
			return 0
		}
	}
	last := path[len(path)-1].Text
	if below := at.kids[last]; below != nil {
		n = below.fell()
		delete(at.kids, last)
	}
	return n
}

// fell removes all statements below a node, each once: the node is detached.
func (d *node) fell() (n int) {
	for _, s := range d.own {
		s.gone = true
		n++
	}
	for _, k := range d.kids {
		n += k.fell()
	}
	return n
}

// Statements returns the remaining ones.
func (t *Tree) Statements() (out []*Statement) {
	for _, s := range t.list {
		if !s.gone {
			out = append(out, s)
		}
	}
	return out
}

// Texts returns the words without their positions.
func Texts(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

// Count is the number of lines by result.
type Count struct {
	c    *swconf.Config
	what map[int]fate
}

type fate uint8

const (
	structure fate = iota // a brace, or a key above others
	below                 // a word after one that was not recognized
	passed
	read
	unknown
)

// NewCount starts counting; lines is the number of lines with content.
func NewCount(c *swconf.Config, lines int) *Count {
	c.Total = lines
	return &Count{c, map[int]fate{}}
}

func (k *Count) note(words []Word, f fate) {
	for _, w := range words {
		if k.what[w.Line] < f {
			k.what[w.Line] = f
		}
	}
}

// Read notes a statement that was understood.
func (k *Count) Read(words []Word) { k.note(words, read) }

// Passed records a statement that is known and irrelevant.
func (k *Count) Passed(words []Word) { k.note(words, passed) }

// Unknown notes a line that was not recognized, once, and the words after the first unrecognized one.
func (k *Count) Unknown(at Word, text, why string, behind ...Word) {
	k.note(behind, below)
	if k.what[at.Line] == unknown {
		return
	}
	k.what[at.Line] = unknown
	k.c.Unknown = append(k.c.Unknown, swconf.Unknown{At: swconf.Place{File: k.c.File, Line: at.Line,
		Col: at.Col}, Text: text, Why: why})
}

// Close adds up the counts. A line that only groups other lines counts as understood.
func (k *Count) Close() {
	k.c.Passed = 0
	behind := 0
	for _, f := range k.what {
		switch f {
		case passed:
			k.c.Passed++
		case below:
			behind++
		}
	}
	slices.SortStableFunc(k.c.Unknown, func(a, b swconf.Unknown) int { return cmp.Compare(a.At.Line, b.At.Line) })
	k.c.Read = k.c.Total - k.c.Passed - len(k.c.Unknown) - behind
}
