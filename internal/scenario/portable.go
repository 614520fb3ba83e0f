package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// portable is a document as JSON, with everything that Resolve reads. File is the tree of values by position, which
// another process of the same version reads.
type portable struct {
	Text, Preset string
	Sets, Given  []string
	PresetSet    bool
	Where        map[string][2]int // line and column of a key
	File         any
}

// Path returns the file that the document was read from.
func (d *Document) Path() string { return d.b.file }

// Portable returns a document, with the changes that were made after it was read, for UnpackDocument. Equal documents
// have equal encodings, under any file names.
func (d *Document) Portable() ([]byte, error) {
	x := portable{Text: d.Text, Preset: d.Preset, Sets: d.Sets, Given: d.given, PresetSet: d.presetSet,
		Where: map[string][2]int{}, File: pack(reflect.ValueOf(d.File))}
	for key, p := range d.b.where {
		x.Where[key] = [2]int{p.line, p.col}
	}
	return json.Marshal(x)
}

// UnpackDocument returns the document encoded by Portable, with a file name for errors.
func UnpackDocument(name string, text []byte) (d *Document, err error) {
	var x portable
	r := json.NewDecoder(bytes.NewReader(text))
	r.UseNumber()
	if err := r.Decode(&x); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil { // input that Portable did not write
			err = fmt.Errorf("is not a packed scenario: %v", p)
		}
	}()
	d = &Document{Text: x.Text, Preset: x.Preset, Sets: x.Sets, given: x.Given, presetSet: x.PresetSet,
		b: binder{file: name, where: map[string]place{}}}
	for key, p := range x.Where {
		d.b.where[key] = place{p[0], p[1]}
	}
	unpack(x.File, reflect.ValueOf(&d.File).Elem())
	return d, nil
}

// pack returns a value in its JSON form. A pointer, an interface and other types that may be nil become a list or
// nil.
func pack(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return []any{pack(v.Elem())}
	case reflect.Interface: // a block built from a registry: a struct, or a pointer to it
		if v.IsNil() {
			return nil
		}
		return []any{v.Elem().Kind() == reflect.Pointer, pack(reflect.Indirect(v.Elem()))}
	case reflect.Struct:
		all := []any{}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // unexported fields are set by Resolve
				all = append(all, pack(v.Field(i)))
			}
		}
		return all
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil
		}
		all := []any{}
		for i := range v.Len() {
			all = append(all, pack(v.Index(i)))
		}
		return all
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		all := []any{}
		for _, k := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int {
			return strings.Compare(a.String(), b.String())
		}) {
			all = append(all, []any{k.String(), pack(v.MapIndex(k))})
		}
		return all
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'x', -1, 64)
	}
	return v.Interface()
}

// unpack sets v to a value that pack has returned.
func unpack(x any, v reflect.Value) {
	list, _ := x.([]any)
	switch v.Kind() {
	case reflect.Pointer:
		if x != nil {
			v.Set(reflect.New(v.Type().Elem()))
			unpack(list[0], v.Elem())
		}
	case reflect.Interface:
		if x == nil {
			return
		}
		made := reflect.New(madeTypes[v.Type()])
		unpack(list[1], made.Elem())
		if !list[0].(bool) {
			made = made.Elem()
		}
		v.Set(made)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				unpack(list[0], v.Field(i))
				list = list[1:]
			}
		}
	case reflect.Array:
		for i := range list {
			unpack(list[i], v.Index(i))
		}
	case reflect.Slice:
		if x != nil {
			v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
			for i := range list {
				unpack(list[i], v.Index(i))
			}
		}
	case reflect.Map:
		if x != nil {
			v.Set(reflect.MakeMap(v.Type()))
			for _, pair := range list {
				e := reflect.New(v.Type().Elem()).Elem()
				unpack(pair.([]any)[1], e)
				v.SetMapIndex(reflect.ValueOf(pair.([]any)[0]).Convert(v.Type().Key()), e)
			}
		}
	case reflect.Bool:
		v.SetBool(x.(bool))
	case reflect.String:
		v.SetString(x.(string))
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(x.(string), 64)
		if err != nil {
			panic(err)
		}
		v.SetFloat(f)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := x.(json.Number).Int64()
		if err != nil {
			panic(err)
		}
		v.SetInt(n)
	default:
		n, err := strconv.ParseUint(x.(json.Number).String(), 10, 64)
		if err != nil {
			panic(err)
		}
		v.SetUint(n)
	}
}
