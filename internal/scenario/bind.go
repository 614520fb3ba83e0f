package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/internal/workload"
	"railyard/unit"

	"github.com/goccy/go-yaml/ast"
)

// binder fills Go structs from a YAML tree and records the position of each key. It records errors and continues.
type binder struct {
	file   string
	where  map[string]place
	preset string // value of the transport block if that is one word
	faults field.List
}

// maxFaults is the maximum number of recorded errors.
const maxFaults = 1000

// fault notes an error at a node.
func (b *binder) fault(n ast.Node, e *field.Error) {
	if len(b.faults) == maxFaults {
		return
	}
	e.File = b.file
	if n != nil && n.GetToken() != nil {
		p := position(n.GetToken())
		e.Line, e.Col = p.line, p.col
	}
	b.faults = append(b.faults, e)
}

// fail is fault with a formatted message.
func (b *binder) fail(n ast.Node, key, format string, args ...any) {
	b.fault(n, field.New(key, format, args...))
}

// bind sets v from node n; key is the path for messages.
func (b *binder) bind(n ast.Node, v reflect.Value, key, enum string) {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		b.fail(n, key, "anchors, aliases and tags are not accepted: write the value out")
		return
	}
	if n.GetToken() != nil {
		b.where[key] = position(n.GetToken())
	}
	if word, ok := n.(*ast.StringNode); ok && key == "transport" {
		b.preset = word.Value
		return
	}
	if v.Kind() == reflect.Interface { // a block whose type is built from a registry
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			switch t := v.Interface().(type) {
			case *workload.Training:
				*t = workload.NewTraining()
			case interface{ Silent() }:
				t.Silent()
			}
		}
		b.bind(n, v.Elem(), key, enum)
		return
	}
	if p, ok := v.Addr().Interface().(*site.Pairs); ok {
		b.bindPairs(n, p, key)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		begin(v)
		b.bindStruct(n, v, key)
	case reflect.Array:
		b.bindArray(n, v, key)
	case reflect.Map:
		b.bindMap(n, v, key)
	case reflect.Slice:
		b.bindSlice(n, v, key)
	default:
		b.bindScalar(n, v, key, enum)
	}
}

// pairs returns a mapping's entries.
func (b *binder) pairs(n ast.Node, key, want string) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	b.fail(n, key, "found %s, expected %s", describe(n), want)
	return nil
}

func (b *binder) bindStruct(n ast.Node, v reflect.Value, key string) {
	keys := names(v.Type())
	seen := map[string]bool{}
	for _, e := range b.pairs(n, key, "a mapping with keys "+strings.Join(keys, ", ")) {
		name := e.Key.GetToken().Value
		at := field.Join(key, name)
		if seen[name] {
			b.fail(e.Key, at, "the key is repeated")
			continue
		}
		seen[name] = true
		f, ok := find(v.Type(), name)
		if !ok {
			b.fault(e.Key, field.Choice(at, name, keys, "unknown key%s", foreign(at)).ListedBy("railyard schema"))
			continue
		}
		b.bind(e.Value, member(v, name), at, enumOf(f))
		b.where[at] = position(e.Key.GetToken())
	}
}

func (b *binder) bindMap(n ast.Node, v reflect.Value, key string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	} else { // do not write into the defaults
		c := reflect.MakeMap(v.Type())
		for _, k := range v.MapKeys() {
			c.SetMapIndex(k, v.MapIndex(k))
		}
		v.Set(c)
	}
	for _, e := range b.pairs(n, key, "a mapping from numbers") {
		name := e.Key.GetToken().Value
		at := field.Join(key, name)
		item := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(reflect.ValueOf(name)); old.IsValid() {
			item.Set(old)
		}
		b.bind(e.Value, item, at, "")
		b.where[at] = position(e.Key.GetToken())
		v.SetMapIndex(reflect.ValueOf(name), item)
	}
}

// bindArray sets the elements that numbers name.
func (b *binder) bindArray(n ast.Node, v reflect.Value, key string) {
	for _, e := range b.pairs(n, key, "a mapping from numbers") {
		name := e.Key.GetToken().Value
		at := field.Join(key, name)
		item, err := slot(v, at, name)
		if err != nil {
			for _, f := range field.All(err) {
				b.fault(e.Key, f)
			}
			continue
		}
		b.bind(e.Value, item, at, "")
		b.where[at] = position(e.Key.GetToken())
	}
}

// maxItems bounds every list of a scenario.
const maxItems = 200_000

