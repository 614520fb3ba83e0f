package cabling

import (
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

var dotMark = regexp.MustCompile(`(?m)^\s*(strict\s+)?(di)?graph\b[^{;]*\{`)

func looksDot(name, text string) bool {
	return strings.HasSuffix(name, ".dot") || strings.HasSuffix(name, ".gv") || dotMark.MatchString(text)
}

// word is a token of DOT.
type word struct {
	text      string
	line, col int
	id        bool // a name, not a sign
}

// dotWords splits a DOT file into names and signs; strings are concatenated by +, comments left out.
func dotWords(b *builder, text string) (out []word, err error) {
	line, col := 1, 1
	for i := 0; i < len(text); {
		start, l, c := i, line, col
		step := func(n int) {
			for ; n > 0 && i < len(text); n-- {
				if text[i] == '\n' {
					line, col = line+1, 0
				}
				i, col = i+1, col+1
			}
		}
		switch ch := text[i]; {
		case ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r':
			step(1)
		case strings.HasPrefix(text[i:], "//") || ch == '#' && col == 1:
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				n = len(text) - i
			}
			step(n)
		case strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i:], "*/")
			if n < 0 {
				return nil, b.at(l, c).fail("a comment is not closed")
			}
			step(n + 2)
		case ch == '"':
			var s strings.Builder
			step(1)
			for i < len(text) && text[i] != '"' {
				if text[i] == '\\' && i+1 < len(text) && text[i+1] == '"' {
					step(1)
				}
				s.WriteByte(text[i])
				step(1)
			}
			if i >= len(text) {
				return nil, b.at(l, c).fail("a string is not closed")
			}
			step(1)
			out = append(out, word{s.String(), l, c, true})
		case ch == '<':
			depth := 1
			for step(1); i < len(text) && depth > 0; step(1) {
				if text[i] == '<' {
					depth++
				} else if text[i] == '>' {
					depth--
				}
			}
			if depth > 0 {
				return nil, b.at(l, c).fail("a string is not closed")
			}
			out = append(out, word{text[start:i], l, c, true})
		case strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "->"):
			step(2)
			out = append(out, word{text[start:i], l, c, false})
		case strings.IndexByte("{}[];,=:+", ch) >= 0:
			step(1)
			out = append(out, word{text[start:i], l, c, false})
		default:
			for i < len(text) && strings.IndexByte(" \t\r\n{}[];,=:+\"<", text[i]) < 0 &&
				!strings.HasPrefix(text[i:], "->") && !strings.HasPrefix(text[i:], "--") {
				step(1)
			}
			if i == start {
				step(1)
			}
			out = append(out, word{text[start:i], l, c, true})
		}
		if len(out) > maxTokens {
			return nil, b.at(l, c).fail("more than %d words and signs: that is not a topology", maxTokens)
		}
	}
	return out, nil
}

// dot reads a graph.
type dot struct {
	b        *builder
	w        []word
	i        int
	directed bool
	seen     map[[2]End]int // edges of a digraph whose opposite edge has not been read yet
	rank     []int          // nodes of the first rank: the servers, in Railyard's exports
	ranks    int
}

func readDot(b *builder, text string) error {
	w, err := dotWords(b, text)
	if err != nil {
		return err
	}
	d := &dot{b: b, w: w, seen: map[[2]End]int{}}
	if err := d.header(); err != nil {
		return err
	}
	if _, err := d.body(0); err != nil {
		return err
	}
	if rest := d.peek(); d.i < len(w) {
		return d.fail(rest, "%s follows the graph's }; expected one graph in a file", field.Quote(rest.text))
	}
	if d.ranks > 1 {
		for _, n := range d.rank {
			b.is(n, Server, "")
		}
	}
	b.note(Place{File: b.file}, "Graphviz files have no lengths")
	return nil
}

