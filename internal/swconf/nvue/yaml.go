package nvue

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"
)

// maxDepth is the maximum depth of a text: NVUE's own have fewer than twenty levels.
const maxDepth = 64

// level is a key with keys below it.
type level struct {
	indent int
	words  []tree.Word
	open   bool // without contents so far
}

// yamlReader reads the output of nv config show and startup.yaml: mappings and lists by indentation, without
// anchors and tags. Of the forms in braces it reads only empty ones and lists of plain values.
type yamlReader struct {
	p     *parser
	stack []level
	total int
	deep  int // deeper lines belong to the previous value
	whole bool
}

func (p *parser) yaml(lines []string) error {
	r := &yamlReader{p: p, deep: -1}
	for i, text := range lines {
		if err := r.line(strings.TrimRight(text, " \t\r"), i+1); err != nil {
			return err
		}
	}
	if err := r.close(-1); err != nil {
		return err
	}
	p.tell(r.total)
	return nil
}

func (r *yamlReader) bad(num, col int, format string, args ...any) error {
	return &cli.SyntaxError{File: r.p.c.File, Line: num, Col: col, Msg: fmt.Sprintf(format, args...)}
}

var yamlKey = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|` +
	`[^\s"'\[\]{}#&*!|>%@` + "`" + `][^#]*?)\s*:(\s+|$)`)

func (r *yamlReader) line(text string, num int) error {
	body := strings.TrimLeft(text, " ")
	indent := len(text) - len(body)
	if body == "" || body[0] == '#' || body == "---" || body == "..." {
		return nil
	}
	r.total++
	if body[0] == '\t' {
		return r.bad(num, indent+1, "a tab indents the line; YAML takes blanks")
	}
	key := yamlKey.FindStringSubmatch(body)
	if r.deep >= 0 && indent > r.deep && (r.whole || key == nil && !strings.HasPrefix(body, "- ")) {
		return nil // the value continues
	}
	r.deep = -1
	for body == "-" || strings.HasPrefix(body, "- ") {
		if err := r.close(indent + 1); err != nil {
			return err
		}
		rest := strings.TrimLeft(body[1:], " ")
		indent += len(body) - len(rest)
		if body = rest; body == "" {
			return nil
		}
		if key = yamlKey.FindStringSubmatch(body); key == nil {
			return r.value(body, indent, num, indent-1)
		}
	}
	if key == nil {
		return r.bad(num, indent+1, "%q is neither a key with a colon nor a value of a list", field.Clip(body))
	}
	if err := r.close(indent); err != nil {
		return err
	}
	word := tree.Word{Text: unquote(key[1]), Line: num, Col: indent + 1}
	words := append(r.path(), word)
	if len(words) > maxDepth {
		return r.bad(num, indent+1, "nests deeper than %d", maxDepth)
	}
	rest := body[len(key[0]):]
	r.stack = append(r.stack, level{indent, words, true})
	if rest == "" {
		return nil
	}
	return r.value(rest, indent+len(key[0]), num, indent)
}

// path returns the path of the innermost key.
func (r *yamlReader) path() []tree.Word {
	if len(r.stack) == 0 {
		return nil
	}
	top := &r.stack[len(r.stack)-1]
	top.open = false
	return append(make([]tree.Word, 0, len(top.words)+2), top.words...)
}

// value parses the text after a key or in a list: it ends a path. Deeper lines than below continue it.
func (r *yamlReader) value(s string, indent, num, below int) error {
	path := r.path()
	if f := quoted.FindString(s); f != "" { // a quoted value may have a comment after it
		s = f[:1+strings.IndexByte(f[1:], f[0])+1]
	}
	switch {
	case s == "{}" || s == "[]" || s == "null" || s == "~":
		return r.p.take(path)
	case s[0] == '|' || s[0] == '>':
		r.deep, r.whole = below, true
		return r.p.take(append(path, tree.Word{Text: "", Line: num, Col: indent + 1}))
	case s[0] == '[' && strings.HasSuffix(s, "]"):
		for _, v := range strings.Split(s[1:len(s)-1], ",") {
			w := tree.Word{Text: unquote(strings.TrimSpace(v)), Line: num, Col: indent + 1}
			if err := r.p.take(append(path[:len(path):len(path)], w)); err != nil {
				return err
			}
		}
		return nil
	case strings.IndexByte("{[&*!%@`", s[0]) >= 0:
		return r.bad(num, indent+1, "%s: anchors, tags and mappings in braces are not read; write one key a line", field.Clip(s))
	}
	r.deep, r.whole = below, s[0] == '"' && !strings.HasSuffix(s[1:], `"`) ||
		s[0] == '\'' && !strings.HasSuffix(s[1:], "'")
	if i := strings.Index(s, " #"); i > 0 && s[0] != '"' && s[0] != '\'' {
		s = strings.TrimRight(s[:i], " ")
	}
	return r.p.take(append(path, tree.Word{Text: unquote(s), Line: num, Col: indent + 1}))
}

// close ends the keys at an indentation or deeper. A key with nothing below it is a path of its own.
func (r *yamlReader) close(indent int) error {
	for len(r.stack) > 0 && r.stack[len(r.stack)-1].indent >= max(indent, 0) {
		top := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		if top.open {
			if err := r.p.take(top.words); err != nil {
				return err
			}
		}
	}
	return nil
}

var quoted = regexp.MustCompile(`^("[^"]*"|'[^']*')\s+#.*$`)

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	return s
}

// take stores a path of the YAML form: its first word is set or unset.
func (p *parser) take(path []tree.Word) error {
	if len(path) == 0 {
		return nil
	}
	switch path[0].Text {
	case "header":
		p.known = append(p.known, path)
		return nil
	case "unset":
		return p.unset(path[1:])
	case "set":
		path = path[1:]
	}
	if len(path) == 0 {
		return nil
	}
	return p.set(path)
}
