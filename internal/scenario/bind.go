package scenario

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"railyard/unit"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Error is a fault of a scenario with its place.
type Error struct {
	File      string
	Line, Col int
	Key       string // dotted path
	Msg       string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(clip(e.Key) + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

type place struct{ line, col int }

// binder fills Go structs from a YAML tree and remembers where each key stood.
type binder struct {
	file  string
	where map[string]place
}

func (b *binder) fail(n ast.Node, key, format string, args ...any) error {
	e := &Error{File: b.file, Key: key, Msg: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p := position(n.GetToken())
		e.Line, e.Col = p.line, p.col
	}
	return e
}

func position(t *token.Token) place { return place{t.Position.Line, t.Position.Column} }

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// bind sets v from node n; key is the path for messages.
func (b *binder) bind(n ast.Node, v reflect.Value, key, enum string) error {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		return b.fail(n, key, "anchors, aliases and tags are not accepted: write the value out")
	}
	if n.GetToken() != nil {
		b.where[key] = position(n.GetToken())
	}
	if v.Kind() == reflect.Interface { // a block whose type is made from a registry
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			if t, ok := v.Interface().(*Training); ok {
				*t = trainingDefault()
			}
		}
		return b.bind(n, v.Elem(), key, enum)
	}
	switch v.Kind() {
	case reflect.Struct:
		return b.bindStruct(n, v, key)
	case reflect.Map:
		return b.bindMap(n, v, key)
	case reflect.Slice:
		return b.bindSlice(n, v, key)
	}
	return b.bindScalar(n, v, key, enum)
}

// pairs returns a mapping's entries.
func (b *binder) pairs(n ast.Node, key, want string) ([]*ast.MappingValueNode, error) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, nil
	}
	return nil, b.fail(n, key, "found %s, expected %s", describe(n), want)
}

func (b *binder) bindStruct(n ast.Node, v reflect.Value, key string) error {
	keys := fieldNames(v.Type())
	entries, err := b.pairs(n, key, "a mapping with keys "+strings.Join(keys, ", "))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := e.Key.GetToken().Value
		if seen[name] {
			return b.fail(e.Key, join(key, name), "the key stands twice")
		}
		seen[name] = true
		i := fieldIndex(v.Type(), name)
		if i < 0 {
			return b.fail(e.Key, join(key, name), "unknown key%s; accepted: %s", suggest(name, keys), strings.Join(keys, ", "))
		}
		if err := b.bind(e.Value, v.Field(i), join(key, name), enumOf(v.Type().Field(i))); err != nil {
			return err
		}
		b.where[join(key, name)] = position(e.Key.GetToken())
	}
	return nil
}

func (b *binder) bindMap(n ast.Node, v reflect.Value, key string) error {
	entries, err := b.pairs(n, key, "a mapping from numbers")
	if err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	} else { // do not write into the defaults
		c := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			c.SetMapIndex(k, v.MapIndex(k))
		}
		v.Set(c)
	}
	for _, e := range entries {
		name := e.Key.GetToken().Value
		at := join(key, name)
		item := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(reflect.ValueOf(name)); old.IsValid() {
			item.Set(old)
		}
		if err := b.bind(e.Value, item, at, ""); err != nil {
			return err
		}
		b.where[at] = position(e.Key.GetToken())
		v.SetMapIndex(reflect.ValueOf(name), item)
	}
	return nil
}

// maxItems bounds every list of a scenario.
const maxItems = 200_000

func (b *binder) bindSlice(n ast.Node, v reflect.Value, key string) error {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return b.fail(n, key, "found %s, expected a list", describe(n))
	}
	if len(s.Values) > maxItems {
		return b.fail(n, key, "the list has %d entries, at most %d are accepted", len(s.Values), maxItems)
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	for i, item := range s.Values {
		if err := b.bind(item, v.Index(i), fmt.Sprintf("%s[%d]", key, i), ""); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) bindScalar(n ast.Node, v reflect.Value, key, enum string) error {
	s, ok := n.(ast.ScalarNode)
	if !ok {
		return b.fail(n, key, "found %s, expected a single value", describe(n))
	}
	if _, null := n.(*ast.NullNode); null {
		return b.fail(n, key, "has no value")
	}
	text := fmt.Sprint(s.GetValue())
	if tok := n.GetToken(); tok != nil && v.Kind() != reflect.Bool {
		text = tok.Value
	}
	if err := setScalar(v, text, enum); err != nil {
		return b.fail(n, key, "%v", err)
	}
	return nil
}

// setScalar parses text into v.
func setScalar(v reflect.Value, text, enum string) error {
	switch p := v.Addr().Interface().(type) {
	case *unit.Time:
		return into(p, text, unit.ParseTime)
	case *unit.Rate:
		return into(p, text, unit.ParseRate)
	case *unit.Bytes:
		return into(p, text, unit.ParseBytes)
	case *Length:
		mm, err := unit.ParseLength(text)
		*p = Length(mm)
		return err
	case *string:
		*p = text
		if enum != "" && !contains(strings.Split(enum, ","), text) {
			return fmt.Errorf("found %q%s; accepted: %s", clip(text), suggest(text, strings.Split(enum, ",")), strings.ReplaceAll(enum, ",", ", "))
		}
	case *bool:
		switch text {
		case "true":
			*p = true
		case "false":
			*p = false
		default:
			return fmt.Errorf("found %q; accepted: true, false", clip(text))
		}
	case *int:
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("found %q, expected a whole number of at most %d", clip(text), 1<<31-1)
		}
		*p = int(i)
	case *uint64:
		i, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("found %q, expected a whole number from 0", clip(text))
		}
		*p = i
	case *float64:
		f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || f != f || f > 1e300 || f < -1e300 {
			return fmt.Errorf("found %q, expected a number", clip(text))
		}
		*p = f
	default:
		panic("scenario: no parser for " + v.Type().String())
	}
	return nil
}

func into[T any](p *T, text string, parse func(string) (T, error)) error {
	x, err := parse(text)
	if err != nil {
		return err
	}
	*p = x
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("yaml"))
	}
	return names
}

func fieldIndex(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == name {
			return i
		}
	}
	return -1
}

func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return strconv.Quote(clip(n.String()))
}

// suggest names the accepted word nearest to s, when one is near.
func suggest(s string, words []string) string {
	type cand struct {
		w string
		d int
	}
	var c []cand
	if len(s) > 200 { // near to nothing, and comparing takes a while
		return ""
	}
	for _, w := range words {
		c = append(c, cand{w, distance(s, w)})
	}
	sort.SliceStable(c, func(i, j int) bool { return c[i].d < c[j].d })
	if len(c) > 0 && c[0].d <= 1+len(s)/4 {
		return fmt.Sprintf(" (did you mean %q?)", c[0].w)
	}
	return ""
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, prev+1)
		}
	}
	return row[len(b)]
}
