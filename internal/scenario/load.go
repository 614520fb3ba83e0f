package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"railyard/internal/field"
	"railyard/internal/site"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is the largest scenario file that is read.
const MaxSize = 1 << 20

// maxSets bounds overrides: each looks through what it changes.
const maxSets = 1000

// Parse reads a scenario. name stands in errors; sets are overrides of the form
// key.path=value, applied after the file. The result is bound but not resolved.
func Parse(name string, text []byte, sets []string) (*Document, error) {
	d := &Document{File: Default(), Text: string(text), Sets: sets,
		b: binder{file: name, where: map[string]place{}}}
	root, err := d.tree(name, text)
	if err != nil {
		return nil, err
	}
	d.b.bind(root, reflect.ValueOf(&d.File).Elem(), "", "")
	if err := d.b.faults.Err(); err != nil {
		return nil, err
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
	return d, nil
}

// Document is a bound scenario with the places of its keys.
type Document struct {
	File File
	Text string
	Sets []string
	b    binder
}

func (d *Document) tree(name string, text []byte) (root ast.Node, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the mark that some editors begin a text with
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

// sane refuses what cannot be a scenario before the parser sees it.
func sane(name string, text []byte) error {
	if len(text) > MaxSize {
		return &field.Error{File: name, Msg: fmt.Sprintf("is larger than %d bytes: that is no scenario",
			MaxSize)}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &field.Error{File: name, Msg: "is empty"}
	}
	if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return &field.Error{File: name, Msg: "is a binary file, expected YAML text"}
	}
	return nil
}

// syntaxError keeps the parser's message and place. Its own text would print the
// source around, which takes long where a line is long.
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
	p := position(at.GetToken())
	return &field.Error{File: name, Line: p.line, Col: p.col, Msg: msg}
}

// set applies one override.
func (d *Document) set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return &field.Error{File: field.Set(s), Msg: "expected key=value, as in lb=spray or transport.qps=4"}
	}
	err := d.put(key, value)
	for _, e := range field.All(err) {
		e.File = field.Set(s)
	}
	return err
}

// put gives the value with a key another text.
func (d *Document) put(key, value string) error {
	v := reflect.ValueOf(&d.File).Elem()
	parts := strings.Split(key, ".")
	enum := ""
	for i, p := range parts {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			if v.IsNil() {
				return field.New(key, "%s is not part of this scenario", strings.Join(parts[:i], "."))
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			name, at, listed := strings.Cut(p, "[")
			f, ok := find(v.Type(), name)
			if !ok {
				return unknownKey(key, p, v.Type())
			}
			enum = enumOf(f)
			if v = v.FieldByIndex(f.Index); !listed {
				continue
			}
			k, err := strconv.Atoi(strings.TrimSuffix(at, "]"))
			if v.Kind() != reflect.Slice || err != nil || !strings.HasSuffix(at, "]") || k < 0 || k >= v.Len() {
				return field.New(key, "there is no %s; entries of lists are named like flows[0] and have to "+
					"be in the file", field.Clip(p))
			}
			v = v.Index(k)
		case reflect.Map:
			return putInMap(v, key, p, parts[i+1:], value)
		case reflect.Slice:
			if !named(v.Type().Elem()) {
				return field.New(key, "%s has no keys below it", strings.Join(parts[:i], "."))
			}
			var err error
			if v, err = element(v, key, p); err != nil {
				return err
			}
		default:
			return field.New(key, "%s has no keys below it", strings.Join(parts[:i], "."))
		}
	}
	return putLeaf(v, key, value, enum)
}

func unknownKey(key, part string, t reflect.Type) error {
	return field.Choice(key, part, names(t), "unknown key %s", field.Quote(part))
}

