package junos

import (
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"
)

// Command is one statement of a configuration, in either form: the words after set.
type Command struct {
	Words    []string
	Line     int
	Inactive bool // deactivated
}

// String returns the words as typed.
func (c Command) String() string {
	out := slices.Clone(c.Words)
	for i, w := range out {
		if w == "" || strings.ContainsAny(w, " \t\"{};[]#") {
			out[i] = `"` + strings.ReplaceAll(strings.ReplaceAll(w, `\`, `\\`), `"`, `\"`) + `"`
		}
	}
	return strings.Join(out, " ")
}

// Commands returns the statements of a configuration, one for each item of a list and each property of a forwarding
// class.
func Commands(file string, text []byte) ([]Command, error) {
	p := &parser{c: &swconf.Config{OS: swconf.Junos, File: file}}
	tokens, _, err := scan(file, string(cli.LineEnds(text)))
	if err != nil {
		return nil, err
	}
	if err := p.read(tokens); err != nil {
		return nil, err
	}
	idle := map[*tree.Statement]bool{}
	all := p.t.Statements()
	for _, s := range p.idle() {
		idle[s] = true
	}
	var out []Command
	for _, s := range all {
		for _, words := range properties(tree.Texts(s.Words)) {
			out = append(out, Command{words, s.Words[len(s.Words)-1].Line, idle[s]})
		}
	}
	return out, nil
}

// properties splits a forwarding class on one line, as the hierarchy prints it.
func properties(words []string) (out [][]string) {
	if len(words) < 6 || strings.Join(words[:3], " ") != "class-of-service forwarding-classes class" {
		return [][]string{words}
	}
	for i := 4; i < len(words); i++ {
		one := append(slices.Clone(words[:4]), words[i])
		if words[i] != "no-loss" && i+1 < len(words) {
			i++
			one = append(one, words[i])
		}
		out = append(out, one)
	}
	return out
}
