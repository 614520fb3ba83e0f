package swconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"railyard/internal/swconf/cli"
)

// pulls reports whether a command would pull in another file. In some modes a switch has commands of that name, which
// its table contains.
func pulls(word string) bool {
	return slices.ContainsFunc([]string{"include", "#include", "source-file", ".include"},
		func(inc string) bool { return strings.EqualFold(word, inc) })
}

// ReadText feeds the lines of a configuration to a dialect's table.
func ReadText(c *Config, text []byte, root *cli.Mode) error {
	lines, err := cli.Scan(c.File, text)
	if err != nil {
		return err
	}
	return ReadLines(c, lines, root)
}

// ReadLines feeds lines to a dialect's table, counts them, and notes unrecognized ones. A last line that stops in
// the middle of a command is an error: the file is truncated.
func ReadLines(c *Config, lines []cli.Line, root *cli.Mode) error {
	c.Total = len(lines)
	unknown, over := cli.Read(lines, root)
	if over != nil {
		return &cli.SyntaxError{File: c.File, Line: over.Num, Col: over.Words[0].Col,
			Msg: "opens more sections than a switch's configuration has (10000, 200 in one another)"}
	}
	if err := c.Over(); err != nil {
		return err
	}
	for _, u := range unknown {
		if first := u.Line.Words[0]; u.Line.Indent <= 0 && pulls(first.Text) {
			return &cli.SyntaxError{File: c.File, Line: u.Line.Num, Col: first.Col,
				Msg: "includes are not followed: put the included lines in their place, one file is one switch"}
		}
		if u.Cut && u.Line.Num == lines[len(lines)-1].Num {
			return &cli.SyntaxError{File: c.File, Line: u.Line.Num, Col: u.Col,
				Msg: u.Why + "; the file ends here: is it truncated?"}
		}
		c.Unknown = append(c.Unknown, Unknown{Place{c.File, u.Line.Num, u.Col}, u.Line.Text, u.Why, u.Near})
	}
	c.Read = len(lines) - len(unknown) - c.Passed
	return nil
}

// At is the place of a captured word, or of its line.
func (c *Config) At(m *cli.Match, name string) Place {
	return Place{File: c.File, Line: m.Line.Num, Col: m.Col(name)}
}

// SaidAt makes a value with the position of a line.
func SaidAt[T any](c *Config, m *cli.Match, name string, v T) Said[T] { return Say(v, c.At(m, name)) }

// Assign sets a line's value; "no" removes it.
func Assign[T any](c *Config, m *cli.Match, to *Said[T], name string, v T) {
	if m.No {
		*to = Said[T]{}
		return
	}
	*to = SaidAt(c, m, name, v)
}

// Switch sets a feature that a line enables. no is a separate value with its position, which overrides the default;
// default removes both.
func Switch(c *Config, m *cli.Match, to *Said[bool], name string, v bool) {
	*to = SaidAt(c, m, name, v && !m.No)
	if m.Default {
		*to = Said[bool]{}
	}
}

// Agree records a value, by name, that must be equal on the other switch; "no" removes it.
func Agree(c *Config, m *cli.Match, list *[]Alike, what, name string) {
	*list = Agreed(*list, Alike{what, SaidAt(c, m, name, m.Word(name))})
	if m.No {
		*list = (*list)[:len(*list)-1]
	}
}

// Agreed returns a list with a value at its end, in place of one of its name.
func Agreed(list []Alike, a Alike) []Alike {
	return append(slices.DeleteFunc(list, func(b Alike) bool { return b.What == a.What }), a)
}

// Without removes a value from a list, or all of them if the line has no value.
func Without[T comparable](list []Said[T], v T, named bool) []Said[T] {
	return slices.DeleteFunc(list, func(s Said[T]) bool { return !named || s.V == v })
}

// Report notes a fault that the dialect found while reading.
func Report(c *Config, at Place, s Severity, rule, message, why, fix string) {
	c.Faults = append(c.Faults, Finding{Severity: s, Rule: rule, File: at.File, Line: at.Line, Column: at.Col,
		Message: message, Why: why, Fix: fix})
}

// Duplicate reports a second definition of a name.
func Duplicate(c *Config, kind, name string, at, first Place) {
	Report(c, at, Error, "duplicate-definition", fmt.Sprintf("%s %s is defined again, first on line %d", kind,
		name, first.Line),
		"the two are merged or the last wins, depending on the system: the effective configuration is neither of them",
		"keep one definition")
}

// Contrary reports a class that is reopened, and so continued, with another match rule.
func Contrary(c *Config, kind, name string, at, first Place) {
	Report(c, at, Info, "duplicate-definition",
		fmt.Sprintf("%s %s is opened again on other terms than on line %d", kind, name, first.Line),
		"the switch keeps the first: one of match-any and match-all is unintended, and the first is used here",
		"set the same both times")
}

// Text is a text in which many phrases are searched, most of which it does not contain. It stores its trigrams, and
// only phrases whose trigrams occur are searched.
type Text struct {
	s     string
	grams *[1 << 16 / 64]uint64
}

// Searched prepares a text.
func Searched(s string) Text {
	t := Text{s, new([1 << 16 / 64]uint64)}
	for i := 2; i < len(s); i++ {
		g := gram(s[i-2], s[i-1], s[i])
		t.grams[g/64] |= 1 << (g % 64)
	}
	return t
}

// gram returns the index of three letters; several trigrams may share an index.
func gram(a, b, c byte) uint16 { return uint16(a)<<11 ^ uint16(a)>>5 ^ uint16(b)<<5 ^ uint16(c) }

// From returns the text from an offset on.
func (t Text) From(i int) Text { return Text{t.s[i:], t.grams} }

// Score counts how many of a language's characteristic phrases a text has.
func (t Text) Score(phrases ...string) (n int) {
	for _, p := range phrases {
		if t.may(p) && strings.Contains(t.s, p) {
			n++
		}
	}
	return n
}

// may reports whether all trigrams of a phrase occur in the text.
func (t Text) may(phrase string) bool {
	for i := 2; i < len(phrase); i++ {
		if g := gram(phrase[i-2], phrase[i-1], phrase[i]); t.grams[g/64]&(1<<(g%64)) == 0 {
			return false
		}
	}
	return true
}

// Refer records a reference to a name; "no" removes it.
func (c *Config) Refer(m *cli.Match, kind, name string) {
	if m.No {
		c.Unuse(kind, m.Word(name))
		return
	}
	c.Use(kind, m.Word(name), c.At(m, name))
}

// Address adds an address of a port, or removes it with "no"; "no" without an address removes all. bad reports a
// word that is not an address.
func (c *Config) Address(m *cli.Match, port *Port, bad func(m *cli.Match, name, what string)) {
	if m.No && !m.Has("prefix") {
		port.Addrs = nil
		return
	}
	pre, err := netip.ParsePrefix(m.Word("prefix"))
	if err != nil {
		bad(m, "prefix", "an address with a prefix length")
		return
	}
	if port.Addrs = Without(port.Addrs, pre, true); !m.No {
		port.Addrs = append(port.Addrs, SaidAt(c, m, "prefix", pre))
	}
}