func putLeaf(v reflect.Value, key, value, enum string) error {
	if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() != reflect.Struct { // a value that may be absent
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if p, ok := v.Addr().Interface().(*site.Pairs); ok {
		return field.New(key, "the key holds several values (%s); --set changes none of them", p)
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Pointer, reflect.Interface:
		return field.New(key, "the key holds several values; name one of them")
	}
	return field.Under(key, setScalar(v, value, enum))
}

// putInMap changes a map's entry, or a value of it: switch.queues.3.xoff.
func putInMap(m reflect.Value, key, name string, rest []string, value string) error {
	item := reflect.New(m.Type().Elem()).Elem()
	if old := m.MapIndex(reflect.ValueOf(name)); old.IsValid() {
		item.Set(old)
	}
	leaf, enum := item, ""
	if len(rest) == 1 && item.Kind() == reflect.Struct {
		f, ok := find(item.Type(), rest[0])
		if !ok {
			return unknownKey(key, rest[0], item.Type())
		}
		leaf, enum = item.FieldByIndex(f.Index), enumOf(f)
	} else if len(rest) > 0 {
		return field.New(key, "%s has no such key", field.Clip(name))
	}
	if err := putLeaf(leaf, key, value, enum); err != nil {
		return err
	}
	c := reflect.MakeMap(m.Type())
	for _, k := range m.MapKeys() {
		c.SetMapIndex(k, m.MapIndex(k))
	}
	c.SetMapIndex(reflect.ValueOf(name), item)
	m.Set(c)
	return nil
}

// override is the last --set that changed a key or one below it, if any did.
func (d *Document) override(key string) (set string, ok bool) {
	for _, s := range d.Sets {
		if k, _, _ := strings.Cut(s, "="); k == key || strings.HasPrefix(k, key+".") {
			set, ok = s, true
		}
	}
	return set, ok
}

// placed gives errors about values the places where these were given.
func (d *Document) placed(err error) error {
	for _, e := range field.All(err) {
		e.Path = d.byName(e.Path)
		if e.File == "" {
			d.locate(e)
		}
	}
	return err
}

// Refuse says what is wrong with a value of a scenario, for those who take its plan and
// need more of it than Resolve.
func (d *Document) Refuse(key, format string, args ...any) error {
	return d.placed(field.New(key, format, args...))
}

// locate finds the place of a value: its key's, or that of the nearest key above it that
// stands in the file; where --set has changed the key, the file is not to blame.
func (d *Document) locate(e *field.Error) {
	e.File = d.b.file
	for k := e.Path; ; {
		p, said := d.b.where[k]
		if s, ok := d.override(k); ok && (k == e.Path || !said) {
			e.File = field.Set(s)
			return
		}
		if said {
			e.Line, e.Col = p.line, p.col
			return
		}
		i := strings.LastIndexAny(k, ".[")
		if i < 0 {
			return
		}
		k = k[:i]
	}
}

// Values returns every resolved value by dotted key, in file order.
func (f *File) Values() (paths []string, values map[string]string) {
	values = map[string]string{}
	var walk func(v reflect.Value, key string)
	walk = func(v reflect.Value, key string) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem(), key)
			}
		case reflect.Struct:
			for _, f := range keys(v.Type()) {
				if ofSite(v.Type()) && v.FieldByIndex(f.Index).IsZero() {
					continue // not said, and 0 is no value of it
				}
				walk(v.FieldByIndex(f.Index), field.Join(key, name(f)))
			}
		case reflect.Map:
			for _, k := range mapKeys(v) {
				walk(v.MapIndex(reflect.ValueOf(k)), field.Join(key, k))
			}
		case reflect.Slice:
			if p, ok := v.Interface().(site.Pairs); ok {
				paths = append(paths, key)
				values[key] = p.String()
				return
			}
			for i := range v.Len() {
				walk(v.Index(i), field.At(key, i))
			}
		default:
			s := fmt.Sprint(v.Interface())
			if l, ok := v.Interface().(Length); ok {
				s = l.String()
			}
			paths = append(paths, key)
			values[key] = s
		}
	}
	walk(reflect.ValueOf(f).Elem(), "")
	return paths, values
}

// mapKeys orders a map's keys: numbers by value, then names.
func mapKeys(v reflect.Value) (keys []string) {
	for _, k := range v.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, err1 := strconv.Atoi(a)
		y, err2 := strconv.Atoi(b)
		if err1 == nil && err2 == nil {
			return x - y
		}
		return strings.Compare(a, b)
	})
	return keys
}

// says reports whether the file or an override gives a key.
func (d *Document) says(key string) bool {
	_, ok := d.b.where[key]
	return ok || slices.ContainsFunc(d.Sets, func(s string) bool { return strings.HasPrefix(s, key+"=") })
}