func (b *binder) bindSlice(n ast.Node, v reflect.Value, key string) {
	if b.bindNamed(n, v, key) {
		return
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		b.fail(n, key, "found %s, expected a list", describe(n))
		return
	}
	if len(s.Values) > maxItems {
		b.fail(n, key, "the list has %d entries, at most %d are accepted", len(s.Values), maxItems)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	for i, item := range s.Values {
		b.bind(item, v.Index(i), field.At(key, i), "")
	}
}

func (b *binder) bindScalar(n ast.Node, v reflect.Value, key, enum string) {
	s, ok := n.(ast.ScalarNode)
	if !ok {
		b.fail(n, key, "found %s, expected a single value", describe(n))
		return
	}
	if _, null := n.(*ast.NullNode); null {
		b.fail(n, key, "has no value")
		return
	}
	text := fmt.Sprint(s.GetValue())
	if tok := n.GetToken(); tok != nil && v.Kind() != reflect.Bool {
		text = tok.Value
	}
	for _, e := range field.All(field.Under(key, setAt(key, v, text, enum))) {
		b.fault(n, e)
	}
}

// inBytes are the last words of keys whose rates are given in bits and in bytes.
var inBytes = []string{"nvlink", "nvlink_pair", "pcie", "hbm"}

// setAt parses a string into v, for the error's key. Rates of NVLink and PCIe are given in bits and in bytes, so
// 450G could be either.
func setAt(key string, v reflect.Value, text, enum string) error {
	if slices.Contains(inBytes, key[strings.LastIndex(key, ".")+1:]) {
		number := strings.TrimSpace(strings.TrimRight(text, "TtGgM"))
		if _, err := strconv.ParseFloat(number, 64); err == nil && number != strings.TrimSpace(text) {
			return field.New("", "%s could be bits or bytes; write for example %sGB/s or %sGbps",
				field.Quote(text), number, number)
		}
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && v.CanUint() &&
		(n < 0 || v.OverflowUint(uint64(n))) {
		if b := bounded[rowOf(key)]; b != nil {
			return field.New("", "%s", b.refusal(text))
		}
	}
	err := setScalar(v, text, enum)
	several := strings.Split(text, ",")
	if err != nil && len(several) > 1 && slices.ContainsFunc(several, func(part string) bool {
		return setScalar(reflect.New(v.Type()).Elem(), part, enum) == nil
	}) {
		return compared("", key, text)
	}
	return neighbour(key, text, err)
}

// compared returns the refusal of several values, which compare accepts.
func compared(at, key, text string) error {
	return field.New(at, "one value expected, found %s; to compare them: railyard compare SCENARIO --set %s=%s",
		field.Quote(text), key, text)
}

// neighbour adds to the refusal of a congestion control that it is a transport.
func neighbour(key, text string, err error) error {
	var e *field.Error
	if key == "cc.algorithm" && errors.As(err, &e) && slices.Contains(Presets(), text) {
		e.Msg += fmt.Sprintf("; %s is a transport: --set transport=%[1]s", text)
	}
	return err
}

// setScalar parses a string into v.
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
		if of := strings.Split(enum, ","); enum != "" && !slices.Contains(of, text) {
			return field.Choice("", text, of, "unknown value %s", field.Quote(text))
		}
	case *bool:
		yes, words := "true", []string{"true", "false"}
		if enum != "" {
			words = strings.Split(enum, ",")
			yes = words[1]
		}
		if !slices.Contains(words, text) {
			return field.Choice("", text, words, "found %s", field.Quote(text))
		}
		*p = text == yes
	case *uint8:
		i, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return field.New("", "found %s, expected a whole number from 0 to 255", field.Quote(text))
		}
		*p = uint8(i)
	case *uint:
		i, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return field.New("", "found %s, expected a whole number from 0", field.Quote(text))
		}
		*p = uint(i)
	case *int:
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return field.New("", "%s is not a whole number up to %d",
				field.Quote(text), 1<<31-1)
		}
		*p = int(i)
	case *int64:
		i, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return field.New("", "%s is not a whole number up to %d",
				field.Quote(text), 1<<31-1)
		}
		*p = i
	case *uint64:
		i, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return field.New("", "found %s, expected a whole number from 0", field.Quote(text))
		}
		*p = i
	case *float64:
		return into(p, text, number)
	case *unit.Share:
		percent, err := number(text)
		*p = unit.Share(percent / 100)
		return err
	default:
		panic("scenario: no parser for " + v.Type().String())
	}
	return nil
}

// number parses a number, which may have a percent sign.
func number(text string) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || f != f || f > 1e300 || f < -1e300 {
		return 0, field.New("", "%s is not a number", field.Quote(text))
	}
	return f, nil
}

func into[T any](p *T, text string, parse func(string) (T, error)) error {
	x, err := parse(text)
	if err != nil {
		return err
	}
	*p = x
	return nil
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
	return field.Quote(n.String())
}