// header reads up to the first brace: strict digraph name {.
func (d *dot) header() error {
	word := func(names ...string) bool {
		for _, n := range names {
			if w := d.peek(); w.id && strings.EqualFold(w.text, n) {
				d.i++
				d.directed = d.directed || n == "digraph"
				return true
			}
		}
		return false
	}
	word("strict")
	known := word("graph", "digraph")
	if known && d.peek().id {
		d.i++ // its name
	}
	if !known || !d.take("{") {
		return d.fail(d.peek(), "%s is found where the graph should begin, expected graph { a -- b; }",
			field.Quote(d.peek().text))
	}
	return nil
}

func (d *dot) peek() word {
	if d.i < len(d.w) {
		return d.w[d.i]
	}
	if len(d.w) > 0 {
		last := d.w[len(d.w)-1]
		return word{"", last.line, last.col, false}
	}
	return word{}
}

func (d *dot) take(sign string) bool {
	if w := d.peek(); !w.id && w.text == sign {
		d.i++
		return true
	}
	return false
}

func (d *dot) fail(w word, format string, args ...any) error {
	return d.b.at(w.line, w.col).fail(format, args...)
}

// body reads statements up to the closing brace and returns the nodes they name.
func (d *dot) body(depth int) (nodes []End, err error) {
	if depth > maxDepth {
		return nil, d.fail(d.peek(), "nests deeper than %d levels", maxDepth)
	}
	for {
		w := d.peek()
		switch {
		case d.take("}"):
			return nodes, nil
		case d.take(";") || d.take(","):
		case w.text == "" && !w.id:
			return nil, d.fail(w, "a } is missing at the end")
		default:
			some, err := d.statement(depth)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, some...)
		}
	}
}

// statement reads a = b, node [..], a -- b -- {c d} [..], subgraph {..}.
func (d *dot) statement(depth int) (nodes []End, err error) {
	w := d.peek()
	if w.id && d.i+1 < len(d.w) && d.w[d.i+1].text == "=" && !d.w[d.i+1].id {
		if d.i += 2; strings.EqualFold(w.text, "rank") && d.peek().text == "same" {
			d.ranks++
			nodes = append(nodes, End{Node: -1}) // the mark of a rank
		}
		d.i++
		return nodes, nil
	}
	if w.id && d.i+1 < len(d.w) && d.w[d.i+1].text == "[" && !d.w[d.i+1].id {
		if l := strings.ToLower(w.text); l == "node" || l == "edge" || l == "graph" {
			d.i++
			_, err := d.attributes()
			return nil, err
		}
	}
	var chain [][]End
	for {
		ends, err := d.operand(depth)
		if err != nil {
			return nil, err
		}
		chain = append(chain, ends)
		nodes = append(nodes, ends...)
		if !d.take("--") && !d.take("->") {
			break
		}
	}
	attrs, err := d.attributes()
	if err != nil {
		return nil, err
	}
	if len(chain) == 1 {
		for _, e := range chain[0] {
			if e.Node >= 0 && w.id {
				d.kind(e.Node, attrs)
			}
		}
		return nodes, nil
	}
	for i := range len(chain) - 1 {
		for _, a := range chain[i] {
			for _, z := range chain[i+1] {
				if err := d.edge(w, a, z, attrs); err != nil {
					return nil, err
				}
			}
		}
	}
	return nodes, nil
}

// operand reads a node with its port, or a group of nodes.
func (d *dot) operand(depth int) ([]End, error) {
	w := d.peek()
	if w.id && strings.EqualFold(w.text, "subgraph") {
		if d.i++; d.peek().id {
			d.i++
		}
		w = d.peek()
	}
	if d.take("{") {
		before := d.ranks
		nodes, err := d.body(depth + 1)
		var ends []End
		for _, e := range nodes {
			if e.Node >= 0 {
				ends = append(ends, e)
			}
		}
		if d.ranks == before+1 && before == 0 {
			for _, e := range ends {
				d.rank = append(d.rank, e.Node)
			}
		}
		return ends, err
	}
	if !w.id {
		return nil, d.fail(w, "%s is not accepted here; expected a node, as in a -- b", field.Quote(w.text))
	}
	d.i++
	name := w.text
	for d.take("+") {
		if w := d.peek(); !w.id {
			return nil, d.fail(w, "%s cannot be appended to a name", field.Quote(w.text))
		}
		name += d.peek().text
		d.i++
	}
	if name == "" {
		return nil, d.fail(w, "a node without a name")
	}
	at := d.b.at(w.line, w.col)
	e := d.b.named(at, name, "")
	if d.take(":") {
		if w := d.peek(); !w.id {
			return nil, d.fail(w, "%s is not a port", field.Quote(w.text))
		}
		e.Port = d.peek().text
		if d.i++; d.take(":") { // a compass point
			d.i++
		}
	}
	return []End{e}, nil
}

