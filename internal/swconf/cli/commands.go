package cli

import "strings"

// Command is one rule of a mode, for tests that visit all of them.
type Command struct {
	Pattern string // without [no]
	No      bool   // understands "no"
	Only    bool   // has no other form
	do      func(*Match) *Mode
	nodes   []node
	of      any
}

// Commands lists a mode's rules in the order in which they were added.
func (m *Mode) Commands() (out []Command) {
	for _, r := range m.rules {
		p := r.pattern
		if r.no && !r.only {
			p = p[len("[no] "):]
		}
		out = append(out, Command{p, r.no, r.only, r.do, r.nodes, m.of})
	}
	return out
}

// Skipped reports whether everything in a mode is passed over.
func (m *Mode) Skipped() bool { return m == skipped }

// Sample returns a line that matches the command. word returns the text of a captured word. pick selects one of
// several keywords, with all optional parts; negative: without them.
func (c Command) Sample(word func(capture string) string, pick int) string {
	return sample(c.nodes, word, pick)
}

func sample(nodes []node, word func(string) string, pick int) (out string) {
	for _, n := range nodes {
		w := ""
		switch n.kind {
		case keyword:
			w = n.text
		case choice:
			w = n.among[min(max(pick, 0), len(n.among)-1)]
		case optional:
			if pick < 0 {
				continue
			}
			w = sample(n.inner, word, pick)
		case integer, number:
			w = "3"
		default:
			if w = word(n.text); w == "" {
				w = "x"
			}
		}
		if out != "" {
			out += " "
		}
		out += w
	}
	return out
}

// usage returns a command without optional parts, with words in capitals as placeholders.
func usage(nodes []node) string {
	var out []string
	for _, n := range nodes {
		switch n.kind {
		case keyword:
			out = append(out, n.text)
		case choice:
			out = append(out, strings.Join(n.among, "|"))
		case integer, number:
			out = append(out, "N")
		case word, rest:
			out = append(out, strings.ToUpper(n.text))
		}
	}
	return strings.Join(out, " ")
}

// Enter executes a line that matches the command, and returns the mode it opens.
func (c Command) Enter(l *Line) *Mode {
	x := &Match{Line: l, Of: c.of}
	m := matcher{words: l.Words, line: l}
	if !m.run(c.nodes, 0, x, nil) {
		return nil
	}
	return c.do(x)
}
