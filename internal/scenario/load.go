package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is the maximum size of a scenario file.
const MaxSize = 1 << 20

// Parse parses a scenario. name is the file name in errors; sets are overrides of the form key.path=value, applied
// after the file; a scenario without a name is called as the file. The result is bound but not resolved.
func Parse(name string, text []byte, sets []string) (*Document, error) {
	d := &Document{File: Default(), Text: string(text), Sets: sets, b: binder{file: name, where: map[string]place{}}}
	root, err := d.tree(name, text)
	if err != nil {
		return nil, err
	}
	d.b.bind(root, reflect.ValueOf(&d.File).Elem(), "", "")
	if err := d.b.faults.Err(); err != nil {
		return nil, err
	}
	if d.b.preset != "" {
		if err := d.preset(d.b.preset, true); err != nil {
			return nil, d.placed(err)
		}
	}
	if len(sets) > maxSets {
		return nil, field.New("--set", "%d overrides, at most %d are accepted: write them into the scenario",
			len(sets), maxSets)
	}
	for _, s := range sets {
		if err := d.set(s); err != nil {
			return nil, err
		}
	}
	if base := filepath.Base(name); d.File.Name == "" {
		d.File.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return d, nil
}

// Document is a bound scenario with the places of its keys.
type Document struct {
	File   File
	Text   string
	Sets   []string
	Preset string // value of a one-word transport; none
	// BuildBy builds the graph of a training step, which may be one of another document; nil: Training.Build.
	BuildBy func(*workload.Training) (*workload.DAG, error)
	// TunedFor is the size for which NCCL's tuning model selects, of a collective simulated in part; 0: its own.
	TunedFor unit.Bytes

	b binder

	presetSet bool     // by --set
	given     []string // keys that it took from the file
}

func (d *Document) tree(name string, text []byte) (root ast.Node, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the byte order mark that some editors write
	if err := sane(name, text); err != nil {
		return nil, err
	}
	defer func() { // the parser is a library; its panics are the input's fault
		if r := recover(); r != nil {
			err = &field.Error{File: name, Msg: fmt.Sprintf("is not YAML: %v", r)}
		}
	}()
	list, err := tokens(name, text)
	if err != nil {
		return nil, err
	}
	f, err := parser.Parse(list, 0)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	switch {
	case len(f.Docs) > 1:
		return nil, &field.Error{File: name, Msg: fmt.Sprintf("holds %d documents, expected one scenario",
			len(f.Docs))}
	case len(f.Docs) == 0 || f.Docs[0].Body == nil || f.Docs[0].Body.Type() == ast.CommentType:
		return nil, &field.Error{File: name, Msg: "holds no values, expected a scenario"}
	}
	return f.Docs[0].Body, nil
}

// sane rejects text that cannot be a scenario before the parser reads it.
func sane(name string, text []byte) error {
	if len(text) > MaxSize {
		return &field.Error{File: name, Msg: fmt.Sprintf("is larger than %d bytes: that is not a scenario", MaxSize)}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &field.Error{File: name, Msg: "is empty"}
	}
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return &field.Error{File: name, Msg: "is a binary file, expected YAML text"}
	}
	return nil
}

// syntaxError keeps the parser's message and place. Its own message would print the source lines, which takes long
// for a long line.
func syntaxError(name string, err error) error {
	var at interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &at) || at.GetToken() == nil {
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return &field.Error{File: name, Msg: msg}
	}
	msg, _, _ := strings.Cut(at.GetMessage(), "\n")
	if strings.Contains(msg, "tab character") || strings.Contains(msg, "'\t'") {
		msg = "the line is indented with a tab; accepted: spaces"
	}
	p := position(at.GetToken())
	return &field.Error{File: name, Line: p.line, Col: p.col, Msg: msg}
}
