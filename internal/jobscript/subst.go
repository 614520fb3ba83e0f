package jobscript

import (
	"io"
	"path"
	"strconv"
	"strings"

	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/syntax"
)

// substitute expands $(...): to its known output, or to its name.
func (sh *shell) substitute(w io.Writer, c *syntax.CmdSubst) error {
	s, ok := sh.output(c)
	if !ok {
		s = unknown("(" + s + ")")
	}
	_, err := io.WriteString(w, s)
	return err
}

// output returns the output of commands that need no other program, else their source.
func (sh *shell) output(c *syntax.CmdSubst) (s string, known bool) {
	name := sh.source(c)
	if *sh.calls > maxCalls || len(c.Stmts) == 0 {
		return name, false
	}
	*sh.calls++
	defer func() { *sh.calls-- }()
	for _, stmt := range c.Stmts {
		more, ok := sh.child().prints(stmt, "")
		if !ok {
			return name, false
		}
		s += more
	}
	if len(s) > maxText {
		return name, false
	}
	return strings.TrimRight(s, "\n"), true
}

// source returns the source of commands, shortened.
func (sh *shell) source(c *syntax.CmdSubst) string {
	text := sh.found.texts[sh.file]
	from, to := int(c.Pos().Offset()), int(c.End().Offset())
	if from < 0 || to > len(text) || from >= to {
		return "..."
	}
	s := strings.Join(strings.Fields(strings.Trim(text[from:to], "$()` ")), " ")
	if r := []rune(s); len(r) > 40 {
		s = string(r[:37]) + "..."
	}
	return s
}

// prints returns the output of a command that reads a text.
func (sh *shell) prints(s *syntax.Stmt, in string) (out string, ok bool) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			return "", false
		}
		if in, ok = sh.prints(c.X, in); !ok {
			return "", false
		}
		return sh.prints(c.Y, in)
	case *syntax.CallExpr:
		var words []string
		for _, a := range sh.fields(c.Args) {
			words = append(words, a.Text)
		}
		for _, r := range s.Redirs {
			if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
				in = sh.document(r.Hdoc)
			} else if r.Op == syntax.WordHdoc {
				in = sh.literal(r.Word) + "\n"
			}
		}
		if len(words) == 0 {
			return "", true
		}
		return sh.answer(words, in)
	}
	return "", false
}

// answer returns the output of a command, if it is known without running it.
func (sh *shell) answer(words []string, in string) (string, bool) {
	args := words[1:]
	switch path.Base(words[0]) {
	case "scontrol":
		if len(args) >= 2 && args[0] == "show" && strings.HasPrefix(args[1], "hostname") {
			if len(args) == 2 {
				return lined(sh.nodes), len(sh.nodes) > 0
			}
			names, err := slurm.Hosts(args[2])
			return lined(names), err == nil && !vague(args[2])
		}
	case "hostname", "uname":
		if len(args) == 0 || strings.HasPrefix(args[0], "-") && words[0] == "hostname" {
			return sh.host() + "\n", sh.host() != ""
		}
	case "srun": // the name of one node, as in examples that query an address
		r := &slurm.Request{}
		var list []slurm.Word
		for _, a := range args {
			list = append(list, slurm.Word{Text: a})
		}
		rest, err := r.Options(list, true)
		if err == nil && len(rest) > 0 && rest[0].Text == "hostname" && len(r.NodeList) == 1 {
			return r.NodeList[0] + "\n", true
		}
		if err == nil && len(rest) > 0 && rest[0].Text == "hostname" {
			return sh.host() + "\n", sh.host() != ""
		}
	case "pwd":
		return ".\n", true
	case "basename":
		if len(args) > 0 && !vague(args[0]) {
			return path.Base(args[0]) + "\n", true
		}
	case "dirname":
		if len(args) > 0 && !vague(args[0]) {
			return path.Dir(args[0]) + "\n", true
		}
	case "echo", "printf":
		return strings.Join(args, " ") + "\n", words[0] == "echo" || len(args) == 1
	case "seq":
		return sequence(args)
	case "nproc":
		v := sh.Get("SLURM_CPUS_ON_NODE")
		return v.Str + "\n", v.IsSet()
	case "nvidia-smi":
		n, err := strconv.Atoi(sh.Get("SLURM_GPUS_ON_NODE").Str)
		if err == nil && n < 1024 {
			return strings.Repeat("GPU\n", n), true
		}
	case "cat":
		if len(args) == 1 {
			s, ok := sh.files[args[0]]
			return s, ok
		}
		return in, len(args) == 0
	}
	return filter(words, in)
}

