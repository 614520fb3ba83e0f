package cabling

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/field"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// Limits of a YAML or JSON file: a fabric of 36,000 cables has 400,000 tokens.
const (
	maxTokens = 3_000_000
	maxDepth  = 64
)

// tree is a YAML or JSON value with its place. The YAML library's parser takes time in proportion to the square of
// a mapping's keys, and inventories have thousands. Its scanner does not have this problem, and topologies need no
// more of YAML than this.
type tree struct {
	line, col int
	text      string // of a scalar
	keys      []key  // of a mapping
	items     []*tree
	kind      treeKind
}

type treeKind uint8

const (
	scalar treeKind = iota
	mapping
	list
)

func (k treeKind) String() string { return [...]string{"a value", "a mapping", "a list"}[k] }

type key struct {
	name string
	at   *tree
	val  *tree
}

// get returns a mapping's value, or an empty one.
func (t *tree) get(names ...string) *tree {
	for _, n := range names {
		next := &tree{line: t.line, col: t.col}
		for _, k := range t.keys {
			if k.name == n {
				next = k.val
			}
		}
		t = next
	}
	return t
}

// has reports whether a mapping has a key.
func (t *tree) has(name string) bool {
	return slices.ContainsFunc(t.keys, func(k key) bool { return k.name == name })
}

// fail is an error at a value.
func (t *tree) fail(format string, args ...any) *field.Error {
	return &field.Error{Line: t.line, Col: t.col, Msg: fmt.Sprintf(format, args...)}
}

func (b *builder) where(t *tree) Place { return b.at(t.line, t.col) }

// words are the scalars of a list, or the scalar.
func (t *tree) words() (out []string) {
	if t.kind == scalar && t.text != "" {
		return []string{t.text}
	}
	for _, i := range t.items {
		out = append(out, i.text)
	}
	return out
}

// parser walks tokens.
type parser struct {
	toks  []*token.Token
	i     int
	depth int
}

// parseTree reads YAML or JSON: block and flow collections, scalars, comments. Anchors, tags
// and several documents are refused.
func parseTree(text string) (t *tree, err error) {
	defer func() { // the scanner is a library; its panics are the input's fault
		if r := recover(); r != nil {
			if e, ok := r.(*field.Error); ok {
				t, err = nil, e
			} else {
				t, err = nil, &field.Error{Msg: fmt.Sprintf("is not YAML: %v", r)}
			}
		}
	}()
	var s scanner.Scanner
	s.Init(text)
	p := &parser{}
	for {
		some, err := s.Scan()
		if err == io.EOF {
			break
		}
		for _, t := range some {
			if t.Type != token.CommentType && !(t.Type == token.DocumentHeaderType && len(p.toks) == 0) {
				p.toks = append(p.toks, t)
			}
		}
		if len(p.toks) > maxTokens {
			return nil, &field.Error{Msg: fmt.Sprintf("has more than %d words and signs: that is not a topology", maxTokens)}
		}
	}
	if len(p.toks) == 0 {
		return nil, &field.Error{Msg: "holds no values"}
	}
	t = p.value()
	if n := p.peek(); n != nil && n.Type != token.DocumentEndType {
		p.fail(n, "%s is not accepted here", field.Quote(n.Value))
	}
	return t, nil
}

func (p *parser) peek() *token.Token {
	if p.i < len(p.toks) {
		return p.toks[p.i]
	}
	return nil
}

// fail ends the parsing; parseTree recovers.
func (p *parser) fail(t *token.Token, format string, args ...any) {
	e := &field.Error{Msg: fmt.Sprintf(format, args...)}
	if t != nil && t.Position != nil {
		e.Line, e.Col = t.Position.Line, max(t.Position.Column, 1)
	}
	panic(e)
}

// isKey reports whether the token at hand is followed by a colon.
func (p *parser) isKey() bool {
	return p.i+1 < len(p.toks) && p.toks[p.i+1].Type == token.MappingValueType
}

