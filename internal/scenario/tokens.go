package scenario

import (
	"fmt"
	"io"

	"railyard/internal/field"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// The YAML library's scanner takes time in proportion to its input. Its parser copies all keys of a mapping for
// each of them, and every path for each level, so 200 KB can take minutes and gigabytes. The input is therefore
// bounded first.
const (
	maxTokens = 300_000 // a megabyte of flows, the densest use, has 240,000
	maxKeys   = 2048    // limit of keys of one mapping: a fabric's switches, each with its own configuration
	maxDepth  = 32      // no scenario needs more than six levels
	maxWord   = 16_384  // bytes of one value; about may be long
	maxBare   = 1000    // keys and entries without a value; the parser moves all tokens for each
)

// tokens splits a document into YAML tokens, up to the limits of a scenario.
func tokens(name string, text []byte) (token.Tokens, error) {
	var s scanner.Scanner
	s.Init(string(text))
	var out token.Tokens
	w := watch{file: name}
	for {
		some, err := s.Scan()
		if err == io.EOF {
			return out, nil
		}
		for _, t := range some {
			if err := w.next(t); err != nil {
				return nil, err
			}
		}
		if out.Add(some...); len(out) > maxTokens {
			return nil, w.fail(out[maxTokens],
				"the file continues here, and a scenario has at most %d words and signs before", maxTokens)
		}
	}
}

// watch follows the nesting of tokens: flow collections by their brackets, block collections by the columns in
// which their entries begin.
type watch struct {
	file  string
	flow  int
	block []column
	last  *token.Token // a following colon makes it a key
	open  place        // line of the key or dash that has no value yet; 0: none
	key   bool         // whether it is a key
	bare  int          // of these, the ones without a value
	began bool         // with ---
}

// column is an open block collection.
type column struct{ col, keys int }

func (w *watch) fail(t *token.Token, format string, args ...any) error {
	at := position(t)
	return &field.Error{File: w.file, Line: at.line, Col: at.col, Msg: fmt.Sprintf(format, args...)}
}

func (w *watch) next(t *token.Token) error {
	defer func() { w.last = t }()
	if len(t.Value) > maxWord {
		return w.fail(t, "%q is a value of %d bytes, at most %d are accepted",
			field.Clip(t.Value), len(t.Value), maxWord)
	}
	if w.waits(t); w.bare > maxBare {
		return w.fail(t, "more than %d keys or entries have no value", maxBare)
	}
	switch t.Type {
	case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
		return w.fail(t, "anchors, aliases and tags are not accepted: write the value out")
	case token.DirectiveType, token.MappingKeyType:
		return w.fail(t, "directives and keys after a question mark are not accepted")
	case token.DocumentHeaderType:
		if w.began || w.last != nil && w.last.Type != token.CommentType {
			return w.fail(t, "a second document begins, expected one scenario")
		}
		w.began = true
	case token.MappingStartType, token.SequenceStartType:
		w.flow++
	case token.MappingEndType, token.SequenceEndType:
		w.flow = max(0, w.flow-1)
	case token.SequenceEntryType:
		w.enter(t.Position.Column)
	case token.MappingValueType:
		if w.last == nil || w.flow > 0 {
			break
		}
		if c := w.enter(w.last.Position.Column); c != nil {
			if c.keys++; c.keys > maxKeys {
				return w.fail(w.last, "the mapping has more than %d keys", maxKeys)
			}
		}
	}
	if w.flow+len(w.block) > maxDepth {
		return w.fail(t, "nests deeper than %d levels", maxDepth)
	}
	return nil
}

// waits tracks keys and dashes without a value yet. It counts those without a value: the next word is on another
// line no further right, or ends the entry of a flow.
func (w *watch) waits(t *token.Token) {
	at := position(t)
	switch t.Type {
	case token.CommentType:
		return
	case token.CollectEntryType, token.MappingEndType, token.SequenceEndType:
		if w.open.line > 0 {
			w.bare++
		}
	default:
		// begins directly below its key
		list := w.key && t.Type == token.SequenceEntryType && at.col == w.open.col
		if w.open.line > 0 && w.flow == 0 && at.line > w.open.line && at.col <= w.open.col && !list {
			w.bare++
		}
	}
	switch w.open = (place{}); t.Type {
	case token.MappingValueType:
		if w.last != nil {
			w.open, w.key = place{at.line, position(w.last).col}, true
		}
	case token.SequenceEntryType:
		w.open, w.key = at, false
	}
}

// enter closes the block collections right of a column and opens one there.
func (w *watch) enter(col int) *column {
	if w.flow > 0 {
		return nil
	}
	n := len(w.block)
	for n > 0 && w.block[n-1].col > col {
		n--
	}
	w.block = w.block[:n]
	if n == 0 || w.block[n-1].col < col {
		w.block = append(w.block, column{col: col})
	}
	return &w.block[len(w.block)-1]
}
