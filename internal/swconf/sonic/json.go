package sonic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/swconf"
	"railyard/internal/swconf/cli"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value with its place.
type node struct {
	at    swconf.Place
	kind  byte             // first character of the value: { [ " t f n, 0 for a number
	text  string           // text of a string, number or boolean
	keys  []string         // of an object
	kids  []*node          // members of an object or a list
	index map[string]*node // index of the members of an object that has many
}

func (n *node) object() bool { return n != nil && n.kind == '{' }

// few members are compared one by one, which is faster than a map and takes no memory.
const few = 12

// get returns a member, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	if n.index != nil {
		return n.index[key]
	}
	for i, k := range n.keys {
		if k == key {
			return n.kids[i]
		}
	}
	return nil
}

// names are an object's keys.
func (n *node) names() []string {
	if n == nil {
		return nil
	}
	return n.keys
}

// place returns the position of a member, nowhere when there is none.
func (n *node) place(key string) swconf.Place {
	if c := n.get(key); c != nil {
		return c.at
	}
	return swconf.Place{}
}

// str returns a member's string, or "".
func (n *node) str(key string) string {
	if c := n.get(key); c != nil {
		return c.text
	}
	return ""
}

// maxDepth bounds nesting; config_db.json has three levels.
const maxDepth = 16

// reader builds nodes from JSON tokens with their positions. A fabric's files are hundreds of megabytes of small
// strings. Nodes are allocated in slabs, strings are slices of one, and lines are counted between tokens, the only
// place of line feeds.
type reader struct {
	file    string
	text    []byte
	pieces  string // the input as a string, of which other strings are slices
	dec     jsontext.Decoder
	at      int // offset of the next token
	line    int // current line, from 1
	begins  int // offset of that line
	slab    []node
	keys    []string // of open objects
	kids    []*node
	allKeys []string // storage for keys of closed objects
	allKids []*node
}

func newReader(file string, text []byte) *reader {
	r := &reader{file: file, text: text, pieces: string(text), line: 1}
	r.dec.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return r
}

// place returns the position of the next token.
func (r *reader) place() swconf.Place {
	return swconf.Place{File: r.file, Line: r.line, Col: r.at - r.begins + 1}
}

func (r *reader) fail(offset int, format string, args ...any) error {
	before := r.text[:min(max(offset, 0), len(r.text))]
	return &cli.SyntaxError{File: r.file, Line: bytes.Count(before, []byte("\n")) + 1,
		Col: len(before) - bytes.LastIndexByte(before, '\n'), Msg: fmt.Sprintf(format, args...)}
}

// next advances to the next token and returns its first character, 0 at the end. The decoder checks the characters
// between tokens.
func (r *reader) next() byte {
	r.at = int(r.dec.InputOffset())
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case '\n':
			r.line++
			r.begins = r.at + 1
		case ' ', '\t', '\r', ',', ':':
		default:
			return c
		}
	}
	return 0
}

// bad returns the decoder's error about invalid JSON.
func (r *reader) bad(err error) error {
	var se *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r.fail(len(bytes.TrimRight(r.text, " \t\r\n")), "the JSON ends in the middle: is the file truncated?")
	case errors.As(err, &se):
		return r.fail(int(se.ByteOffset), "is not JSON: %s", strings.TrimPrefix(se.Err.Error(), "jsontext: "))
	}
	return r.fail(r.at, "is not JSON: %v", err)
}

// document reads one value and requires the end of the text after it.
func (r *reader) document() (*node, error) {
	n, err := r.value(r.next(), 0)
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	if rest := bytes.TrimSpace(r.text[end:]); len(rest) > 0 {
		return nil, r.fail(end+bytes.Index(r.text[end:], rest), "unexpected text after the JSON document")
	}
	return n, nil
}

// node makes one at the next token.
func (r *reader) node(kind byte) *node {
	if len(r.slab) == 0 {
		r.slab = make([]node, 256)
	}
	n := &r.slab[0]
	r.slab = r.slab[1:]
	n.at, n.kind = r.place(), kind
	return n
}

// value reads the value that begins with a letter.
func (r *reader) value(kind byte, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, r.fail(r.at, "nests deeper than %d levels: this is not a config_db.json", maxDepth)
	}
	n := r.node(kind)
	var err error
	switch kind {
	case '{', '[':
		if _, err = r.dec.ReadToken(); err != nil {
			return nil, r.bad(err)
		}
		return n, r.members(n, depth)
	case 'n':
		_, err = r.dec.ReadToken()
	default:
		n.text, err = r.scalar()
	}
	if err != nil {
		return nil, r.bad(err)
	}
	return n, nil
}

// scalar reads a string, number or boolean.
func (r *reader) scalar() (string, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return "", err
	}
	end := int(r.dec.InputOffset())
	if v[0] != '"' {
		return r.pieces[end-len(v) : end], nil
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return r.pieces[end-len(v)+1 : end-1], nil
	}
	plain, err := jsontext.AppendUnquote(nil, v)
	if plain == nil {
		return "", err
	}
	return string(plain), nil // halves of surrogates are replaced, as encoding/json does
}

// members reads the members of an object or a list.
func (r *reader) members(n *node, depth int) error {
	keys, kids := len(r.keys), len(r.kids)
	for {
		c := r.next()
		if c == '}' || c == ']' || c == 0 {
			break
		}
		at := r.place()
		if n.kind == '{' {
			if err := r.key(n, keys, kids); err != nil {
				return err
			}
			c = r.next()
		}
		m, err := r.value(c, depth+1)
		if err != nil {
			return err
		}
		m.at = at // a member's position is its key's
		r.kids = append(r.kids, m)
		if n.index != nil {
			n.index[r.keys[len(r.keys)-1]] = m
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.bad(err)
	}
	n.keys, r.allKeys = keep(r.allKeys, r.keys[keys:])
	n.kids, r.allKids = keep(r.allKids, r.kids[kids:])
	r.keys, r.kids = r.keys[:keys], r.kids[:kids]
	return nil
}

// key reads the next key of an object whose members begin at keys and kids among the members of open ones.
func (r *reader) key(n *node, keys, kids int) error {
	at := r.at
	if r.dec.PeekKind() != '"' { // the decoder reports the error
		_, err := r.dec.ReadToken()
		return r.bad(cmp.Or(err, error(jsontext.ErrNonStringName)))
	}
	key, err := r.scalar()
	if err != nil {
		return r.bad(err)
	}
	mine := r.keys[keys:]
	if n.index == nil && len(mine) == few {
		n.index = make(map[string]*node, 4*few)
		for i, k := range mine {
			n.index[k] = r.kids[kids+i]
		}
	}
	old := n.index[key]
	if n.index == nil {
		if i := slices.Index(mine, key); i >= 0 {
			old = r.kids[kids+i]
		}
	}
	if old != nil {
		return r.fail(at, "%s", saidTwice(key, old))
	}
	r.keys = append(r.keys, key)
	return nil
}

func saidTwice(key string, old *node) string {
	return fmt.Sprintf("the key %q is repeated, first on line %d: readers keep one of them and lose the other", shortened(key), old.at.Line)
}

// shortened cuts a key, which may be a list of all ports.
func shortened(key string) string {
	const most = 60
	if len(key) <= most {
		return key
	}
	return key[:most] + "…"
}

// keep copies a slice into shared storage.
func keep[T any](room, what []T) (kept, left []T) {
	if len(what) == 0 {
		return nil, room
	}
	if cap(room)-len(room) < len(what) {
		room = make([]T, 0, max(1024, len(what)))
	}
	at := len(room)
	room = append(room, what...)
	return room[at:len(room):len(room)], room
}
