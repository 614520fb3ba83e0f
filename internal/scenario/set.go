package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/site"
	"railyard/unit"
)

// maxSets is the maximum number of overrides: each requires a search for its key.
const maxSets = 1000

// set applies one override.
func (d *Document) set(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return &field.Error{File: field.Set(s), Msg: "expected key=value, as in lb=spray or transport.qps=4"}
	}
	var err error
	if key == "transport" {
		d.presetSet = true
		err = d.preset(value, false)
	} else {
		err = d.put(key, value)
	}
	for _, e := range field.All(err) {
		e.File = field.Set(s)
	}
	return err
}

// put replaces the value of a key.
func (d *Document) put(key, value string) error {
	v := reflect.ValueOf(&d.File).Elem()
	parts := strings.Split(key, ".")
	enum := ""
	for i, p := range parts {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			switch v.Interface().(type) { // an empty one measures nothing, or limits nothing
			case *Calibration, *Reorder:
				if v.IsNil() {
					v.Set(reflect.New(v.Type().Elem()))
				}
			}
			if v.IsNil() {
				return field.New(key, "%s is not part of this scenario", strings.Join(parts[:i], "."))
			}
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			begin(v)
			name, place, listed := strings.Cut(p, "[")
			f, ok := find(v.Type(), name)
			if !ok {
				return unknownKey(key, p, v.Type())
			}
			enum = enumOf(f)
			if v = at(v, f); !listed {
				continue
			}
			k, err := strconv.Atoi(strings.TrimSuffix(place, "]"))
			if v.Kind() != reflect.Slice || err != nil || !strings.HasSuffix(place, "]") || k < 0 ||
				k >= v.Len() {
				return field.New(key, "unknown name %s; entries of lists are named like flows[0] and have to be in the file", field.Clip(p))
			}
			v = v.Index(k)
		case reflect.Array:
			var err error
			if v, err = slot(v, key, p); err != nil {
				return err
			}
			enum = ""
		case reflect.Map:
			return putInMap(v, key, p, parts[i+1:], value)
		case reflect.Slice:
			if pairs, ok := v.Addr().Interface().(*site.Pairs); ok {
				return putInPairs(pairs, key, p, parts[i+1:], value)
			}
			if list := strings.Join(parts[:i], "."); !named(v.Type().Elem()) {
				return field.New(key, "%s is a list: its entries are %[1]s[0] and so on", list)
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
	return field.Choice(key, part, names(t), "unknown key %s%s", field.Quote(part), foreign(key)).ListedBy("railyard schema")
}

func putLeaf(v reflect.Value, key, value, enum string) error {
	if v.Kind() == reflect.Pointer && v.Type().Elem().Kind() != reflect.Struct { // a value that may be absent
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if p, ok := v.Addr().Interface().(*site.Pairs); ok {
		return field.New(key, "the key holds several values (%s); name one of them", p)
	}
	switch v.Kind() {
	case reflect.Slice:
		if value == "[]" {
			v.SetZero()
			return nil
		}
		return field.New(key, "%s", listed(key, v))
	case reflect.Struct, reflect.Interface:
		if v.Kind() == reflect.Interface { // the block cc
			v = reflect.Indirect(v.Elem())
		}
		return field.New(key, "the key holds several values; name one of them: %s", several(key, v.Type()))
	case reflect.Array, reflect.Map, reflect.Pointer:
		return field.New(key, "the key holds several values; name one of them")
	}
	return field.Under(key, setAt(key, v, value, enum))
}

// several returns the first keys of a struct, for an error.
func several(key string, t reflect.Type) string {
	const few = 8
	keys := names(t)
	all := key + "." + strings.Join(keys[:min(len(keys), few)], ", "+key+".")
	if len(keys) > few {
		return fmt.Sprintf("%s and %d more", all, len(keys)-few)
	}
	return all
}

// listed describes how values of a list are named.
func listed(key string, v reflect.Value) string {
	if v.Len() == 0 {
		return "the key is a list, which is in the file: --set changes its entries, and it has none; accepted: [], an empty list"
	}
	first := key + "[0]"
	switch e := v.Index(0); {
	case named(e.Type()):
		first = key + "." + e.FieldByName("Name").String() + ".KEY"
	case e.Kind() == reflect.Struct:
		first += ".KEY"
	}
	return fmt.Sprintf("the key is a list of %s; name a value in it, as %s=VALUE, empty it with [], or change the list in the file", unit.Plural(v.Len(), "entry"), first)
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
		leaf, enum = at(item, f), enumOf(f)
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

// putInPairs changes the counts of a described fabric's locations, so that a large cluster can be run as a small
// one: fabric.nodes.host.per.segment=2. Keys of a link rule's match may be added: fabric.cables[1].match.rail=nic.
// Other new keys are rejected, because they would usually be typing errors.
func putInPairs(pairs *site.Pairs, key, name string, rest []string, value string) error {
	if len(rest) > 0 {
		return field.New(key, "%s has no keys below it", field.Clip(name))
	}
	var has []string
	for i := range *pairs {
		p := &(*pairs)[i]
		if p.Key == name {
			p.Value = value
			return nil
		}
		has = append(has, p.Key)
	}
	if strings.HasSuffix(key, ".match."+name) {
		*pairs = append(*pairs, site.Pair{Key: name, Value: value})
		return nil
	}
	return field.Choice(key, name, has, "unknown name %s", field.Quote(name))
}

// override returns the last --set that changed a key or one below it, if any.
func (d *Document) override(key string) (set string, ok bool) {
	for _, s := range d.Sets {
		if k, _, _ := strings.Cut(s, "="); k == key || strings.HasPrefix(k, key+".") {
			set, ok = s, true
		}
	}
	return set, ok
}

// says reports whether the file or an override sets a key.
func (d *Document) says(key string) bool {
	_, ok := d.b.where[key]
	return ok || slices.ContainsFunc(d.Sets, func(s string) bool { return strings.HasPrefix(s, key+"=") })
}

// ofZero is the part of a key's description that says what 0 means.
var ofZero, zero = regexp.MustCompile(`(?:^|; )0[A-Za-z]*: ([^;]+)`), regexp.MustCompile(`^0+(\.0*)?[A-Za-z/%]*$`)

// OfZero returns what a value 0 of a key means, as the key's description has it. "": nothing else than 0, or another
// value.
func OfZero(key, value string) string {
	if !zero.MatchString(value) {
		return ""
	}
	t, doc := reflect.TypeFor[File](), ""
	for part := range strings.SplitSeq(key, ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Struct:
			name, _, _ := strings.Cut(part, "[")
			f, ok := find(t, name)
			if !ok {
				return ""
			}
			t, doc = f.Type, f.Tag.Get("doc")
			if t.Kind() == reflect.Slice && name != part {
				t = t.Elem()
			}
		case reflect.Array, reflect.Map, reflect.Slice:
			t, doc = t.Elem(), ""
		default:
			return ""
		}
	}
	if m := ofZero.FindStringSubmatch(doc); m != nil {
		return m[1]
	}
	return ""
}
