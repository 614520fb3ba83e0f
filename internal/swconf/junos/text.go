package junos

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"
)

// token is a word, a string, or one of the signs of the hierarchy.
type token struct {
	text      string
	line, col int
	sign      bool
	first     bool // of its line
	quoted    bool
}

var (
	// banner matches lines that Junos prints around typed text: {master:0} above a prompt.
	banner = regexp.MustCompile(`^\{(master|backup|linecard|primary|secondary|hold)(:[\w-]+)?\}`)
	prompt = regexp.MustCompile(`^[\w.-]+@[\w.-]+[>#%]$`)
	// escapes are the escaped quotes in a string.
	escapes = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// scan splits a configuration into tokens; comments are omitted.
func scan(file, text string) (out []token, lines int, err error) {
	line, start, last := 1, 0, 0
	cut := func(i int, what string) error {
		return &cli.SyntaxError{File: file, Line: line, Col: i - start + 1,
			Msg: "the " + what + " never ends; is the file truncated?"}
	}
	add := func(i int, t string, sign, quoted bool) {
		first := line != last
		if first {
			last = line
			lines++
		}
		out = append(out, token{t, line, i - start + 1, sign, first, quoted})
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n':
			line++
			i++
			start = i
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return nil, 0, cut(i, "comment")
			}
			body := text[i : i+2+end]
			if n := strings.Count(body, "\n"); n > 0 {
				line += n
				start = i + strings.LastIndexByte(body, '\n') + 1
			}
			i += end + 4
		case c == '#' || c == '!' && line != last:
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '{' && line != last && banner.MatchString(text[i:min(len(text), i+40)]):
			i += len(banner.FindString(text[i:min(len(text), i+40)]))
		case strings.IndexByte("{};[]", c) >= 0:
			add(i, string(c), true, false)
			i++
		case c == '"':
			j := i + 1
			for j < len(text) && text[j] != '"' {
				if text[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(text) {
				return nil, 0, cut(i, "string")
			}
			add(i, escapes.Replace(text[i+1:j]), false, true)
			if n := strings.Count(text[i:j], "\n"); n > 0 {
				line += n
				start = i + strings.LastIndexByte(text[i:j], '\n') + 1
			}
			i = j + 1
		default:
			j := i
			for j < len(text) && strings.IndexByte(" \t\r\n{};\"", text[j]) < 0 {
				if text[j] == ']' && strings.IndexByte(text[i:j], '[') < 0 {
					break // ends a list; et-0/0/[0-3] contains its own
				}
				j++
			}
			add(i, text[i:j], false, false)
			i = j
		}
	}
	return out, lines, nil
}

// maxDepth bounds the levels of a hierarchy.
const maxDepth = 64

func (p *parser) wrong(t token, format string, args ...any) error {
	return &cli.SyntaxError{File: p.c.File, Line: t.line, Col: t.col, Msg: fmt.Sprintf(format, args...)}
}

// mark is the prefix of a statement: inactive: or delete:.
type mark uint8

const (
	plain mark = iota
	inactive
	deleted
)

// reader parses a configuration: the hierarchy in braces, commands, and prompts with typed commands.
type reader struct {
	p      *parser
	base   []tree.Word // level of the following lines, from [edit ...] or show
	path   []tree.Word
	open   []int // length of the path above each block
	words  []tree.Word
	listed bool // a list was among the words
	mark   mark
	braces bool // there are some
}

// read stores the statements of a configuration.
func (p *parser) read(tokens []token) error {
	r := &reader{p: p}
	for _, t := range tokens {
		r.braces = r.braces || t.sign && (t.text == "{" || t.text == ";")
	}
	for i := 0; i < len(tokens); {
		n, err := r.next(tokens[i:])
		if err != nil {
			return err
		}
		i += n
	}
	if len(r.open) > 0 || len(r.words) > 0 {
		return p.wrong(tokens[len(tokens)-1], "the hierarchy ends in the middle; is the file truncated?")
	}
	return nil
}

// next consumes one token, or a line with a command, and returns the number of tokens.
func (r *reader) next(tokens []token) (int, error) {
	t := tokens[0]
	if t.first && len(r.open) == 0 && len(r.words) == 0 && !t.quoted {
		n := 1
		for n < len(tokens) && !tokens[n].first {
			n++
		}
		if done, err := r.line(tokens[:n], n == len(tokens)); done || err != nil {
			return n, err
		}
	}
	if t.sign {
		return r.sign(tokens)
	}
	switch {
	case t.quoted:
		r.words = append(r.words, word(t))
	case t.text == "inactive:":
		r.mark = inactive
	case t.text == "delete:":
		r.mark = deleted
	case t.text == "replace:" || t.text == "protect:" || t.text == "active:":
	default:
		r.words = append(r.words, word(t))
	}
	return 1, nil
}

func word(t token) tree.Word { return tree.Word{Text: t.text, Line: t.line, Col: t.col} }

// sign follows the hierarchy.
func (r *reader) sign(tokens []token) (int, error) {
	t, p := tokens[0], r.p
	switch t.text {
	case "[":
		n, err := r.list(tokens)
		return n, err
	case "]":
		return 0, p.wrong(t, "%q ends no list", "]")
	case "{":
		if len(r.words) == 0 || len(r.open) >= maxDepth {
			return 0, p.wrong(t, "a block without a name, or more than %d levels", maxDepth)
		}
		if len(r.path) == 0 {
			r.path = append([]tree.Word(nil), r.base...)
		}
		r.open = append(r.open, len(r.path))
		r.path = append(r.path[:len(r.path):len(r.path)], r.words...)
		r.marked(r.path)
	case "}":
		if len(r.words) > 0 { // the last statement of a block has no semicolon
			p.odd = append(p.odd, strange{r.words[0], "has no semicolon"})
			r.file()
		}
		if len(r.open) == 0 {
			return 0, p.wrong(t, "%q ends nothing", "}")
		}
		r.path = r.path[:r.open[len(r.open)-1]]
		r.open = r.open[:len(r.open)-1]
		if len(r.open) == 0 {
			r.path = nil
		}
	case ";":
		r.file()
	}
	r.words, r.listed, r.mark = nil, false, plain
	return 1, nil
}

// marked records an inactive or deleted path.
func (r *reader) marked(at []tree.Word) {
	at = append([]tree.Word(nil), at...)
	switch r.mark {
	case inactive:
		r.p.off = append(r.p.off, at)
	case deleted:
		r.p.t.Delete(at)
	}
}

// file stores the current statement.
func (r *reader) file() {
	if len(r.words) == 0 || r.listed && len(r.words) == 1 {
		return
	}
	at := r.path
	if len(r.open) == 0 {
		at = r.base
	}
	whole := append(append([]tree.Word(nil), at...), r.words...)
	r.marked(whole)
	if r.mark != deleted && !r.listed {
		r.p.t.Set(whole)
	}
}

// list stores a statement for each item of a list; words after the list follow at the same level.
func (r *reader) list(tokens []token) (int, error) {
	p, at := r.p, r.path
	if len(r.open) == 0 {
		at = r.base
	}
	if len(r.words) == 0 {
		return 0, p.wrong(tokens[0], "a list without a name")
	}
	whole := append(append([]tree.Word(nil), at...), r.words...)
	for i, t := range tokens[1:] {
		switch {
		case !t.sign:
			one := append(whole[:len(whole):len(whole)], word(t))
			r.marked(one)
			if r.mark != deleted {
				p.t.Set(one)
			}
		case t.text == "]":
			r.words, r.listed = r.words[:len(r.words)-1], true
			return i + 2, nil
		default:
			return 0, p.wrong(t, "%q within a list; is its end missing?", t.text)
		}
	}
	return 0, p.wrong(tokens[0], "the list never ends; is the file truncated?")
}
