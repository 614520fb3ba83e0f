package jobscript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Arg is an expanded word of a command; unknown parts are in it by name.
type Arg struct {
	Text string
	At   slurm.Place
}

// unknown returns the placeholder of an unknown value.
func unknown(name string) string { return slurm.Closed(slurm.Open(name)) }

// vague reports whether a string contains an unknown value.
func vague(s string) bool { return strings.ContainsRune(s, slurm.Unknown) }

// each is the prefix for names of values that differ between processes. Their suffix is that of unknown values.
const each = "\uE002"

// own returns the placeholder of a value that differs between processes.
func own(name string) string { return each + name + string(slurm.Known) }

// maxText bounds a variable, and a word.
const maxText = 64 << 10

// Get is expand.Environ.
func (sh *shell) Get(name string) expand.Variable {
	text := func(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: sh.params}
	case "#":
		if sh.there && !sh.inside && len(sh.params) == 0 {
			return text(unknown("#"))
		}
		return text(strconv.Itoa(len(sh.params)))
	case "?":
		return text("0")
	case "$", "!", "PPID", "BASHPID":
		return text("1")
	case "0":
		return text(sh.file)
	case "-":
		return text("")
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(sh.params) {
		return text(sh.params[n-1])
	}
	if v, ok := sh.vars[name]; ok {
		return v
	}
	if strings.HasPrefix(name, "HOME ") { // ~user: no user is looked up
		return text(unknown("~" + name[5:]))
	}
	if sh.open[name] {
		return text(unknown(name))
	}
	return expand.Variable{}
}

// Each implements expand.Environ; no process is started that would need it.
func (sh *shell) Each(func(string, expand.Variable) bool) {}

// Set is expand.WriteEnviron: ${NAME:=value}.
func (sh *shell) Set(name string, v expand.Variable) error {
	if len(v.Str) > maxText {
		v.Str = unknown(name)
	}
	if old, ok := sh.vars[name]; ok {
		v.Exported = v.Exported || old.Exported
	}
	if !v.Set {
		delete(sh.vars, name)
		return nil
	}
	sh.vars[name] = v
	return nil
}

// settled returns parts of a word with incomputable ones replaced by their names, so that nothing is computed from
// unknown values, and nothing grows beyond limits.
func (sh *shell) settled(parts []syntax.WordPart) (out []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			c := *p
			c.Parts = sh.settled(p.Parts)
			out = append(out, &c)
		case *syntax.ArithmExp:
			if name, ok := sh.unsure(p.X); ok {
				out = append(out, &syntax.SglQuoted{Value: unknown("((" + name + "))")})
			} else {
				out = append(out, p)
			}
		case *syntax.ParamExp:
			out = append(out, sh.parameter(p))
		case *syntax.ProcSubst:
			out = append(out, &syntax.SglQuoted{Value: unknown("<(...)")})
		case *syntax.Lit:
			if strings.Contains(p.Value, "..") && strings.Contains(p.Value, "{") &&
				!short.MatchString(p.Value) { // {1..1000000000}
				out = append(out, &syntax.SglQuoted{Value: p.Value})
			} else {
				out = append(out, p)
			}
		default:
			out = append(out, p)
		}
	}
	return out
}

// short is a word with one range of at most a thousand numbers, as eth{0..7}.
var short = regexp.MustCompile(`^[^{}]*\{[0-9]{1,3}\.\.[0-9]{1,3}\}[^{}]*$`)

