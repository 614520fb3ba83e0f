package scenario

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// bound is the range of one field, written as in a scenario. The schema and Resolve both use it. Rules across
// fields are checked where they apply.
type bound struct {
	key      string // [] matches any index, * any name
	min, max string
	zero     bool   // whether 0 is also accepted: not set, or as defined in its doc
	of       string // accepted values, instead of a range
}

// The bounds of tags keep sums far from the limits of 64 bits of picoseconds (106 days) and bytes: rates of 1Mbps
// to 100Tbps, times up to 3600s, sizes up to 100000GB, memory of a switch up to 2000MB.

// bounds has a row for every number of a scenario except seed; a test checks that. Fields have their bounds in tags:
// range:"1,64", range:"0|1,64" if 0 is accepted too, of:"2, 3" for a list. Parameters of congestion control, load
// balancing and transports have bounds in their definitions; link rates differ in whether 0 is accepted.
var bounds = slices.Concat(ccBounds(), lbBounds(), protocolBounds(), []bound{
	{key: "fabric.host_link.rate", min: "1Mbps", max: "100Tbps"},
	{key: "fabric.fabric_link.rate", min: "1Mbps", max: "100Tbps", zero: true},
	{key: "fabric.far_link.rate", min: "1Mbps", max: "100Tbps", zero: true},
}, tagged(reflect.TypeFor[File](), ""))

// tagged returns the rows of a block, whose fields have their bounds in tags.
func tagged(t reflect.Type, row string) (rows []bound) {
	t, row = innermost(t, row)
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range keys(t) {
		at := field.Join(row, name(f))
		rows = append(rows, tagged(f.Type, at)...)
		low, high, ok := strings.Cut(f.Tag.Get("range"), ",")
		of := f.Tag.Get("of")
		if _, at = innermost(f.Type, at); ok || of != "" {
			low, zero := strings.CutPrefix(low, "0|")
			rows = append(rows, bound{key: at, min: low, max: high, zero: zero, of: of})
		}
	}
	return rows
}

// innermost returns the type of the innermost elements of lists, maps and pointers. It also returns row with the
// notation of each level appended.
func innermost(t reflect.Type, row string) (reflect.Type, string) {
	for {
		switch t.Kind() {
		case reflect.Slice:
			row += "[]"
		case reflect.Array, reflect.Map:
			row += ".*"
		case reflect.Pointer:
		default:
			return t, row
		}
		t = t.Elem()
	}
}

// bounded is the table by key.
var bounded = func() map[string]*bound {
	m := map[string]*bound{}
	for i := range bounds {
		m[bounds[i].key] = &bounds[i]
	}
	return m
}()

var inList, inArray = regexp.MustCompile(`\[\d+\]`), regexp.MustCompile(`\.\d+(\.|$)`)

// rowOf is the row of a key.
func rowOf(key string) string {
	return inArray.ReplaceAllString(inList.ReplaceAllString(key, "[]"), ".*$1")
}

// accepted describes the accepted values for the schema: 2 or 3, or between 1 and 64.
func (b *bound) accepted() string {
	if b.of != "" {
		if i := strings.LastIndex(b.of, ", "); i >= 0 {
			return b.of[:i] + " or " + b.of[i+2:]
		}
		return b.of
	}
	s := fmt.Sprintf("between %s and %s", b.min, b.max)
	if b.zero {
		s = "0 or " + s
	}
	return s
}

// refusal describes why a value is not accepted.
func (b *bound) refusal(found string) string {
	if b.of != "" {
		return found + " is not " + b.accepted()
	}
	s := fmt.Sprintf("%s is out of range %s–%s", found, b.min, b.max)
	if b.zero {
		s += ", or 0"
	}
	return s
}

// holds reports whether a number is accepted.
func (b *bound) holds(v reflect.Value) bool {
	if b.zero && v.IsZero() {
		return true
	}
	read := func(text string) reflect.Value {
		x := reflect.New(v.Type()).Elem()
		if err := setScalar(x, text, ""); err != nil {
			// the table is wrong: our bug
			panic("scenario: the bound " + text + " of " + b.key + ": " + err.Error())
		}
		return x
	}
	if b.of != "" {
		for _, text := range strings.Split(b.of, ", ") {
			if v.Equal(read(text)) {
				return true
			}
		}
		return false
	}
	switch {
	case v.CanFloat():
		return v.Float() >= read(b.min).Float() && v.Float() <= read(b.max).Float()
	case v.CanUint():
		return v.Uint() >= read(b.min).Uint() && v.Uint() <= read(b.max).Uint()
	}
	return v.Int() >= read(b.min).Int() && v.Int() <= read(b.max).Int()
}

// inBounds checks every number of a scenario against its row.
func (d *Document) inBounds() error {
	var faults field.List
	numbers(reflect.ValueOf(&d.File).Elem(), "", "", func(v reflect.Value, key, row string) {
		b := bounded[row]
		if b == nil || b.holds(v) || len(faults) == maxFaults {
			return
		}
		found := fmt.Sprint(v.Interface())
		switch x := v.Interface().(type) {
		case Length:
			found = x.String()
		case unit.Time:
			if x == 0 {
				found = "0s"
			}
		}
		of := *b
		of.zero = b.zero && d.File.Fabric.takesZero(key)
		says := of.refusal(found)
		if v.IsZero() && !d.says(d.byName(key)) {
			says = "is missing; accepted: " + of.accepted()
		}
		faults = append(faults, field.New(key, "%s", says))
	})
	return faults.Err()
}

// numbers visits every number that is present, with its key and its row's key.
func numbers(v reflect.Value, key, row string, visit func(v reflect.Value, key, row string)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			numbers(v.Elem(), key, row, visit)
		}
	case reflect.Struct:
		for _, f := range keys(v.Type()) {
			if optional(f) && at(v, f).IsZero() {
				continue
			}
			numbers(at(v, f), field.Join(key, name(f)), field.Join(row, name(f)), visit)
		}
	case reflect.Map:
		for _, k := range mapKeys(v) {
			numbers(v.MapIndex(reflect.ValueOf(k)), field.Join(key, k), field.Join(row, "*"), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(v.Index(i), field.At(key, i), row+"[]", visit)
		}
	case reflect.Array:
		for i, e := range elements(v) {
			numbers(e, field.Join(key, strconv.Itoa(i)), row+".*", visit)
		}
	case reflect.Int, reflect.Int64, reflect.Float64, reflect.Uint8, reflect.Uint:
		visit(v, key, row)
	}
}
