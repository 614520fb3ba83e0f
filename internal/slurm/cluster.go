package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Node is a server in Slurm's configuration.
type Node struct {
	Name       string
	CPUs, GPUs int // 0: unknown
	GPUType    string
	Features   []string
	Partitions []string
	Down, Busy string // the state for which it cannot be had, or not now
	At         Place
}

// Switch is a switch of a tree: leaves have nodes, others switches below them.
type Switch struct {
	Name            string
	Nodes, Switches []string
	At              Place
}

// Cluster is the set of nodes and partitions that jobs are scheduled on.
type Cluster struct {
	Nodes     []Node
	Switches  []Switch // none: no node is nearer to another than to the rest
	Default   string   // partition
	Exclusive []string // partitions that allocate whole nodes
	Whole     bool     // whether jobs get whole nodes (select/linear)
	Notes     []Note

	// Open opens a file that slurm.conf includes, by its name there; nil: includes are not read.
	Open func(name string) ([]byte, error)

	byName map[string]int
}

// maxText bounds a description of a cluster.
const maxText = 32 << 20

// line is a line of key=value words, continuations joined.
type line struct {
	keys, vals []string
	at         Place
}

// get is a key's value, with any case.
func (l *line) get(key string) (string, bool) {
	for i, k := range l.keys {
		if strings.EqualFold(k, key) {
			return l.vals[i], true
		}
	}
	return "", false
}

