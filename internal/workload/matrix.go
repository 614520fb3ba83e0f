package workload

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
)

// Matrix is a connection matrix of htsim (csg-htsim, uet-htsim: connection_matrix.cpp): transfers between numbered
// nodes. Each has a start, or a trigger that others pull when they end.
//
//	Nodes 16
//	Connections 2
//	0->5 id 1 start 0 size 2000000 send_done_trigger 1
//	5->3 id 2 trigger 1 size 4096
//	trigger id 1 oneshot
//
// Starts are in picoseconds. A trigger is pulled when the last byte arrives at the receiver, both for htsim's
// senders and for its receivers.
type Matrix struct {
	Nodes    int
	flows    []matrixFlow
	triggers map[int]*matrixTrigger
	endless  int                         // omitted connections that never end
	left     func(what string, line int) // nil: unsupported parts are errors
}

type matrixFlow struct {
	Flow
	waits, pulls int // triggers; 0: none
	line         int
}

// matrixTrigger starts flows once a number of others have ended.
type matrixTrigger struct {
	count int // 0: it was not declared
	line  int
	by    []int // flows that pull it
}

// mostNodes and mostFlows are the limits of a file.
const (
	mostNodes = 1 << 20
	mostFlows = 1 << 22
)

// ParseMatrix reads a matrix; errors have the place in the file. Unsupported settings without an effect on the flows
// are errors, or omitted and reported if left is set.
func ParseMatrix(file string, text []byte, left func(what string, line int)) (*Matrix, error) {
	m := &Matrix{triggers: map[int]*matrixTrigger{}, left: left}
	said := 0
	for n, line := range bytes.Split(text, []byte("\n")) {
		w := &matrixLine{file: file, line: n + 1, text: string(line)}
		word, col := w.next()
		switch {
		case word == "" || word[0] == '#':
			continue
		case word == "Nodes":
			m.Nodes = w.number(1, mostNodes)
		case word == "Connections":
			said = w.number(0, mostFlows)
		case word == "Triggers":
			w.number(0, mostFlows)
		case word == "Failures":
			if w.number(0, mostFlows) > 0 && left == nil {
				w.fail(col, "cables that break are in a scenario's failures, not in its matrix")
			}
		case word == "failure" && left != nil:
			left("cables that break, which are in a scenario's events", w.line)
			w.at = len(w.text)
		case word == "trigger":
			m.trigger(w)
		case strings.Contains(word, "->"):
			m.flow(w, word, col)
		default:
			w.fail(col, "%q begins no line of a connection matrix, expected Nodes, Connections, Triggers, FROM->TO or trigger", word)
		}
		if w.rest(); w.err != nil {
			return nil, w.err
		}
	}
	if m.Nodes == 0 {
		return nil, &field.Error{File: file, Msg: "contains no number of Nodes"}
	}
	if said != 0 && said != len(m.flows)+m.endless {
		return nil, &field.Error{File: file, Msg: fmt.Sprintf("announces Connections %d and has %d", said,
			len(m.flows)+m.endless)}
	}
	if len(m.flows) == 0 && m.endless > 0 {
		return nil, &field.Error{File: file, Msg: fmt.Sprintf("has %s of size 0, which never end, and no other: nothing is left to run, give them a number of bytes", unit.Plural(m.endless,
			"connection"))}
	}
	if len(m.flows) == 0 {
		return nil, &field.Error{File: file, Msg: "has no connection"}
	}
	return m, m.check(file)
}

