package jobscript

import (
	"slices"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/syntax"
)

// maxTurns limits the iterations of a loop.
const maxTurns = 1024

// jump is a pending break or continue.
type jump int

const (
	goesOn jump = iota
	nextTurn
	breaks
)

// stopped reports whether the following commands are not reached.
func (sh *shell) stopped() bool {
	return sh.gone || sh.left || sh.jump != goesOn || *sh.steps > maxSteps
}

// turned reports, after an iteration of a loop, whether there is another.
func (sh *shell) turned() bool {
	if sh.jump == nextTurn {
		sh.jump = goesOn
	}
	more := !sh.stopped()
	if sh.jump == breaks {
		sh.jump = goesOn
	}
	return more
}

// binary runs a && b, a || b, a | b.
func (sh *shell) binary(c *syntax.BinaryCmd) answer {
	left := sh.stmt(c.X)
	switch c.Op {
	case syntax.AndStmt:
		if left == no {
			return no
		}
		if y := []*syntax.Stmt{c.Y}; left == maybe && sh.ends(y) ||
			left == yes && sh.given(c.X.Pos(), []*syntax.Stmt{c.X}, y) { // as branch does
			return maybe
		}
		return sh.stmt(c.Y)
	case syntax.OrStmt:
		if left != no { // a command that is not run is assumed to succeed
			return left
		}
		return sh.stmt(c.Y)
	}
	return sh.stmt(c.Y)
}

// branch runs the part of an if that its tests lead to.
func (sh *shell) branch(c *syntax.IfClause) answer {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 { // else
			return sh.all(c.Then)
		}
		sh.looked = false
		a := sh.all(c.Cond)
		if a == yes && sh.given(c.Pos(), c.Cond, c.Then) {
			continue
		}
		if a == maybe {
			if sh.looked {
				sh.note(c.Pos(), "whether a file is there is not looked at: taken as if it were not tested for")
				continue
			}
			if sh.ends(c.Then) {
				sh.note(c.Pos(), "condition unknown: read as false, because the script ends otherwise")
				continue
			}
			sh.note(c.Pos(), "condition unknown: read as true")
		}
		if a != no {
			return sh.all(c.Then)
		}
	}
	return yes
}

// given reports whether a script would end because its user gave no arguments.
func (sh *shell) given(p syntax.Pos, cond, then []*syntax.Stmt) bool {
	if !sh.there || sh.inside || !sh.ends(then) || !asks(cond) {
		return false
	}
	sh.note(p, "arguments of the script are unknown: read as set")
	return true
}

// asks reports whether a test is about the script's arguments.
func asks(cond []*syntax.Stmt) (is bool) {
	for _, s := range cond {
		syntax.Walk(s, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil && len(p.Param.Value) == 1 &&
				(p.Param.Value == "#" || p.Param.Value[0] >= '1' && p.Param.Value[0] <= '9') {
				is = true
			}
			return !is
		})
	}
	return is
}

// ends reports whether commands reach an exit, or the end of an iteration.
func (sh *shell) ends(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, func(s *syntax.Stmt) bool {
		switch c := s.Cmd.(type) {
		case *syntax.CallExpr:
			return len(c.Args) > 0 && slices.Contains([]string{"exit", "return", "continue", "break"},
				c.Args[0].Lit())
		case *syntax.BinaryCmd: // return 2>/dev/null || exit 0
			return c.Op == syntax.OrStmt && sh.ends([]*syntax.Stmt{c.X, c.Y})
		case *syntax.Block:
			return sh.ends(c.Stmts)
		}
		return false
	})
}

