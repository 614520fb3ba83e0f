package scenario

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// SetKey returns a scenario file's contents with a key of a block, such as transport, set to a value. It edits at
// the positions of the parsed document, so comments and everything else do not change. A missing block is appended.
// A one-word block (transport: mrc) or invalid YAML is returned unchanged, and ok is false.
func SetKey(text, block, key, value string) (edited string, ok bool) {
	top, err := entries(text)
	if err != nil {
		return text, false
	}
	entry := key + ": " + value
	for _, m := range top {
		if m.Key.GetToken().Value != block {
			continue
		}
		switch v := m.Value.(type) {
		case *ast.MappingNode:
			for _, e := range v.Values {
				if e.Key.GetToken().Value != key {
					continue
				}
				if _, scalar := e.Value.(ast.ScalarNode); !scalar {
					return text, false
				}
				t := e.Value.GetToken()
				return replaced(text, t, len(strings.TrimSpace(t.Origin)), value), true
			}
			if v.IsFlowStyle {
				if len(v.Values) > 0 {
					entry += ", "
				}
				return replaced(text, v.Start, 1, "{"+entry), true
			}
			first := v.Values[0].Key.GetToken()
			return replaced(text, first, 0, entry+"\n"+strings.Repeat(" ", first.Position.Column-1)), true
		case *ast.NullNode:
			at := offset(text, m.Key.GetToken()) + len(strings.TrimSpace(m.Key.GetToken().Origin))
			return text[:at] + ":\n  " + entry + strings.TrimPrefix(text[at:], ":"), true
		}
		return text, false
	}
	return strings.TrimRight(text, "\n") + "\n" + block + ": {" + entry + "}\n", true
}

// WithoutBlocks returns a scenario file's contents without some of its top-level keys, their values and the
// comments within those. Invalid YAML is returned unchanged.
func WithoutBlocks(text string, keys ...string) string {
	top, err := entries(text)
	if err != nil {
		return text
	}
	drop := map[int]bool{} // by line, from 1
	lines := strings.SplitAfter(text, "\n")
	for i, m := range top {
		last := len(lines)
		if i+1 < len(top) {
			last = top[i+1].Key.GetToken().Position.Line - 1
		}
		for _, key := range keys {
			for n := m.Key.GetToken().Position.Line; n <= last && m.Key.GetToken().Value == key; n++ {
				drop[n] = true
			}
		}
		for n := last; n > 0 && n <= len(lines) && strings.HasPrefix(lines[n-1], "#"); n-- {
			delete(drop, n) // the comment belongs to the next key
		}
	}
	var out strings.Builder
	for i, l := range lines {
		if !drop[i+1] {
			out.WriteString(l)
		}
	}
	return out.String()
}

// entries returns the entries of a document's top-level mapping.
func entries(text string) ([]*ast.MappingValueNode, error) {
	f, err := parser.ParseBytes([]byte(text), parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, doc := range f.Docs {
		if m, ok := doc.Body.(*ast.MappingNode); ok {
			return m.Values, nil
		}
	}
	return nil, nil
}

// replaced returns the contents with n bytes at a token's position replaced.
func replaced(text string, t *token.Token, n int, by string) string {
	at := offset(text, t)
	return text[:at] + by + text[at+n:]
}

// offset returns the byte offset of a token from its line and column; columns count characters.
func offset(text string, t *token.Token) (at int) {
	for range t.Position.Line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	line := []rune(text[at:][:min(len(text)-at, 1<<16)])
	return at + len(string(line[:t.Position.Column-1]))
}