// lines parses key=value words. A word without = belongs to the previous value; scontrol continues an object in
// indented lines.
func lines(file, text string, indented bool) (all []line, err error) {
	if len(text) > maxText {
		return nil, Place{File: file}.Fail("", "is longer than the %d MiB that are read", maxText>>20)
	}
	more := false
	for i, s := range strings.Split(text, "\n") {
		s = strings.TrimSuffix(s, "\r")
		if strings.IndexByte(s, 0) >= 0 {
			return nil, Place{file, i + 1, 1}.Fail("", "is not text")
		}
		if !indented { // a comment
			s, _, _ = strings.Cut(s, "#")
		}
		goes := more || indented && (strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\t"))
		s, more = strings.CutSuffix(strings.TrimRight(s, " \t"), "\\")
		more = more && !indented
		if strings.TrimSpace(s) == "" {
			continue
		}
		if !goes || len(all) == 0 {
			all = append(all, line{at: Place{file, i + 1, 1}})
		}
		l := &all[len(all)-1]
		for _, w := range strings.Fields(s) {
			k, v, ok := strings.Cut(w, "=")
			switch {
			case ok:
				l.keys, l.vals = append(l.keys, k), append(l.vals, strings.Trim(v, `"`))
			case strings.EqualFold(w, "include") && len(l.keys) == 0:
				l.keys, l.vals = append(l.keys, w), append(l.vals, "")
			case !indented && !(len(l.keys) == 1 && strings.EqualFold(l.keys[0], "include")):
				return nil, Place{file, i + 1, 1}.Fail("", "%s is not a key=value", field.Quote(w))
			case len(l.vals) > 0:
				l.vals[len(l.vals)-1] = strings.TrimSpace(l.vals[len(l.vals)-1] + " " + w)
			}
		}
	}
	return all, nil
}

// add adds a node, or extends a known one.
func (c *Cluster) add(n Node) {
	if c.byName == nil {
		c.byName = map[string]int{}
	}
	i, ok := c.byName[n.Name]
	if !ok {
		c.byName[n.Name] = len(c.Nodes)
		n.Features, n.Partitions = slices.Clone(n.Features), slices.Clone(n.Partitions)
		c.Nodes = append(c.Nodes, n)
		return
	}
	old := &c.Nodes[i]
	old.CPUs, old.GPUs = max(old.CPUs, n.CPUs), max(old.GPUs, n.GPUs)
	if old.GPUType == "" {
		old.GPUType = n.GPUType
	}
	for _, p := range n.Partitions {
		if !slices.Contains(old.Partitions, p) {
			old.Partitions = append(old.Partitions, p)
		}
	}
	for _, f := range n.Features {
		if !slices.Contains(old.Features, f) {
			old.Features = append(old.Features, f)
		}
	}
	if n.Down != "" {
		old.Down = n.Down
	}
	if n.Busy != "" {
		old.Busy = n.Busy
	}
}

// Add adds a node from another source.
func (c *Cluster) Add(n Node) { c.add(n) }

// Sort sorts nodes by name, with numbers in numeric order.
func (c *Cluster) Sort() {
	slices.SortStableFunc(c.Nodes, func(a, b Node) int { return natural(a.Name, b.Name) })
	for i := range c.Nodes {
		c.byName[c.Nodes[i].Name] = i
	}
}

// natural compares names, runs of digits as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
			if d := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); d != 0 {
				return d
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the number of leading digits.
func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// Node finds a node.
func (c *Cluster) Node(name string) (*Node, bool) {
	i, ok := c.byName[name]
	if !ok {
		return nil, false
	}
	return &c.Nodes[i], true
}

// state reports whether a node with such a state is available (sinfo(1), node state codes).
func state(s string) (down, busy string) {
	s = strings.ToUpper(strings.TrimRight(s, "*~#!%$@^-+"))
	for _, part := range strings.Split(s, "+") {
		for _, bad := range []string{"DOWN", "DRAIN", "DRNG", "FAIL", "MAINT", "ERROR", "INVAL", "UNK",
			"NOT_RESPONDING", "NO_RESPOND", "POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "PLANNED",
			"FUTURE", "BLOCKED"} {
			if strings.HasPrefix(part, bad) && bad != "PLANNED" && part != "UNKNOWN" {
				return strings.ToLower(s), ""
			}
		}
		for _, taken := range []string{"ALLOC", "MIX", "COMP", "RESV", "RESERVED", "PLND", "PLANNED"} {
			if strings.HasPrefix(part, taken) {
				busy = strings.ToLower(s)
			}
		}
	}
	return "", busy
}

// generic reads how many GPUs a node has: gpu:h100:8(S:0-1), of all types together.
func generic(v string) (n int, kind string) {
	for depth, start, i := 0, 0, 0; i <= len(v); i++ {
		switch {
		case i < len(v) && v[i] == '(':
			depth++
		case i < len(v) && v[i] == ')':
			depth--
		case i == len(v) || v[i] == ',' && depth == 0:
			part, _, _ := strings.Cut(v[start:i], "(")
			start = i + 1
			words := strings.Split(part, ":")
			if words[0] != "gpu" {
				continue
			}
			count := 1
			if len(words) > 1 {
				if c, err := strconv.Atoi(words[len(words)-1]); err == nil {
					count, words = c, words[:len(words)-1]
				}
			}
			n += max(0, min(count, 4096))
			if len(words) > 1 {
				kind = words[1]
			}
		}
	}
	return n, kind
}

// split reads a list with commas; "(null)" is none.
func split(v string) []string {
	if v == "" || v == "(null)" {
		return nil
	}
	return strings.Split(v, ",")
}

// Check refuses a tree with unknown names.
func (c *Cluster) Check() error {
	if len(c.Nodes) == 0 {
		return field.New("", "no node is described")
	}
	below := map[string]Place{}
	for i := range c.Switches {
		s := &c.Switches[i]
		for _, n := range s.Nodes {
			if _, ok := c.byName[n]; !ok {
				return s.At.Fail("Nodes", "switch %s has node %s, which no other line describes", s.Name, n)
			}
			if at, ok := below[n]; ok {
				return s.At.Fail("Nodes", "node %s is on a switch of line %d already", n, at.Line)
			}
			below[n] = s.At
		}
		for _, b := range s.Switches {
			if !slices.ContainsFunc(c.Switches, func(o Switch) bool { return o.Name == b }) {
				return s.At.Fail("Switches", "switch %s has switch %s below it, which no line describes", s.Name, b)
			}
		}
	}
	if err := c.noLoop(); err != nil {
		return err
	}
	if len(c.Switches) > 0 {
		var alone []string
		for i := range c.Nodes {
			if _, ok := below[c.Nodes[i].Name]; !ok {
				alone = append(alone, c.Nodes[i].Name)
			}
		}
		if len(alone) > 0 {
			c.Notes = append(c.Notes, Note{c.Switches[0].At,
				fmt.Sprintf("%s on no switch, which no job with others gets: %s", unit.Plural(len(alone), "node"), field.Clip(Fold(alone)))})
		}
	}
	return nil
}

// noLoop refuses a switch below itself.
func (c *Cluster) noLoop() error {
	index := map[string]int{}
	for i := range c.Switches {
		index[c.Switches[i].Name] = i
	}
	const under, done = 1, 2
	state := make([]int8, len(c.Switches))
	var down func(i int) error
	down = func(i int) error {
		s := &c.Switches[i]
		state[i] = under
		for _, b := range s.Switches {
			switch k := index[b]; state[k] {
			case under:
				return s.At.Fail("Switches", "switch %s has switch %s below it, which has it below itself",
					s.Name, b)
			case done:
			default:
				if err := down(k); err != nil {
					return err
				}
			}
		}
		state[i] = done
		return nil
	}
	for i := range c.Switches {
		if state[i] == 0 {
			if err := down(i); err != nil {
				return err
			}
		}
	}
	return nil
}