// parameter is a parameter expansion that can be made, or its name.
func (sh *shell) parameter(p *syntax.ParamExp) syntax.WordPart {
	if p.Param == nil {
		return &syntax.SglQuoted{Value: unknown("{}")}
	}
	name := p.Param.Value
	v := sh.Get(name)
	size := len(v.Str)
	for _, s := range v.List {
		size += len(s)
	}
	for k, s := range v.Map {
		size += len(k) + len(s)
	}
	if sh.there && !sh.inside && !v.IsSet() && (p.Repl != nil || p.Slice != nil) { // ${1/p/}
		return &syntax.SglQuoted{Value: unknown(name)}
	}
	if sh.room -= size; sh.room < 0 || p.Excl && !v.IsSet() || p.Repl != nil && size > 4096 {
		return &syntax.SglQuoted{Value: unknown(name)}
	}
	if p.Slice != nil {
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if _, unsure := sh.unsure(x); x != nil && unsure {
				return &syntax.SglQuoted{Value: unknown(name)}
			}
		}
	}
	if p.Exp == nil && p.Repl == nil && !p.Length && !p.IsSet && !v.IsSet() && p.Index == nil {
		sh.open[name] = true // no default: it keeps its name
		return p
	}
	c := *p
	if p.Exp != nil && p.Exp.Word != nil {
		x := *p.Exp
		x.Word = &syntax.Word{Parts: sh.settled(p.Exp.Word.Parts)}
		c.Exp = &x
	}
	if p.Index != nil && v.Kind != expand.Associative {
		if n, unsure := sh.unsure(p.Index); unsure && n != "@" && n != "*" {
			return &syntax.SglQuoted{Value: unknown(name + "[" + n + "]")}
		}
	}
	return &c
}

// unsure returns the non-numeric part of an arithmetic expression.
func (sh *shell) unsure(x syntax.ArithmExpr) (name string, is bool) {
	if x == nil {
		return "", false
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		check := func(v string) {
			s := sh.Get(v).String()
			if _, err := strconv.Atoi(strings.TrimSpace(s)); err != nil && !is {
				name, is = v, true
			}
		}
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp == nil && !n.Length {
				check(n.Param.Value)
			}
			return false
		case *syntax.CmdSubst:
			if s, ok := sh.output(n); !ok {
				name, is = s, true
			} else if _, err := strconv.Atoi(strings.TrimSpace(s)); err != nil {
				name, is = "(...)", true
			}
			return false
		case *syntax.Lit:
			if _, err := strconv.ParseInt(n.Value, 0, 64); err != nil && n.Value != "" {
				check(n.Value)
			}
		case *syntax.ArithmExp, *syntax.DblQuoted, *syntax.Word:
		}
		return true
	})
	return name, is
}

// config returns the configuration for expanding words: nothing is looked up or run.
func (sh *shell) config() *expand.Config { return &expand.Config{Env: sh, CmdSubst: sh.substitute} }

// begin makes room for a word's expansion.
func (sh *shell) begin() { sh.open, sh.room = map[string]bool{}, maxText }

// safely calls the library, whose panics are the input's fault.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

// fields are the words that commands get.
func (sh *shell) fields(words []*syntax.Word) (out []Arg) {
	for _, w := range words {
		sh.begin()
		word := &syntax.Word{Parts: sh.settled(w.Parts)}
		var got []string
		err := safely(func() (err error) {
			got, err = expand.Fields(sh.config(), word)
			return err
		})
		if err != nil {
			sh.note(w.Pos(), "a word is not understood: %v", err)
			got = []string{unknown("(...)")}
		}
		for _, s := range got {
			if sh.words++; sh.words > maxWords {
				return out
			}
			out = append(out, Arg{s, at(sh.file, w.Pos())})
		}
	}
	return out
}

// literal returns a word's text in an assignment, where it is not split.
func (sh *shell) literal(w *syntax.Word) (s string) {
	if w == nil {
		return ""
	}
	sh.begin()
	word := &syntax.Word{Parts: sh.settled(w.Parts)}
	err := safely(func() (err error) {
		s, err = expand.Literal(sh.config(), word)
		return err
	})
	if err != nil {
		sh.note(w.Pos(), "a value is not understood: %v", err)
		return unknown("(...)")
	}
	return s
}

// document returns the text of a here-document.
func (sh *shell) document(w *syntax.Word) (s string) {
	if w == nil { // an empty one
		return ""
	}
	sh.begin()
	word := &syntax.Word{Parts: sh.settled(w.Parts)}
	err := safely(func() (err error) {
		s, err = expand.Document(sh.config(), word)
		return err
	})
	if err != nil {
		return unknown("(...)")
	}
	return s
}