// loop runs a loop for each of its words, if they are known.
func (sh *shell) loop(c *syntax.ForClause) (last answer) {
	x, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		return sh.counts(c)
	}
	items := sh.fields(x.Items)
	if !x.InPos.IsValid() {
		for _, p := range sh.params {
			items = append(items, Arg{Text: p})
		}
	}
	for i, a := range items {
		if sh.stopped() {
			break
		}
		if i == maxTurns {
			sh.note(c.Pos(), "a loop has %d words: the first %d are read", len(items), i)
			break
		}
		sh.assign(x.Name.Value, a.Text)
		last = sh.all(c.Do)
		if !sh.turned() {
			break
		}
	}
	return last
}

// counts runs for ((i=0; i<n; i++)) where n is known, else once, as it begins.
func (sh *shell) counts(c *syntax.ForClause) (last answer) {
	l, ok := c.Loop.(*syntax.CStyleLoop)
	if !ok {
		return sh.all(c.Do)
	}
	sh.arithmetic(l.Init)
	for i := 0; ; i++ {
		goes := sh.arithmetic(l.Cond)
		if goes == no {
			return last
		}
		last = sh.all(c.Do)
		if !sh.turned() {
			return last
		}
		if goes == maybe || i == maxTurns {
			sh.note(c.Pos(), "number of loop iterations unknown: read %s", times(i+1))
			return last
		}
		if sh.arithmetic(l.Post); *sh.steps > maxSteps {
			return last
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return "a thousand times"
}

// while runs a loop as long as its condition is known to be true. It runs a waiting loop once.
func (sh *shell) while(c *syntax.WhileClause) (last answer) {
	for i := 0; i < maxTurns; i++ {
		goes := yes
		if _, tests := c.Cond[0].Cmd.(*syntax.TestClause); tests || bracketed(c.Cond) {
			if goes = sh.all(c.Cond); c.Until {
				goes = not(goes)
			}
		} else if i > 0 {
			return last
		}
		if goes == no && i > 0 {
			return last
		}
		last = sh.all(c.Do)
		if !sh.turned() || goes != yes {
			return last
		}
	}
	return last
}

// bracketed reports whether a condition is one of [ and test.
func bracketed(cond []*syntax.Stmt) bool {
	c, ok := cond[0].Cmd.(*syntax.CallExpr)
	return ok && len(cond) == 1 && len(c.Args) > 1 && (c.Args[0].Lit() == "[" || c.Args[0].Lit() == "test")
}

// choose runs the branch of a case that fits.
func (sh *shell) choose(c *syntax.CaseClause) answer {
	word := sh.literal(c.Word)
	if vague(word) {
		return sh.guess(c, word)
	}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			if sh.matches(p, word) {
				return sh.all(item.Stmts)
			}
		}
	}
	return yes
}

// guess runs the single branch of a case for an unknown word, or the branch that starts a program, if a script is
// read for the programs that it starts.
func (sh *shell) guess(c *syntax.CaseClause, word string) answer {
	var only *syntax.CaseItem
	n := 0
	for _, item := range c.Items {
		switch p := item.Patterns[0].Lit(); p {
		case "*", "-h", "--help":
			continue
		case "start", "up", "routable":
			only, n = item, 1
		default:
			if n++; n == 1 {
				only = item
			}
			continue
		}
		break
	}
	if !sh.there || n != 1 {
		sh.note(c.Pos(), "%s is unknown: no branch of the case is taken", slurm.Open(word))
		return maybe
	}
	p := only.Patterns[0]
	sh.note(c.Pos(), "%s is unknown: read as %s", slurm.Open(word), p.Lit())
	if w := c.Word.Parts; len(w) == 1 && p.Lit() != "" {
		if q, ok := w[0].(*syntax.DblQuoted); ok {
			w = q.Parts
		}
		v, ok := w[0].(*syntax.ParamExp)
		switch {
		case !ok || len(w) != 1 || v.Param == nil:
		case v.Param.Value == "1" && !sh.inside && len(sh.params) == 0:
			sh.params = []string{p.Lit()}
		case v.Param.Value[0] > '9':
			sh.assign(v.Param.Value, p.Lit())
		}
	}
	return sh.all(only.Stmts)
}
