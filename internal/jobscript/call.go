package jobscript

import (
	"path"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// call runs a simple command: an assignment, a builtin, a function, or a program.
func (sh *shell) call(c *syntax.CallExpr, s *syntax.Stmt) answer {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			sh.set(a)
		}
		return yes
	}
	if name := c.Args[0].Lit(); name == "[" || name == "test" {
		words := sh.tested(c.Args[1:])
		if name == "[" && len(words) > 0 && words[len(words)-1] == "]" {
			words = words[:len(words)-1]
		}
		return sh.bracket(words)
	}
	args := sh.fields(c.Args)
	if len(args) == 0 { // a variable that holds nothing
		return yes
	}
	heard := sh.hear != nil && sh.hear(Command{Words: sh.placed(args), To: sh.target(s)})
	if sh.keep(args, s) {
		return yes
	}
	inner := sh
	if len(c.Assigns) > 0 {
		inner = sh.child()
		for _, a := range c.Assigns {
			inner.set(a)
			if a.Name != nil {
				v := inner.vars[a.Name.Value]
				v.Exported = true
				inner.vars[a.Name.Value] = v
			}
		}
	}
	if body, ok := sh.funcs[args[0].Text]; ok {
		return inner.function(body, args, sh)
	}
	if heard {
		return yes
	}
	if a, ok := sh.builtin(args, c); ok {
		return a
	}
	inner.start(args)
	return maybe
}

// placed are words with positions in the user's text: after -c, that of the whole word.
func (sh *shell) placed(args []Arg) (out []Arg) {
	for _, a := range args {
		if sh.quoted.Line > 0 {
			a.At = sh.quoted
		}
		out = append(out, a)
	}
	return out
}

// target is the file that a command's output is written to.
func (sh *shell) target(s *syntax.Stmt) (to string) {
	for _, r := range s.Redirs {
		if (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) &&
			(r.N == nil || r.N.Value == "1") {
			to = sh.literal(r.Word)
		}
	}
	return to
}

// keep stores the content that a command writes into a file, which the script may name later.
func (sh *shell) keep(args []Arg, s *syntax.Stmt) bool {
	var to, text string
	written, appended := false, false
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text, written = sh.document(r.Hdoc), true
		case syntax.WordHdoc:
			text, written = sh.literal(r.Word)+"\n", true
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
			if r.N == nil || r.N.Value == "1" {
				to, appended = sh.literal(r.Word), r.Op == syntax.AppOut
			}
		}
	}
	switch args[0].Text {
	case "tee":
		if len(args) == 2 && to == "" {
			to = args[1].Text
		}
	case "echo", "printf":
		var words []string
		for _, a := range args[1:] {
			words = append(words, a.Text)
		}
		text, written = strings.Join(words, " ")+"\n", to != ""
	case "cat":
	default:
		return false
	}
	if !written || to == "" || len(sh.files) > 256 {
		return false
	}
	if appended {
		text = sh.files[to] + text
	}
	sh.files[to] = text[:min(len(text), maxText)]
	return true
}

// function calls a function; outer is the shell whose variables it changes.
func (sh *shell) function(body *syntax.Stmt, args []Arg, outer *shell) answer {
	if *sh.calls >= maxCalls {
		sh.note(body.Pos(), "functions call one another more than %d deep", maxCalls)
		return maybe
	}
	*sh.calls++
	params, inside := sh.params, sh.inside
	sh.params, sh.inside = texts(args[1:]), true
	a := sh.stmt(body)
	sh.params, sh.left, sh.inside = params, false, inside
	*sh.calls--
	outer.gone = outer.gone || sh.gone
	return a
}

func texts(args []Arg) (all []string) {
	for _, a := range args {
		all = append(all, a.Text)
	}
	return all
}

// builtin runs the shell's own commands that change known state.
func (sh *shell) builtin(args []Arg, c *syntax.CallExpr) (answer, bool) {
	rest := texts(args[1:])
	switch args[0].Text {
	case ":", "true":
		return yes, true
	case "false":
		return no, true
	case "exit":
		sh.gone = true
	case "return":
		sh.left = true
	case "continue":
		sh.jump = nextTurn
	case "break":
		sh.jump = breaks
	case "unset":
		for _, n := range rest {
			delete(sh.vars, n)
		}
	case "shift":
		sh.params = sh.params[min(1, len(sh.params)):]
	case "set":
		for i, w := range rest {
			if w == "--" {
				sh.params = rest[i+1:]
			}
		}
	case "eval":
		was := sh.quoted
		if was.Line == 0 {
			sh.quoted = args[0].At
		}
		sh.text(args[0].At.File, strings.Join(rest, " "), c.Pos())
		sh.quoted = was
	case "source", ".":
		if len(rest) > 0 {
			sh.include(rest[0], c.Pos())
		}
	case "read", "mapfile", "readarray":
		for _, n := range rest {
			if !strings.HasPrefix(n, "-") {
				sh.vars[n] = expand.Variable{Set: true, Kind: expand.String, Str: unknown(n)}
			}
		}
	case "cd", "module", "ml", "conda", "mkdir", "echo", "printf", "wait", "sleep", "ulimit", "date", "ls",
		"cp", "rm", "mv", "ln", "chmod", "touch", "cat", "tee", "pip", "hash", "type", "trap", "umask",
		"source_env", "nvidia-smi", "env", "printenv", "clear", "sed", "awk", "grep", "tail", "head", "git",
		"popd", "pushd", "shopt", "alias", "kill", "ray", "which", "command":
		if args[0].Text == "env" && len(rest) > 0 || args[0].Text == "command" && len(rest) > 1 {
			return maybe, false
		}
	default:
		return maybe, false
	}
	return maybe, true
}

// text runs a string as a script of its own within this shell.
func (sh *shell) text(file, text string, p syntax.Pos) {
	if *sh.calls >= maxCalls {
		sh.note(p, "scripts start one another more than %d deep", maxCalls)
		return
	}
	if err := sane(file, []byte(strings.NewReplacer(string(slurm.Unknown), "", "\x00", "").Replace(text)+
		"\n#")); err != nil {
		sh.note(p, "commands are not read: %v", err)
		return
	}
	f, err := parse(file, text)
	if err != nil {
		sh.note(p, "commands are not read: %v", err)
		return
	}
	*sh.calls++
	sh.all(f.Stmts)
	*sh.calls--
}

// include reads a file that the script sources, in this shell.
func (sh *shell) include(name string, p syntax.Pos) {
	b, ok := sh.file1(name)
	if !ok {
		sh.note(p, "%s is not in the folder of the script or the working directory: its settings are unknown", slurm.Open(name))
		return
	}
	was := sh.file
	sh.file = path.Base(name)
	sh.found.texts[sh.file] = b
	sh.text(sh.file, b, p)
	sh.file = was
}

// file1 returns a file that the script has written, or that is next to it.
func (sh *shell) file1(name string) (string, bool) {
	name = strings.TrimPrefix(name, "./")
	if s, ok := sh.files[name]; ok {
		return s, true
	}
	if s, ok := sh.files["./"+name]; ok {
		return s, true
	}
	if sh.read == nil || vague(name) || name == "" {
		return "", false
	}
	b, err := sh.read(name)
	if err != nil || len(b) > maxScript {
		return "", false
	}
	return string(b), true
}
