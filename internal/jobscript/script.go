package jobscript

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/slurm"

	"mvdan.cc/sh/v3/syntax"
)

// maxScript bounds a script: real ones have a few hundred lines.
const maxScript = 256 << 10

// ReadFile reads a file that a script names, by the name that it has there.
type ReadFile func(name string) ([]byte, error)

// Script is a batch script that has been read.
type Script struct {
	Name  string
	Shell string         // interpreter in its first line, without #!; "": none
	Job   *slurm.Request // request of #SBATCH lines and more options
	Notes []slurm.Note

	text string
	file *syntax.File
}

// at is a place of a script.
func at(file string, p syntax.Pos) slurm.Place {
	return slurm.Place{File: file, Line: int(p.Line()), Col: int(p.Col())}
}

// Read reads a batch script. More are options as on sbatch's command line. They take precedence over the options of
// the script.
func Read(name string, text []byte, more []string) (*Script, error) {
	s, err := read(name, text)
	if err != nil {
		return nil, err
	}
	if s.Shell == "" {
		return nil, slurm.Place{File: name, Line: 1, Col: 1}.Fail("", "sbatch takes scripts whose first line names their interpreter, as #!/bin/bash")
	}
	if i := strings.IndexByte(s.text, '\r'); i >= 0 && i+1 < len(s.text) && s.text[i+1] == '\n' {
		line := 1 + strings.Count(s.text[:i], "\n")
		return nil, slurm.Place{File: name, Line: line, Col: 1}.Fail("", "ends its lines as DOS does (CR LF), and sbatch takes no such script: dos2unix helps")
	}
	s.Job = &slurm.Request{}
	if err := s.directives(); err != nil {
		return nil, err
	}
	var words []slurm.Word
	for _, w := range more {
		words = append(words, slurm.Word{Text: w, At: slurm.Place{File: "--option " + field.Clip(w)}})
	}
	rest, err := s.Job.Options(words, false)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, field.New("--option", "%s is not an option of sbatch's", field.Quote(rest[0].Text))
	}
	if s.Job.Chdir != "" {
		s.Notes = append(s.Notes, slurm.Note{At: s.Job.At["chdir"],
			Text: "files that the script names are read from its folder, not from there"})
	}
	return s, nil
}

// ReadShell reads a script that is not for sbatch: it needs no first line, and #SBATCH lines are ignored.
func ReadShell(name string, text []byte) (*Script, error) { return read(name, text) }

// read parses a script in shell's language.
func read(name string, text []byte) (s *Script, err error) {
	if err := sane(name, text); err != nil {
		return nil, err
	}
	s = &Script{Name: name, text: string(text)}
	first, _, _ := strings.Cut(s.text, "\n")
	if by, ok := strings.CutPrefix(first, "#!"); ok {
		s.Shell = strings.TrimSpace(by)
		base := s.Shell[strings.LastIndexByte(s.Shell, '/')+1:]
		known := slices.ContainsFunc(strings.Fields(base), func(w string) bool {
			return slices.Contains([]string{"sh", "bash", "ksh", "zsh", "dash"}, w)
		})
		if !known {
			return nil, slurm.Place{File: name, Line: 1, Col: 1}.Fail("", "is run by %s; scripts for sh, bash, dash, ksh and zsh are read", field.Quote(s.Shell))
		}
	}
	s.file, err = parse(name, s.text)
	return s, err
}

// sane refuses texts that are not a script before parsing.
func sane(name string, text []byte) error {
	if len(text) > maxScript {
		return slurm.Place{File: name}.Fail("", "is %d bytes long, scripts of up to %d KiB are read",
			len(text),
			maxScript>>10)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 || !utf8.Valid(text) {
		line := 1
		for line = 1; i < 0 && line <= bytes.Count(text, []byte("\n"))+1; line++ {
			if !utf8.Valid(bytes.Split(text, []byte("\n"))[line-1]) {
				break
			}
		}
		if i >= 0 {
			line = 1 + bytes.Count(text[:i], []byte("\n"))
		}
		return slurm.Place{File: name, Line: line, Col: 1}.Fail("", "is not text (UTF-8)")
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return slurm.Place{File: name}.Fail("", "is empty")
	}
	if strings.ContainsRune(string(text), slurm.Unknown) {
		return slurm.Place{File: name}.Fail("", "has characters of Unicode's private area")
	}
	return deep(name, string(text))
}

// maxDepth bounds the nesting of commands.
const maxDepth = 400

// deep refuses texts whose parsing would need an unbounded stack. It counts brackets and opening words, in any
// position.
func deep(name, text string) error {
	for i, depth := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '`', '[', '!':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		case '\n':
			depth = max(0, depth-8) // prose and patterns are no nesting
		}
		if depth > maxDepth {
			return slurm.Place{File: name, Line: 1 + strings.Count(text[:i], "\n"), Col: 1}.Fail("",
				"has more than %d brackets in one another", maxDepth)
		}
	}
	if n := len(opening(text)); n > 20*maxDepth {
		return slurm.Place{File: name}.Fail("", "has %d commands with other commands in them, %d are read", n,
			20*maxDepth)
	}
	return nil
}