// flow reads a connection.
func (m *Matrix) flow(w *matrixLine, word string, col int) {
	from, to, _ := strings.Cut(word, "->")
	f := matrixFlow{line: w.line}
	f.Src, f.Dst = w.node(from, col, m.Nodes), w.node(to, col+len(from)+2, m.Nodes)
	if w.err == nil && f.Src == f.Dst {
		w.fail(col, "node %d sends to itself", f.Src)
	}
	start, endless := false, false
	for w.err == nil {
		key, at := w.next()
		switch key {
		case "":
			switch {
			case endless && m.left != nil && f.pulls == 0:
				m.left("connections without end (size 0)", w.line)
				m.endless++
				return
			case endless:
				w.fail(at, "the connection has size 0, which never ends, expected a number of bytes")
			case f.Bytes == 0:
				w.fail(at, "the connection has no size")
			case !start && f.waits == 0:
				w.fail(at, "the connection has neither start nor trigger")
			case start && f.waits != 0:
				w.fail(at, "the connection has both start and trigger")
			}
			if w.err == nil && len(m.flows) == mostFlows {
				w.fail(col, "more than %d connections", mostFlows)
			}
			m.flows = append(m.flows, f)
			return
		case "size":
			if before := *w; !w.zero() {
				*w = before
				f.Bytes = unit.Bytes(w.number(1, 1<<46))
			} else {
				endless = true
			}
		case "start":
			w.zeros()
			start, f.Start = true, unit.Time(w.number(0, int(1000*unit.Second)))
		case "id", "prio":
			if w.number(0, 1<<31); key == "prio" && m.left != nil {
				m.left("priorities of connections: the scenario's class holds", w.line)
			}
		case "trigger":
			f.waits = w.number(1, 1<<31)
		case "send_done_trigger", "recv_done_trigger":
			if f.pulls != 0 {
				w.fail(at, "a connection pulls one trigger, this one a second")
			}
			f.pulls = w.number(1, 1<<31)
			m.named(f.pulls).by = append(m.named(f.pulls).by, len(m.flows))
		case "msg":
			if m.left != nil {
				m.left("which connection a message shares (msg): each is one of its own", w.line)
				if before := *w; !isNumber(w) {
					*w = before
				}
				continue
			}
			w.fail(at, "messages of one connection (msg) are not taken: leave the word out")
		default:
			w.fail(at, "unknown word %q, expected id, start, size, prio, trigger, send_done_trigger or recv_done_trigger", key)
		}
	}
}

// trigger parses a trigger's definition.
func (m *Matrix) trigger(w *matrixLine) {
	id, count := 0, 0
	for w.err == nil {
		word, at := w.next()
		switch word {
		case "":
			if id == 0 || count == 0 {
				w.fail(at, "a trigger has an id and is oneshot or a barrier with its count")
				return
			}
			t := m.named(id)
			if t.count != 0 {
				w.fail(at, "trigger %d is declared on line %d already", id, t.line)
			}
			t.count, t.line = count, w.line
			return
		case "id":
			id = w.number(1, 1<<31)
		case "oneshot":
			count = 1
		case "barrier":
			count = max(count, 1)
		case "count":
			count = w.number(1, mostFlows)
		case "multishot":
			w.fail(at, "a trigger that is pulled again and again (multishot) is not taken")
		default:
			w.fail(at, "unknown word %q, expected id, oneshot, barrier or count", word)
		}
	}
}

func (m *Matrix) named(id int) *matrixTrigger {
	t := m.triggers[id]
	if t == nil {
		t = &matrixTrigger{}
		m.triggers[id] = t
	}
	return t
}

// check compares triggers with the flows that pull them. Each has the number of flows that it counts, the flows it
// starts are after those, and no trigger is in a cycle.
func (m *Matrix) check(file string) error {
	state := make([]uint8, len(m.flows)) // 1: its triggers are being followed, 2: they end
	for i := range m.flows {
		// A cycle is found by walking from any flow in it; walks share visited flows.
		stack := []int{i}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			f := &m.flows[at]
			fault := func(format string, args ...any) error {
				return &field.Error{File: file, Line: f.line, Col: 1, Msg: fmt.Sprintf(format, args...)}
			}
			if state[at] != 0 || f.waits == 0 {
				state[at] = 2
				stack = stack[:len(stack)-1]
				continue
			}
			state[at] = 1
			t := m.triggers[f.waits]
			switch {
			case t == nil || t.count == 0:
				return fault("trigger %d is not declared", f.waits)
			case len(t.by) != t.count:
				return fault("trigger %d depends on %d connections and %d pull it", f.waits, t.count, len(t.by))
			}
			for _, by := range t.by {
				if state[by] == 1 {
					return fault("trigger %d depends on itself", f.waits)
				}
				if state[by] == 0 {
					stack = append(stack, by)
				}
			}
		}
	}
	return nil
}