func (p *parser) value() *tree {
	t := p.peek()
	if t == nil {
		return &tree{}
	}
	if p.depth++; p.depth > maxDepth {
		p.fail(t, "nests deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	out := &tree{line: t.Position.Line, col: max(t.Position.Column, 1)}
	switch t.Type {
	case token.MappingStartType:
		p.flowMap(out)
	case token.SequenceStartType:
		p.flowList(out)
	case token.SequenceEntryType:
		p.blockList(out, t.Position.Column)
	case token.LiteralType, token.FoldedType:
		p.i++
		if s := p.peek(); s != nil && s.Type == token.StringType {
			out.text = s.Value
			p.i++
		}
	case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType,
		token.MappingKeyType:
		p.fail(t, "anchors, aliases, tags and directives are not accepted: write the value out")
	case token.InvalidType:
		p.fail(t, "%s is not YAML", field.Quote(t.Value))
	default:
		if p.isKey() {
			p.blockMap(out, t.Position.Column)
			break
		}
		if out.text = t.Value; t.Type == token.NullType {
			out.text = ""
		}
		p.i++
	}
	return out
}

// pair adds a key to a mapping, which may have it once, because one of two values would be lost.
func (p *parser) pair(out *tree, met map[string]*tree, k *token.Token, v *tree) {
	at := &tree{line: k.Position.Line, col: max(k.Position.Column, 1), text: k.Value}
	if before := met[k.Value]; before != nil {
		p.fail(k, "%s is repeated here; the first is at %d:%d", field.Quote(k.Value),
			before.line, before.col)
	}
	met[k.Value] = at
	out.keys = append(out.keys, key{k.Value, at, v})
}

func (p *parser) blockMap(out *tree, col int) {
	out.kind = mapping
	met := map[string]*tree{}
	for {
		k := p.peek()
		if k == nil || !p.isKey() || k.Position.Column != col {
			if k != nil && p.isKey() && k.Position.Column > col {
				p.fail(k, "%s is indented further than the keys before it", field.Quote(k.Value))
			}
			return
		}
		p.i += 2
		v := &tree{line: k.Position.Line, col: k.Position.Column}
		if n := p.peek(); n != nil {
			below := n.Type == token.SequenceEntryType && n.Position.Column == col
			if n.Position.Line == k.Position.Line || n.Position.Column > col || below {
				v = p.value()
			}
		}
		p.pair(out, met, k, v)
	}
}

func (p *parser) blockList(out *tree, col int) {
	out.kind = list
	for {
		t := p.peek()
		if t == nil || t.Type != token.SequenceEntryType || t.Position.Column != col {
			return
		}
		p.i++
		v := &tree{line: t.Position.Line, col: t.Position.Column}
		if n := p.peek(); n != nil && n.Position.Column > col {
			v = p.value()
		}
		out.items = append(out.items, v)
	}
}

func (p *parser) flowMap(out *tree) {
	out.kind = mapping
	met := map[string]*tree{}
	p.i++
	for {
		t := p.peek()
		switch {
		case t == nil:
			p.fail(p.toks[len(p.toks)-1], "a } is missing at the end")
		case t.Type == token.MappingEndType:
			p.i++
			return
		case t.Type == token.CollectEntryType:
			p.i++
		case !p.isKey():
			p.fail(t, "%s has no value", field.Quote(t.Value))
		default:
			p.i += 2
			v := &tree{line: t.Position.Line, col: max(t.Position.Column, 1)}
			if n := p.peek(); n != nil && n.Type != token.CollectEntryType && n.Type != token.MappingEndType {
				v = p.flowValue()
			}
			p.pair(out, met, t, v)
		}
	}
}

func (p *parser) flowList(out *tree) {
	out.kind = list
	p.i++
	for {
		t := p.peek()
		switch {
		case t == nil:
			p.fail(p.toks[len(p.toks)-1], "a ] is missing at the end")
		case t.Type == token.SequenceEndType:
			p.i++
			return
		case t.Type == token.CollectEntryType:
			p.i++
		default:
			out.items = append(out.items, p.flowValue())
		}
	}
}

// flowValue parses a value inside brackets, where no block begins.
func (p *parser) flowValue() *tree {
	t := p.peek()
	switch {
	case t.Type == token.SequenceEntryType || p.isKey():
		p.fail(t, "%s is not accepted in brackets", field.Quote(t.Value))
	case t.Type == token.MappingEndType || t.Type == token.SequenceEndType:
		p.fail(t, "%s closes what was not opened", t.Value)
	}
	before := p.i
	v := p.value()
	if p.i == before {
		p.fail(t, "%s is not accepted here", field.Quote(t.Value))
	}
	return v
}

// isJSON reports whether a file begins like JSON.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[')
}