// opening are words that start a compound command.
func opening(text string) (all []string) {
	for _, w := range strings.Fields(text) {
		if slices.Contains([]string{"if", "while", "until", "for", "case", "time", "!", "{", "("}, w) {
			all = append(all, w)
		}
	}
	return all
}

// parse parses a text into commands.
func parse(name, text string) (f *syntax.File, err error) {
	defer func() { // the parser is a library; its panics are the input's fault
		if r := recover(); r != nil {
			err = slurm.Place{File: name}.Fail("", "is not a shell script: %v", r)
		}
	}()
	f, err = parsed(name, text)
	var bad syntax.ParseError
	var other syntax.LangError
	switch {
	case errors.As(err, &bad):
		return nil, at(name, bad.Pos).Fail("", "is not a shell script: %s", bad.Text)
	case errors.As(err, &other):
		return nil, at(name, other.Pos).Fail("", "is not a script for bash: %v", other.Feature)
	case err != nil:
		return nil, slurm.Place{File: name}.Fail("", "is not a shell script: %v", err)
	}
	return f, nil
}

// bracket replaces a bracket that begins an element of an array and not an index during parsing, and maxBrackets is
// their maximum number.
const (
	bracket     = '\x01'
	maxBrackets = 256
)

// parsed is parse without its words for errors. In bash an element of an array that begins as an index, and has no
// = after it, is a word as any other: ARGS=(--moe-layer-freq [0]*3+[1]*58). The parser refuses it.
func parsed(name, text string) (f *syntax.File, err error) {
	hidden := []byte(text)
	for n := 0; ; n++ {
		f, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(hidden), name)
		var bad syntax.ParseError
		if n == maxBrackets || !errors.As(err, &bad) || !strings.Contains(bad.Text, "must be followed by `=`") {
			break
		}
		i := int(bad.Pos.Offset())
		if i >= len(hidden) || hidden[i] != '[' {
			break
		}
		hidden[i] = bracket
	}
	if f != nil && !bytes.Equal(hidden, []byte(text)) {
		syntax.Walk(f, func(n syntax.Node) bool {
			if l, ok := n.(*syntax.Lit); ok {
				l.Value = strings.ReplaceAll(l.Value, string(bracket), "[")
			}
			return true
		})
	}
	return f, err
}

// directives reads the #SBATCH lines, which end with the first command (sbatch(1)).
func (s *Script) directives() error {
	late := 0
	for i, line := range strings.Split(s.text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		rest, is := strings.CutPrefix(line, "#SBATCH")
		switch trimmed := strings.TrimSpace(line); {
		case is && late > 0:
			s.Notes = append(s.Notes, slurm.Note{At: slurm.Place{File: s.Name, Line: i + 1, Col: 1},
				Text: fmt.Sprintf("follows the first command (line %d), where sbatch no longer reads #SBATCH", late)})
		case is:
			words, err := split(s.Name, i+1, len("#SBATCH"), rest)
			if err != nil {
				return err
			}
			left, err := s.Job.Options(words, false)
			if err != nil {
				return err
			}
			if len(left) > 0 && (left[0].Text == "hetjob" || left[0].Text == "packjob") {
				return left[0].At.Fail("#SBATCH",
					"%s begins another part of a heterogeneous job, which is not read; accepted: one set of options. Each part can be a script of its own",
					left[0].Text)
			}
			if len(left) > 0 {
				return left[0].At.Fail("#SBATCH", "%s is not an option", field.Quote(left[0].Text))
			}
		case trimmed != "" && trimmed[0] != '#' && late == 0:
			late = i + 1
		}
	}
	return nil
}

// split splits an #SBATCH line into words: quotes, backslashes and a trailing comment are recognized.
func split(file string, n, from int, line string) (all []slurm.Word, err error) {
	var b strings.Builder
	quote, word, start := byte(0), false, 0
	end := func() {
		if word {
			all = append(all, slurm.Word{Text: b.String(), At: slurm.Place{File: file, Line: n, Col: start}})
		}
		b.Reset()
		word = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		if !word {
			start = from + i + 1
		}
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '"' || c == '\'':
			quote, word = c, true
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
			word = true
		case c == ' ' || c == '\t':
			end()
		case c == '#' && !word:
			return all, nil
		default:
			b.WriteByte(c)
			word = true
		}
	}
	if quote != 0 {
		return nil, slurm.Place{File: file, Line: n, Col: start}.Fail("#SBATCH", "a quotation mark has no other half")
	}
	end()
	return all, nil
}
