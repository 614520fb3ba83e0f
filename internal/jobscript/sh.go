package jobscript

import (
	"fmt"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Limits of a script's expansion.
const (
	maxSteps = 20_000 // commands, in loops and functions each time
	maxCalls = 16     // functions, scripts and substitutions in one another
	maxWords = 200_000
	maxNotes = 200
)

// answer is the success of a command, if known.
type answer int

const (
	maybe answer = iota
	yes
	no
)

// shell interprets a script as bash would, without running anything.
type shell struct {
	file   string
	vars   map[string]expand.Variable
	params []string
	funcs  map[string]*syntax.Stmt
	files  map[string]string // files that the script has written
	read   ReadFile
	first  string // the first node, where the script runs
	nodes  []string
	found  *Found
	within launcher // launcher of this shell

	hear   func(Command) bool
	sets   func(name, value string, at slurm.Place)
	there  bool
	quoted slurm.Place // position of the text after -c or eval

	open         map[string]bool // unset names in the current word
	room         int             // bytes that it may still grow to
	steps, calls *int
	words        int
	told         map[string]bool
	gone         bool // whether the shell has reached exit
	left         bool // whether a function has reached return
	jump         jump // whether a loop has reached continue or break
	inside       bool // of a function
	looked       bool // a test checks for a file
}

// Environment is the environment of a script when it starts.
type Environment struct {
	Variables []slurm.Variable
	Nodes     []string
	Args      []string
	Read      ReadFile // files next to the script; none are read without

	// Command is called with every simple command before it is executed. It reports whether it supports the
	// command, which then counts as run. Sets is called with variables. Files in tests exist if There is set.
	Command func(Command) bool
	Sets    func(name, value string, at slurm.Place)
	There   bool
}

// Command is a simple command, its words as it gets them, and the file that it writes to; "": none.
type Command struct {
	Words []Arg
	To    string
}

// Walk interprets a script and finds the programs that it starts.
func (s *Script) Walk(e Environment) *Found {
	sh := &shell{file: s.Name, vars: map[string]expand.Variable{}, params: e.Args,
		funcs: map[string]*syntax.Stmt{}, files: map[string]string{}, read: e.Read, nodes: e.Nodes,
		hear: e.Command, sets: e.Sets, there: e.There,
		found: &Found{texts: map[string]string{s.Name: s.text}}, steps: new(int), calls: new(int),
		told: map[string]bool{}}
	sh.found.written, sh.found.read = sh.files, e.Read
	if len(e.Nodes) > 0 {
		sh.first = e.Nodes[0]
	}
	for _, v := range e.Variables {
		sh.vars[v.Name] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: v.Value}
	}
	sh.vars["PWD"] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: "."}
	if sh.first != "" {
		sh.vars["HOSTNAME"] = expand.Variable{Set: true, Kind: expand.String, Str: sh.first}
	}
	sh.all(s.file.Stmts)
	sh.found.Exports = sh.exports()
	if *sh.steps > maxSteps {
		sh.found.Notes = append(sh.found.Notes, slurm.Note{At: slurm.Place{File: s.Name},
			Text: fmt.Sprintf("more than %d commands: the rest is not read", maxSteps)})
	}
	return sh.found
}

// note adds a note on a place of the script; equal notes are added once.
func (sh *shell) note(p syntax.Pos, format string, args ...any) {
	n := slurm.Note{At: at(sh.file, p), Text: fmt.Sprintf(format, args...)}
	key := fmt.Sprint(n)
	if !sh.told[key] && len(sh.found.Notes) < maxNotes {
		sh.told[key] = true
		sh.found.Notes = append(sh.found.Notes, n)
	}
}

// all runs commands one after the other.
func (sh *shell) all(list []*syntax.Stmt) (last answer) {
	last = yes
	for _, s := range list {
		if sh.stopped() {
			return last
		}
		last = sh.stmt(s)
	}
	return last
}

// stmt runs a command with its redirections.
func (sh *shell) stmt(s *syntax.Stmt) answer {
	if *sh.steps++; *sh.steps > maxSteps || sh.words > maxWords {
		return maybe
	}
	a := sh.command(s)
	if s.Negated {
		switch a {
		case yes:
			return no
		case no:
			return yes
		}
	}
	return a
}

