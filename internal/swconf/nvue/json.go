package nvue

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"railyard/internal/swconf/cli"
	"railyard/internal/swconf/tree"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonForm is the output of nv config show -o json and of NVUE's REST interface: the tree of the YAML form, in a list
// with a header or without either.
var jsonForm = regexp.MustCompile(`^(?:\[\s*)?\{\s*(?:"(?:header|set|unset)"\s*:\s*\{|"(?:` + branches +
	`)"\s*:\s*\{\s*"[a-z0-9<])`)

// branches are the roots of NVUE's tree, in lower case unlike all of SONiC's tables.
const branches = `interface|router|vrf|qos|system|bridge|nve|evpn|mlag|acl|service|platform|maintenance`

// LooksJSON reports whether text looks like NVUE's tree in JSON.
func LooksJSON(text string) bool { return jsonForm.MatchString(strings.TrimSpace(text)) }

// jsonReader stores each path of a JSON text, with the position of each of its words.
type jsonReader struct {
	p     *parser
	text  []byte
	dec   *jsontext.Decoder
	seen  int // offset up to which lines were counted
	line  int
	start int // offset of that line
	total int
}

func (p *parser) json(text []byte) error {
	r := &jsonReader{p: p, text: text, line: 1}
	r.dec = jsontext.NewDecoder(strings.NewReader(string(text)), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	if err := r.value(nil); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return r.fail(r.dec.InputOffset(), "unexpected text after the JSON document")
	}
	p.tell(r.total)
	return nil
}

// place returns the position of an offset; offsets must not decrease.
func (r *jsonReader) place(offset int64) (line, col int) {
	for ; r.seen < int(offset) && r.seen < len(r.text); r.seen++ {
		if r.text[r.seen] == '\n' {
			r.line, r.start = r.line+1, r.seen+1
		}
	}
	return r.line, int(offset) - r.start + 1
}

func (r *jsonReader) fail(offset int64, format string, args ...any) error {
	line, col := r.place(offset)
	return &cli.SyntaxError{File: r.p.c.File, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

// bad returns the decoder's error about invalid JSON.
func (r *jsonReader) bad(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.fail(int64(len(strings.TrimRight(string(r.text), " \t\r\n"))),
			"the JSON ends in the middle: is the file truncated?")
	}
	if se := (*jsontext.SyntacticError)(nil); errors.As(err, &se) {
		return r.fail(se.ByteOffset, "is not JSON: %s", strings.TrimPrefix(se.Err.Error(), "jsontext: "))
	}
	return r.fail(r.dec.InputOffset(), "is not JSON: %v", err)
}

// word returns the last token as a word with its position.
func (r *jsonReader) word(t jsontext.Token) tree.Word {
	s := t.String()
	size := int64(len(s))
	if t.Kind() == '"' {
		size += 2
	}
	line, col := r.place(max(r.dec.InputOffset()-size, int64(r.seen)))
	return tree.Word{Text: s, Line: line, Col: col}
}

// value reads one value below a path. Objects and lists recurse; empty and plain values end it.
func (r *jsonReader) value(path []tree.Word) error {
	if len(path) > maxDepth {
		return r.fail(r.dec.InputOffset(), "nests deeper than %d", maxDepth)
	}
	t, err := r.dec.ReadToken()
	if err != nil {
		return r.bad(err)
	}
	kind := t.Kind()
	if kind != '{' && kind != '[' {
		w := r.word(t)
		switch {
		case kind == 'n':
			return r.p.take(path)
		case len(path) == 0:
			return r.fail(0, "is not an object of NVUE's tree")
		case kind == 't':
			w.Text = "on"
		case kind == 'f':
			w.Text = "off"
		}
		return r.p.take(append(path[:len(path):len(path)], w))
	}
	empty := true
	for {
		switch k := r.dec.PeekKind(); k {
		case '}', ']':
			if _, err := r.dec.ReadToken(); err != nil {
				return r.bad(err)
			}
			if empty {
				return r.p.take(path)
			}
			return nil
		default:
			empty = false
			below := path
			if kind == '{' {
				key, err := r.dec.ReadToken()
				if err != nil {
					return r.bad(err)
				}
				r.total++
				below = append(path[:len(path):len(path)], r.word(key))
			}
			if err := r.value(below); err != nil {
				return err
			}
		}
	}
}
