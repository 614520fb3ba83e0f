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
	add := func(key, value string) {
		paths = append(paths, key)
		values[key] = value
	}
	var walk func(v reflect.Value, key string)
	walk = func(v reflect.Value, key string) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem(), key)
			}
		case reflect.Struct:
			for _, f := range keys(v.Type()) {
				of, key := at(v, f), field.Join(key, name(f))
				if (optional(f) || ofSite(v.Type())) && of.IsZero() {
					continue // unset, and 0 is not a valid value
				}
				if no, yes, ok := strings.Cut(enumOf(f), ","); ok && of.Kind() == reflect.Bool {
					add(key, map[bool]string{false: no, true: yes}[of.Bool()])
					continue
				}
				walk(of, key)
			}
		case reflect.Array:
			for i, e := range elements(v) {
				walk(e, field.Join(key, strconv.Itoa(i)))
			}
		case reflect.Map:
			for _, k := range mapKeys(v) {
				walk(v.MapIndex(reflect.ValueOf(k)), field.Join(key, k))
			}
		case reflect.Slice:
			if p, ok := v.Interface().(site.Pairs); ok {
				add(key, p.String())
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
			add(key, s)
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