// attributes parses repeated [a=b, c=d].
func (d *dot) attributes() (map[string]string, error) {
	out := map[string]string{}
	for d.take("[") {
		for !d.take("]") {
			w := d.peek()
			switch {
			case w.text == "" && !w.id:
				return nil, d.fail(w, "a ] is missing")
			case d.take(",") || d.take(";"):
			case w.id:
				if d.i++; d.take("=") {
					out[strings.ToLower(w.text)] = d.peek().text
					d.i++
				}
			default:
				return nil, d.fail(w, "%s is not accepted among attributes", field.Quote(w.text))
			}
		}
	}
	return out, nil
}

// kind stores the kind in a node's attributes.
func (d *dot) kind(node int, attrs map[string]string) {
	for _, a := range []string{"role", "type", "kind", "function"} {
		if k, role := roleSynonym(attrs[a]); k != Unknown {
			n := &d.b.c.Nodes[node]
			n.Kind, n.Role = k, role
		}
	}
}

var (
	labelCount = regexp.MustCompile(`(\d+)\s*(?:cables|links|x)\b`)
	labelRate  = regexp.MustCompile(`(\d+(?:\.\d+)?\s*[kMGT](?:bps|b/s|bit/s|bE|b|)?)\b`)
)

// edge adds an edge's cables. Railyard's own label contains their number and total rate.
func (d *dot) edge(w word, a, z End, attrs map[string]string) error {
	for _, p := range []struct {
		port *string
		keys []string
	}{{&a.Port, []string{"tailport", "sport", "src_port", "taillabel"}},
		{&z.Port, []string{"headport", "dport", "dst_port", "headlabel"}}} {
		for _, k := range p.keys {
			if v := strings.Trim(attrs[k], ": "); *p.port == "" && v != "" {
				*p.port = v
			}
		}
	}
	n, rate := 1, unit.Rate(0)
	if m := labelCount.FindStringSubmatch(attrs["label"]); m != nil {
		v, err := strconv.Atoi(m[1])
		if err != nil || v < 1 || v > 1024 {
			return d.fail(w, "%q is not a number of cables; accepted: 1 to 1024", m[1])
		}
		n = v
	}
	for _, k := range []string{"rate", "speed", "bandwidth", "label"} {
		if m := labelRate.FindStringSubmatch(attrs[k]); m != nil {
			r, err := parseRate(strings.ReplaceAll(m[1], " ", ""))
			if err != nil {
				return d.fail(w, "%v", err)
			}
			if rate = r; k == "label" {
				rate = r / unit.Rate(n)
			}
			break
		}
	}
	if d.directed && d.back(a, z) {
		return nil
	}
	x := Cable{A: a, B: z, Rate: rate, At: d.b.at(w.line, w.col)}
	for i := range n {
		if i > 0 {
			x.A.Port, x.B.Port = "", ""
		}
		d.b.cable(x)
	}
	return nil
}

// back reports whether an arrow is the other direction of an earlier one.
func (d *dot) back(a, z End) bool {
	if d.seen[[2]End{z, a}] > 0 {
		d.seen[[2]End{z, a}]--
		d.b.note(Place{File: d.b.file}, "arrows in both directions are one cable")
		return true
	}
	d.seen[[2]End{a, z}]++
	return false
}
