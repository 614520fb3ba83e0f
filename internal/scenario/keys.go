package scenario

import "reflect"

// Blocks are Go structs, whose tags say all there is to know of a key: its name (yaml), the
// words it takes (enum) and what it means (doc). Decoding, --set, the schema, bounds and the
// list of values all walk them through these functions.

// keys are the fields of a block that have a name; those of an embedded block are the
// block's own.
func keys(t reflect.Type) (all []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := f.Tag.Get("yaml"); {
		case f.Anonymous && name == "":
			for _, inner := range keys(embedded(f)) {
				inner.Index = append([]int{i}, inner.Index...)
				all = append(all, inner)
			}
		case name != "-":
			all = append(all, f)
		}
	}
	return all
}

// embedded is the block of an embedded field: its type, or the one made from a registry.
func embedded(f reflect.StructField) reflect.Type {
	if made := madeTypes[f.Type]; made != nil {
		return made
	}
	return f.Type
}

// name is the key of a field.
func name(f reflect.StructField) string { return f.Tag.Get("yaml") }

// names are the keys of a block.
func names(t reflect.Type) (all []string) {
	for _, f := range keys(t) {
		all = append(all, name(f))
	}
	return all
}

// find returns the field of a block that has a key. It does not go by keys, which would list all fields each
// time: to resolve a scenario is to find some thousand.
func find(t reflect.Type, key string) (f reflect.StructField, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := name(f); {
		case f.Anonymous && name == "":
			if inner, ok := find(embedded(f), key); ok {
				inner.Index = append([]int{i}, inner.Index...)
				return inner, true
			}
		case name == key && name != "-":
			return f, true
		}
	}
	return f, false
}

// member is the value of a key of a block that has it.
func member(v reflect.Value, key string) reflect.Value {
	f, _ := find(v.Type(), key)
	return at(v, f)
}

// at is the value of a field of a block. An embedded block may be one that is made from a registry.
func at(v reflect.Value, f reflect.StructField) reflect.Value {
	for _, i := range f.Index {
		for v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}
