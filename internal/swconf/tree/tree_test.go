package tree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/tree"

	"pgregory.net/rapid"
)

func words(line int, path string) (out []tree.Word) {
	for i, w := range strings.Fields(path) {
		out = append(out, tree.Word{Text: w, Line: line, Col: i + 1})
	}
	return out
}

// grammar is a small language.
func grammar(said *[]string) *tree.Grammar {
	g := &tree.Grammar{Short: true}
	say := func(format string, names ...string) func(*tree.Match) {
		return func(m *tree.Match) {
			args := []any{}
			for _, n := range names {
				args = append(args, m.Word(n))
			}
			*said = append(*said, fmt.Sprintf(format, args...))
		}
	}
	g.Add("interface <if> mtu <n:int>", say("%s has MTU %s", "if", "n"))
	g.Add("interface <if> speed <v:auto|100g>", say("%s runs at %s", "if", "v"))
	g.Add("interface <if> unit 0 address <a>", say("%s has %s", "if", "a"))
	g.Add("interface <if> unit <u> address <a>", say("%s.%s has %s", "if", "u", "a"))
	g.Add("share <x:num>", say("share %s", "x"))
	g.Pass("system", "interface <if> link")
	return g
}

// A row takes the words that it names. Keywords may be abbreviated, and they match before captures. An error names
// a word that does not fit, its place and the words that would fit.
func TestFind(t *testing.T) {
	for path, want := range map[string]string{
		"interface e1 mtu 9000":           "e1 has MTU 9000",
		"interface mtu mtu 9000":          "mtu has MTU 9000",
		"int e1 mt 9000":                  "e1 has MTU 9000",
		"interface e1 unit 0 address a":   "e1 has a",
		"interface e1 unit 5 address a":   "e1.5 has a",
		"interface e1 speed auto":         "e1 runs at auto",
		"share 12.5":                      "share 12.5",
		"system":                          "passed",
		"system a b c":                    "passed",
		"interface e1 link x":             "passed",
		"interface e1 mtu big":            `4: found "big", expected a whole number`,
		"interface e1 mtu":                "4: the statement ends early, expected a whole number",
		"interface e1 speed 10g":          `4: found "10g", expected "100g", "auto"`,
		"interface e1 mtu 5 6":            `5: found "6", expected the end of the statement`,
		"interface e1 frob":               `3: found "frob", expected "link", "mtu", "speed", "unit"`,
		"share -1":                        `2: found "-1", expected a number`,
		"s 1":                             `1: found "s", expected "interface", "share", "system"`,
		"interface e1 unit 0 mac-address": `5: found "mac-address", expected "address"`,
	} {
		var said []string
		w := words(1, path)
		m, miss := grammar(&said).Find(w)
		switch {
		case miss != nil:
			said = []string{fmt.Sprintf("%d: %s", miss.At+1, miss.Why(w))}
		case m.Row.Do == nil:
			said = []string{"passed"}
		default:
			m.Row.Do(m)
		}
		if got := strings.Join(said, ";"); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// Two rows that are one path are a mistake of ours.
func TestRowsTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row is taken twice")
		}
	}()
	g := &tree.Grammar{}
	g.Add("a <b> c", nil)
	g.Add("a <b> c", nil)
}

// A deletion removes the statements at a path and below it. Statements after the deletion stay.
func TestDelete(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var tr tree.Tree
		var model []string
		word := rapid.SampledFrom([]string{"a", "b", "c"})
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			path := strings.Join(rapid.SliceOfN(word, 0, 4).Draw(rt, "path"), " ")
			if path != "" && rapid.Bool().Draw(rt, "set") {
				tr.Set(words(1, path))
				model = append(model, path)
				continue
			}
			before := len(model)
			model = slices.DeleteFunc(model, func(s string) bool {
				return path == "" || s == path || strings.HasPrefix(s, path+" ")
			})
			if n := tr.Delete(words(1, path)); n != before-len(model) {
				rt.Fatalf("%q deletes %d, want %d", path, n, before-len(model))
			}
		}
		var got []string
		for _, s := range tr.Statements() {
			got = append(got, strings.Join(tree.Texts(s.Words), " "))
		}
		if !slices.Equal(got, model) {
			rt.Fatalf("%v, want %v", got, model)
		}
	})
}

// Each line counts once. "Unknown" has precedence over "read", and "read" over "passed over". Lines that are only
// braces are understood.
func TestCount(t *testing.T) {
	c := &swconf.Config{File: "x"}
	k := tree.NewCount(c, 5)
	k.Passed(words(1, "a b"))
	k.Read(words(1, "a c"))
	k.Passed(words(2, "d"))
	k.Unknown(tree.Word{Text: "e", Line: 4, Col: 3}, "e", "why")
	k.Unknown(tree.Word{Text: "e", Line: 3, Col: 3}, "e", "why")
	k.Unknown(tree.Word{Text: "f", Line: 4, Col: 9}, "f", "again")
	k.Close()
	if c.Total != 5 || c.Passed != 1 || c.Read != 2 || len(c.Unknown) != 2 || c.Unknown[0].At.Line != 3 {
		t.Errorf("%d lines: %d read, %d passed, %+v", c.Total, c.Read, c.Passed, c.Unknown)
	}
}