// Flows returns the number of connections.
func (m *Matrix) Flows() int { return len(m.flows) }

// DAG has node n's transfers sent by rank n, one connection per line.
func (m *Matrix) DAG(ranks int) (*DAG, error) {
	if m.Nodes > ranks {
		return nil, field.New("", "its %s are more than the fabric's %s", unit.Plural(m.Nodes, "node"),
			unit.Plural(ranks, "GPU"))
	}
	b := NewBuilder(ranks)
	b.Collective(Collective{Name: "flows", Kind: coll.SendRecv, Ranks: seq(ranks)}, func() {
		done := make([]int32, len(m.flows))
		for i := range done {
			done[i] = -1
		}
		for i := range m.flows {
			m.add(b, done, i)
		}
	})
	return b.Seal()
}

// add adds a transfer after its dependencies; check has verified that they end.
func (m *Matrix) add(b *Builder, done []int32, i int) {
	for stack := []int{i}; len(stack) > 0; {
		i := stack[len(stack)-1]
		f, after := &m.flows[i], []int32{}
		waits := false
		if f.waits != 0 && done[i] < 0 {
			for _, by := range m.triggers[f.waits].by {
				if done[by] < 0 {
					stack, waits = append(stack, by), true
				} else {
					after = append(after, done[by])
				}
			}
		}
		if waits {
			continue
		}
		stack = stack[:len(stack)-1]
		if done[i] >= 0 {
			continue
		}
		if f.Start > 0 {
			after = append(after, b.Compute(f.Src, f.Start, Other))
		}
		done[i] = b.Transfer(f.Src, f.Dst, f.Bytes, after...)
		b.colls[b.coll].Bytes = max(b.colls[b.coll].Bytes, f.Bytes)
	}
}

// matrixLine is a line that is parsed word by word, up to its first error.
type matrixLine struct {
	file, text string
	line, at   int
	err        error
}

// next returns the next word and its column; "" at the end.
func (w *matrixLine) next() (word string, col int) {
	for w.at < len(w.text) && strings.IndexByte(" \t\r", w.text[w.at]) >= 0 {
		w.at++
	}
	from := w.at
	for w.at < len(w.text) && strings.IndexByte(" \t\r", w.text[w.at]) < 0 {
		w.at++
	}
	return w.text[from:w.at], from + 1
}

func (w *matrixLine) fail(col int, format string, args ...any) {
	if w.err == nil {
		w.err = &field.Error{File: w.file, Line: w.line, Col: col, Msg: fmt.Sprintf(format, args...)}
	}
}

// number parses an integer within a range.
func (w *matrixLine) number(least, most int) int {
	word, col := w.next()
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most {
		w.fail(col, "expected a whole number between %d and %d, found %q", least, most, word)
		return least
	}
	return n
}

// zeros skips the point and zeros after an integer, as in 0.000000.
func (w *matrixLine) zeros() {
	before := *w
	word, _ := w.next()
	whole, fraction, ok := strings.Cut(word, ".")
	end := w.at
	*w = before
	if ok && whole != "" && strings.Trim(fraction, "0") == "" {
		w.text = w.text[:end-len(fraction)-1] + strings.Repeat(" ", len(fraction)+1) + w.text[end:]
	}
}

// zero skips a word and reports whether it is 0.
func (w *matrixLine) zero() bool {
	word, _ := w.next()
	return word == "0"
}

// isNumber skips a word and reports whether it is an integer.
func isNumber(w *matrixLine) bool {
	word, _ := w.next()
	_, err := strconv.Atoi(word)
	return err == nil
}

// node reads the number of a node.
func (w *matrixLine) node(word string, col, nodes int) int {
	if nodes == 0 {
		w.fail(col, "Nodes must precede connections")
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n >= nodes {
		w.fail(col, "expected a node between 0 and %d, found %q", nodes-1, word)
	}
	return n
}

// rest reports extra words at the end of a line.
func (w *matrixLine) rest() {
	if word, col := w.next(); word != "" {
		w.fail(col, "unexpected %q", word)
	}
}
