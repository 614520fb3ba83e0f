package scenario

import (
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
)

// Blocks are Go structs. Their tags define each key: its name (yaml), the accepted words (enum; of a bool the one
// for false, then the one for true), its range (range) and its meaning (doc). Decoding, --set, the schema, bounds
// and the list of values all walk them through these functions.

// keys lists the named fields of a block. Keys of an embedded or inline block belong to the outer block.
func keys(t reflect.Type) []reflect.StructField { return blockOf(t).all }

// block holds the keys of a struct.
type block struct {
	all []reflect.StructField
	at  map[string]int // position of each key
}

// blocks are the cached blocks of a scenario. Resolving one looks up some thousand keys, and a study resolves each
// trial.
var blocks = blocksIn(reflect.TypeFor[File](), map[reflect.Type]*block{})

// blocksIn adds the blocks of a type.
func blocksIn(t reflect.Type, to map[reflect.Type]*block) map[reflect.Type]*block {
	if made := madeTypes[t]; made != nil {
		t = made
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return blocksIn(t.Elem(), to)
	case reflect.Struct:
		if to[t] != nil {
			return to
		}
		to[t] = list(t)
		for _, f := range to[t].all {
			blocksIn(f.Type, to)
		}
	}
	return to
}

func blockOf(t reflect.Type) *block {
	if b := blocks[t]; b != nil {
		return b
	}
	return list(t)
}

// list lists the keys of a block.
func list(t reflect.Type) *block {
	b := &block{at: map[string]int{}}
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case inline(f):
			for _, inner := range list(embedded(f)).all {
				inner.Index = append([]int{i}, inner.Index...)
				b.all = append(b.all, inner)
			}
		case name(f) != "-":
			b.all = append(b.all, f)
		}
	}
	for i, f := range slices.Backward(b.all) {
		b.at[name(f)] = i
	}
	return b
}

// embedded returns the block of an inline field: its type, or the one built from a registry.
func embedded(f reflect.StructField) reflect.Type {
	if made := madeTypes[f.Type]; made != nil {
		return made
	}
	return f.Type
}

// name is the key of a field.
func name(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// inline reports whether the keys of a field's block belong to the outer block.
func inline(f reflect.StructField) bool {
	return f.Anonymous && name(f) == "" || f.Tag.Get("yaml") == ",inline"
}

// optional reports whether the zero value of a field means unset.
func optional(f reflect.StructField) bool { return strings.HasSuffix(f.Tag.Get("yaml"), ",omitzero") }

// names are the keys of a block.
func names(t reflect.Type) (all []string) {
	for _, f := range keys(t) {
		all = append(all, name(f))
	}
	return all
}

// find returns the field of a block that has a key.
func find(t reflect.Type, key string) (f reflect.StructField, ok bool) {
	b := blockOf(t)
	if i, ok := b.at[key]; ok {
		return b.all[i], true
	}
	return f, false
}

// member returns the value of a key of a block, which must have it.
func member(v reflect.Value, key string) reflect.Value {
	f, _ := find(v.Type(), key)
	return at(v, f)
}

// at returns the value of a field of a block. An embedded block may be one that is built from a registry.
func at(v reflect.Value, f reflect.StructField) reflect.Value {
	for _, i := range f.Index {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// begin sets the default values of a block that is present.
func begin(v reflect.Value) {
	if s, ok := v.Addr().Interface().(interface{ Silent() }); ok && v.IsZero() {
		s.Silent()
	}
}

// unnamed is the element of an array that no key names.
func unnamed(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if u, ok := v.Interface().(interface{ Unnamed() }); ok {
		u.Unnamed()
	}
	return v.Elem()
}

// elements lists the elements of an array that differ from the array's default element.
func elements(v reflect.Value) iter.Seq2[int, reflect.Value] {
	none := unnamed(v.Type().Elem())
	return func(yield func(int, reflect.Value) bool) {
		for i := range v.Len() {
			if e := v.Index(i); !e.Equal(none) && !yield(i, e) {
				return
			}
		}
	}
}

// slot finds the element of an array that a number names. An element that is named for the first time begins empty.
func slot(v reflect.Value, key, number string) (reflect.Value, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= v.Len() {
		return v, field.New(key, "unknown index %s; accepted: 0 to %d", field.Quote(number), v.Len()-1)
	}
	if v = v.Index(n); v.Equal(unnamed(v.Type())) {
		v.SetZero()
	}
	return v, nil
}