// command runs the parts of a command.
func (sh *shell) command(s *syntax.Stmt) answer {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return sh.call(c, s)
	case *syntax.DeclClause:
		return sh.declare(c)
	case *syntax.BinaryCmd:
		return sh.binary(c)
	case *syntax.Block:
		return sh.all(c.Stmts)
	case *syntax.Subshell:
		return sh.child().all(c.Stmts)
	case *syntax.IfClause:
		return sh.branch(c)
	case *syntax.ForClause:
		return sh.loop(c)
	case *syntax.WhileClause:
		return sh.while(c)
	case *syntax.CaseClause:
		return sh.choose(c)
	case *syntax.FuncDecl:
		sh.funcs[c.Name.Value] = c.Body
		return yes
	case *syntax.TestClause:
		return sh.test(c.X)
	case *syntax.ArithmCmd:
		return sh.arithmetic(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			sh.arithmetic(x)
		}
		return maybe
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return sh.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		return sh.stmt(c.Stmt)
	}
	return maybe
}

// child returns a shell with a copy of all state, for subshells and started programs.
func (sh *shell) child() *shell {
	c := *sh
	c.vars = map[string]expand.Variable{}
	for k, v := range sh.vars {
		c.vars[k] = v
	}
	c.funcs = map[string]*syntax.Stmt{}
	for k, v := range sh.funcs {
		c.funcs[k] = v
	}
	return &c
}

// assign sets a variable.
func (sh *shell) assign(name, value string) {
	v := sh.vars[name]
	v.Set, v.Kind, v.Str, v.List = true, expand.String, value, nil
	if len(value) > maxText {
		v.Str = unknown(name)
	}
	sh.vars[name] = v
}

// set makes an assignment: NAME=, NAME+=, NAME=(...), NAME[i]=.
func (sh *shell) set(a *syntax.Assign) {
	if a.Name == nil || a.Naked && a.Array == nil {
		return
	}
	name := a.Name.Value
	v := sh.vars[name]
	switch {
	case a.Array != nil:
		sh.array(a, v)
	case a.Index != nil:
		sh.element(a, v)
	case a.Append:
		s := sh.literal(a.Value)
		if v.Kind == expand.Indexed && len(v.List) > 0 {
			v.List = append([]string(nil), v.List...)
			v.List[0] += s
			sh.vars[name] = v
			return
		}
		sh.assign(name, v.Str+s)
	default:
		sh.assign(name, sh.literal(a.Value))
		if sh.sets != nil {
			sh.sets(name, sh.vars[name].Str, sh.placed([]Arg{{At: at(sh.file, a.Pos())}})[0].At)
		}
	}
}

// declare runs export, declare, local, readonly.
func (sh *shell) declare(c *syntax.DeclClause) answer {
	for _, a := range c.Args {
		if a.Name == nil {
			continue
		}
		if c.Variant.Value != "export" && hasFlag(c, "A") {
			sh.vars[a.Name.Value] = expand.Variable{Set: true, Kind: expand.Associative, Map: map[string]string{}}
		}
		sh.set(a)
		if c.Variant.Value == "export" || c.Variant.Value == "declare" && hasFlag(c, "x") {
			v := sh.vars[a.Name.Value]
			v.Exported = true
			if v.Set || !a.Naked {
				sh.vars[a.Name.Value] = v
			}
		}
	}
	return yes
}

// hasFlag reports whether a declaration has a letter among its options.
func hasFlag(c *syntax.DeclClause, letter string) bool {
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") &&
			strings.Contains(a.Value.Lit(), letter) {
			return true
		}
	}
	return false
}

// exports returns the inherited variables that concern the communication of processes.
func (sh *shell) exports() (all []slurm.Variable) {
	for name, v := range sh.vars {
		if v.Exported && v.Kind == expand.String && telling(name) {
			all = append(all, slurm.Variable{Name: name, Value: v.Str})
		}
	}
	sortVariables(all)
	return all
}
