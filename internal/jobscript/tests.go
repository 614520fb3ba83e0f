package jobscript

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// matches reports whether a word fits a pattern.
func (sh *shell) matches(p *syntax.Word, word string) bool {
	var glob string
	sh.begin()
	w := &syntax.Word{Parts: sh.settled(p.Parts)}
	if safely(func() (err error) {
		glob, err = expand.Pattern(sh.config(), w)
		return err
	}) != nil || len(glob) > 4096 {
		return false
	}
	s, err := pattern.Regexp(glob, pattern.EntireString)
	if err != nil {
		return false
	}
	re, err := regexp.Compile(s)
	return err == nil && re.MatchString(word)
}

// test answers [[ ]].
func (sh *shell) test(x syntax.TestExpr) answer {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return sh.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return not(sh.test(x.X))
		}
		if w, ok := x.X.(*syntax.Word); ok {
			return sh.unary(x.Op.String(), sh.plain(w))
		}
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest:
			return both(sh.test(x.X), sh.test(x.Y))
		case syntax.OrTest:
			return not(both(not(sh.test(x.X)), not(sh.test(x.Y))))
		}
		a, ok1 := x.X.(*syntax.Word)
		b, ok2 := x.Y.(*syntax.Word)
		if !ok1 || !ok2 {
			return maybe
		}
		left := sh.plain(a)
		switch x.Op.String() {
		case "=", "==":
			return either(left, sh.matches(b, left))
		case "!=":
			return either(left, !sh.matches(b, left))
		case "=~":
			re, err := regexp.Compile(sh.plain(b))
			return either(left, err == nil && re.MatchString(left))
		}
		return compare(left, x.Op.String(), sh.plain(b))
	case *syntax.Word:
		s := sh.plain(x)
		return either(s, s != "")
	}
	return maybe
}

// plain returns a word in a test, where an unset variable is empty.
func (sh *shell) plain(w *syntax.Word) string {
	s := sh.literal(w)
	for name := range sh.open {
		s = strings.ReplaceAll(s, unknown(name), "")
	}
	return s
}

// either is a known answer unless the word is not known.
func either(word string, is bool) answer {
	switch {
	case vague(word) || strings.Contains(word, each):
		return maybe
	case is:
		return yes
	}
	return no
}

func not(a answer) answer {
	switch a {
	case yes:
		return no
	case no:
		return yes
	}
	return maybe
}

func both(a, b answer) answer {
	switch {
	case a == no || b == no:
		return no
	case a == yes && b == yes:
		return yes
	}
	return maybe
}

// unary evaluates [ -z x ] and similar tests. The existence of files is not checked.
func (sh *shell) unary(op, s string) answer {
	switch op {
	case "-z":
		return either(s, s == "")
	case "-n":
		return either(s, s != "")
	case "-v":
		_, ok := sh.vars[s]
		return either(s, ok)
	case "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-b", "-c", "-p", "-S", "-a":
		if _, ok := sh.files[s]; ok {
			return yes
		}
		if sh.there {
			return yes
		}
		sh.looked = true
	}
	return maybe
}

// compare answers a OP b.
func compare(a, op, b string) answer {
	if op == "=" || op == "==" {
		return either(a+b, a == b)
	}
	if op == "!=" {
		return either(a+b, a != b)
	}
	x, err1 := strconv.Atoi(strings.TrimSpace(a))
	y, err2 := strconv.Atoi(strings.TrimSpace(b))
	if err1 != nil || err2 != nil {
		return maybe
	}
	is := map[string]bool{"-eq": x == y, "-ne": x != y, "-lt": x < y, "-le": x <= y, "-gt": x > y,
		"-ge": x >= y, "<": x < y, ">": x > y}
	v, ok := is[op]
	if !ok {
		return maybe
	}
	return either("", v)
}

// bracket answers [ ... ] and test, whose words are expanded already.
func (sh *shell) bracket(words []string) answer {
	for i, w := range words { // the weakest first
		if w == "-o" && i > 0 {
			return not(both(not(sh.bracket(words[:i])), not(sh.bracket(words[i+1:]))))
		}
	}
	for i, w := range words {
		if w == "-a" && i > 0 {
			return both(sh.bracket(words[:i]), sh.bracket(words[i+1:]))
		}
	}
	if len(words) > 0 && words[0] == "!" {
		return not(sh.bracket(words[1:]))
	}
	switch len(words) {
	case 0:
		return no
	case 1: // [ -n $UNSET ], too, as bash has it
		return either(words[0], words[0] != "")
	case 2:
		if words[1] == "=" || words[1] == "==" || words[1] == "!=" {
			return maybe
		}
		return sh.unary(words[0], words[1])
	case 3:
		return compare(words[0], words[1], words[2])
	}
	return maybe
}

// tested returns the words of [ ... ]; unset variables are empty, or removed without quotation marks.
func (sh *shell) tested(words []*syntax.Word) (out []string) {
	for _, w := range words {
		for _, f := range sh.fields([]*syntax.Word{w}) {
			s := f.Text
			for name := range sh.open {
				s = strings.ReplaceAll(s, unknown(name), "")
			}
			if s != "" || f.Text == "" || quoted(w) {
				out = append(out, s)
			}
		}
	}
	return out
}

// quoted reports whether a word has quotation marks.
func quoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p.(type) {
		case *syntax.DblQuoted, *syntax.SglQuoted:
			return true
		}
	}
	return false
}

// arithmetic runs (( )), with assignments where everything is known.
func (sh *shell) arithmetic(x syntax.ArithmExpr) answer {
	if x == nil {
		return maybe
	}
	if b, ok := x.(*syntax.BinaryArithm); ok && b.Op == syntax.Assgn { // an assigned variable may be unset
		w, isWord := b.X.(*syntax.Word)
		if _, unsure := sh.unsure(b.Y); unsure && isWord {
			if name := w.Lit(); name != "" {
				sh.assign(name, unknown(name))
			}
			return maybe
		}
		if !isWord {
			return maybe
		}
	} else if _, unsure := sh.unsure(x); unsure {
		return maybe
	}
	n := 0
	if safely(func() (err error) {
		n, err = expand.Arithm(sh.config(), x)
		return err
	}) != nil {
		return maybe
	}
	return either("", n != 0)
}
