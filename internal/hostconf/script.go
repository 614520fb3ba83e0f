package hostconf

import (
	"errors"
	"fmt"
	"strings"

	"railyard/internal/field"
	"railyard/internal/jobscript"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// words are a command's, with their places.
type words struct {
	all []jobscript.Arg
	at  swconf.Place
}

// text returns a word by its number; "" after the last.
func (w words) text(i int) string {
	if i >= len(w.all) {
		return ""
	}
	return w.all[i].Text
}

// String is the command as people would type it.
func (w words) String() string {
	var s []string
	for _, a := range w.all {
		s = append(s, slurm.Open(a.Text))
	}
	return strings.Join(s, " ")
}

// from returns the words after the first n.
func (w words) from(n int) words { return words{w.all[min(n, len(w.all)):], w.at} }

func vague(s string) bool { return strings.ContainsRune(s, slurm.Unknown) }

// script interprets a script.
func (r *reader) script(text string) error {
	s, err := jobscript.ReadShell(r.file, []byte(text))
	if err != nil {
		return syntax(r.file, err)
	}
	found := s.Walk(jobscript.Environment{Command: r.command, Sets: r.sets, There: true})
	for _, n := range found.Notes {
		if len(r.h.Notes) < maxTold {
			r.assume("%s: %s", where(n.At), n.Text)
		}
	}
	return nil
}

// where returns a position in words; notes about a whole file have no line.
func where(p slurm.Place) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// syntax is an error of the shell's reader with its place.
func syntax(file string, err error) error {
	var f *field.Error
	if errors.As(err, &f) && f.Line > 0 {
		return &cli.SyntaxError{File: file, Line: f.Line, Col: f.Col, Msg: f.Text()}
	}
	return &cli.SyntaxError{File: file, Msg: err.Error()}
}

func place(p slurm.Place) swconf.Place { return swconf.Place{File: p.File, Line: p.Line, Col: p.Col} }

// tools are the supported commands; each reports whether the rest of the line was recognized, too.
var tools map[string]func(*reader, words)

func init() {
	tools = map[string]func(*reader, words){
		"mlnx_qos": (*reader).mlnxQoS, "cma_roce_tos": (*reader).cmaToS, "cma_roce_mode": (*reader).cmaMode,
		"mlxconfig": (*reader).mlxconfig, "mstconfig": (*reader).mlxconfig, "mlxreg": (*reader).mlxreg,
		"dcb": (*reader).dcb, "lldptool": (*reader).lldptool,
		"ip": (*reader).ip, "ifconfig": (*reader).ifconfig, "ethtool": (*reader).ethtool,
		"nicctl": (*reader).nicctl, "bnxt_setupcc.sh": (*reader).setupCC, "bnxtqos": (*reader).bnxtQoS,
		"niccli": (*reader).niccli, "hostname": (*reader).hostname, "hostnamectl": (*reader).hostname,
	}
}

// before are commands that start another one, with the number of words between.
func strip(w words) words {
	for len(w.all) > 0 {
		switch name := base(w.text(0)); {
		case name == "sudo":
			w = w.from(1)
			for strings.HasPrefix(w.text(0), "-") {
				takes := w.text(0) == "-u" || w.text(0) == "-g"
				w = w.from(1)
				if takes {
					w = w.from(1)
				}
			}
		case name == "timeout" || name == "chroot":
			w = w.from(2)
		case name == "nohup" || name == "command" || name == "exec" || name == "time":
			w = w.from(1)
		case name == "env":
			for w = w.from(1); strings.Contains(w.text(0), "="); {
				w = w.from(1)
			}
		case name == "ip" && w.text(1) == "netns" && w.text(2) == "exec":
			w = w.from(4)
		default:
			return w
		}
	}
	return w
}

// command processes a command of a script.
func (r *reader) command(c jobscript.Command) bool {
	w := words{all: c.Words, at: place(c.Words[0].At)}
	r.environment(w)
	w = strip(w)
	if len(w.all) == 0 {
		return false
	}
	name := base(w.text(0))
	switch name {
	case "cd":
		r.dir = r.absolute(w.text(1))
		return false
	case "echo", "printf":
		r.echo = printedBy(w)
		if sysPath(r.absolute(c.To)) {
			r.write(r.absolute(c.To), r.echo, w.at)
			return true
		}
		return false
	case "cat":
		r.out.answers = nil
		for _, a := range w.all[1:] {
			if p := r.absolute(a.Text); sysPath(p) {
				r.out.answers = append(r.out.answers, p)
			}
		}
		return false
	case "tee":
		for _, a := range w.all[1:] {
			if p := r.absolute(a.Text); sysPath(p) {
				r.write(p, r.echo, w.at)
				return true
			}
		}
		return false
	}
	f, ok := tools[name]
	if ok {
		f(r, w.from(1))
	}
	r.mark(w.at, passed)
	return ok
}

// printedBy returns the output of echo or printf for words.
func printedBy(w words) string {
	w = w.from(1)
	for strings.HasPrefix(w.text(0), "-") && strings.Trim(w.text(0), "-neE") == "" {
		w = w.from(1)
	}
	var s []string
	for _, a := range w.all {
		s = append(s, a.Text)
	}
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(s, " "), `\n`, ""))
}

// absolute returns a path relative to the script's working directory.
func (r *reader) absolute(p string) string {
	if p == "" || strings.HasPrefix(p, "/") || r.dir == "" {
		return p
	}
	return strings.TrimSuffix(r.dir, "/") + "/" + p
}

// options parses the options of a command, --name value, --name=value, -n value, and the other words; flags have no
// value.
type option struct {
	name, value string
	at          swconf.Place
	text        string
}

func options(w words, flags string) (out []option) {
	for i := 0; i < len(w.all); i++ {
		o := option{text: w.text(i), at: place(w.all[i].At)}
		name, value, set := strings.Cut(o.text, "=")
		switch {
		case !strings.HasPrefix(name, "-"):
			out = append(out, o)
			continue
		case set:
			o.name, o.value = strings.TrimLeft(name, "-"), value
		case strings.Contains(" "+flags+" ", " "+strings.TrimLeft(name, "-")+" "):
			o.name = strings.TrimLeft(name, "-")
		default:
			o.name = strings.TrimLeft(name, "-")
			i++
			o.value = w.text(i)
		}
		out = append(out, o)
	}
	return out
}