// sequence returns the output of seq, of up to a thousand numbers.
func sequence(args []string) (string, bool) {
	n := []int{1, 1, 0}
	for i, a := range args {
		x, err := strconv.Atoi(a)
		if err != nil || len(args) > 3 || x > 1<<20 || x < -1<<20 {
			return "", false
		}
		switch {
		case i == len(args)-1:
			n[2] = x
		default:
			n[i] = x
		}
	}
	if len(args) == 0 || n[1] < 1 || (n[2]-n[0])/n[1] >= 1000 {
		return "", false
	}
	var out []string
	for i := n[0]; i <= n[2]; i += n[1] {
		out = append(out, strconv.Itoa(i))
	}
	return lined(out), true
}

// host returns the host that this shell runs on.
func (sh *shell) host() string {
	if v := sh.Get("SLURMD_NODENAME"); v.IsSet() {
		return v.Str
	}
	return sh.first
}

// lined is a list, a line each.
func lined(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}

// filter returns the output of head, tail, wc, tr or sort for a text.
func filter(words []string, in string) (string, bool) {
	rows := strings.Split(strings.TrimSuffix(in, "\n"), "\n")
	if in == "" {
		rows = nil
	}
	args := words[1:]
	count := func(unless int) (int, bool) {
		switch s := strings.Join(args, ""); {
		case s == "":
			return unless, true
		case strings.HasPrefix(s, "-n"):
			n, err := strconv.Atoi(strings.TrimPrefix(s[2:], "="))
			return n, err == nil && n >= 0
		default:
			n, err := strconv.Atoi(strings.TrimPrefix(s, "-"))
			return n, err == nil && n >= 0
		}
	}
	switch words[0] {
	case "head":
		n, ok := count(10)
		return lined(rows[:min(n, len(rows))]), ok
	case "tail":
		n, ok := count(10)
		return lined(rows[len(rows)-min(n, len(rows)):]), ok
	case "wc":
		switch strings.Join(args, " ") {
		case "-l":
			return strconv.Itoa(len(rows)) + "\n", true
		case "-w":
			return strconv.Itoa(len(strings.Fields(in))) + "\n", true
		}
	case "sort", "uniq":
		return in, len(args) == 0 && len(rows) < 2
	case "tr":
		if len(args) == 2 && args[0] == "-d" && len(args[1]) == 1 {
			return strings.ReplaceAll(in, args[1], ""), true
		}
		if len(args) == 2 && (args[0] == `\n` || args[0] == " " || args[0] == ",") && len(args[1]) <= 2 {
			un := strings.NewReplacer(`\n`, "\n")
			return strings.ReplaceAll(in, un.Replace(args[0]), un.Replace(args[1])), true
		}
	case "sed":
		if len(args) == 1 {
			return replaced(args[0], in)
		}
	case "paste":
		if s := strings.Join(args, ""); s == "-sd," || s == "-s-d," {
			return strings.Join(rows, ",") + "\n", true
		}
	}
	return "", false
}

// replaced applies sed's s/from/to/g to a text, if from consists of letters.
func replaced(program, in string) (string, bool) {
	if len(program) < 2 || program[0] != 's' {
		return "", false
	}
	parts := strings.Split(program[1:], program[1:2])
	if len(parts) != 4 || parts[3] != "g" || parts[1] == "" ||
		strings.ContainsAny(parts[1], `\.*[]^$+?(){}|`) || strings.ContainsAny(parts[2], `\&`) {
		return "", false
	}
	return strings.ReplaceAll(in, parts[1], parts[2]), true
}
