package sonic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"
)

// node is a JSON value with its place.
type node struct {
	at    swconf.Place
	text  string // of a string, number or boolean
	keys  []string
	inner map[string]*node // of an object
	list  []*node
}

func (n *node) object() bool { return n.inner != nil }

// get returns a member, or nil.
func (n *node) get(key string) *node {
	if n == nil || n.inner == nil {
		return nil
	}
	return n.inner[key]
}

// place is where a member stands, nowhere when there is none.
func (n *node) place(key string) swconf.Place {
	if c := n.get(key); c != nil {
		return c.at
	}
	return swconf.Place{}
}

// str returns a member's text, or "".
func (n *node) str(key string) string {
	if c := n.get(key); c != nil {
		return c.text
	}
	return ""
}

// maxDepth bounds nesting; config_db.json has three levels.
const maxDepth = 16

// reader builds nodes from JSON tokens and knows where each stands.
type reader struct {
	file  string
	text  []byte
	dec   *json.Decoder
	lines []int // offsets of line beginnings
}

func newReader(file string, text []byte) *reader {
	r := &reader{file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text)), lines: []int{0}}
	r.dec.UseNumber()
	for i, c := range text {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	return r
}

// place turns an offset into line and column.
func (r *reader) place(offset int) swconf.Place {
	i := sort.SearchInts(r.lines, offset+1) - 1
	return swconf.Place{File: r.file, Line: i + 1, Col: offset - r.lines[i] + 1}
}

func (r *reader) fail(offset int, format string, args ...any) error {
	p := r.place(min(max(offset, 0), len(r.text)))
	return &cli.SyntaxError{File: r.file, Line: p.Line, Col: p.Col, Msg: fmt.Sprintf(format, args...)}
}

// token returns the next token and the offset of its beginning.
func (r *reader) token() (json.Token, int, error) {
	at := int(r.dec.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	t, err := r.dec.Token()
	if err == nil {
		return t, at, nil
	}
	var se *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &se) &&
		int(se.Offset) >= len(r.text):
		return nil, at, r.fail(len(bytes.TrimRight(r.text, " \t\r\n")),
			"the JSON ends in the middle: is the file cut off?")
	case errors.As(err, &se):
		return nil, at, r.fail(int(se.Offset)-1, "is not JSON: %s", se)
	}
	return nil, at, r.fail(at, "is not JSON: %v", err)
}

// document reads one value and nothing behind it.
func (r *reader) document() (*node, error) {
	t, at, err := r.token()
	if err != nil {
		return nil, err
	}
	n, err := r.value(t, at, 0)
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	if rest := bytes.TrimSpace(r.text[end:]); len(rest) > 0 {
		return nil, r.fail(end+bytes.Index(r.text[end:], rest), "there is more text behind the JSON document")
	}
	return n, nil
}

func (r *reader) value(t json.Token, at, depth int) (*node, error) {
	n := &node{at: r.place(at)}
	if depth > maxDepth {
		return nil, r.fail(at, "nests deeper than %d levels: this is no config_db.json", maxDepth)
	}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return n, r.members(n, depth)
		}
		for r.dec.More() {
			t, at, err := r.token()
			if err != nil {
				return nil, err
			}
			c, err := r.value(t, at, depth+1)
			if err != nil {
				return nil, err
			}
			n.list = append(n.list, c)
		}
		_, _, err := r.token()
		return n, err
	case nil:
		return n, nil
	}
	n.text = fmt.Sprint(t)
	return n, nil
}

func (r *reader) members(n *node, depth int) error {
	n.inner = map[string]*node{}
	for r.dec.More() {
		t, at, err := r.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if old := n.inner[key]; old != nil {
			return r.fail(at,
				"the key %q stands twice, first on line %d: readers keep one of them and lose the other",
				key, old.at.Line)
		}
		where := r.place(at)
		t, at, err = r.token()
		if err != nil {
			return err
		}
		c, err := r.value(t, at, depth+1)
		if err != nil {
			return err
		}
		c.at = where // a member's place is its key's
		n.keys = append(n.keys, key)
		n.inner[key] = c
	}
	_, _, err := r.token()
	return err
}
