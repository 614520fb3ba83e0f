package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/site"
)

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
				if ofSite(v.Type()) && at(v, f).IsZero() {
					continue // not said, and 0 is no value of it
				}
				walk(at(v, f), field.Join(key, name(f)))
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
