package param

import (
	"fmt"
	"reflect"
	"strings"
)

// Table builds an algorithm's parameters from a struct; the tags of its fields hold all properties:
//
//	Gap unit.Time `yaml:"gap" range:"0|1us,1s" default:"5us" doc:"pause between probes; 0s: none"`
//
// yaml is the name and doc the meaning. range is what is accepted, from,to as in a scenario and with 0| also 0; of
// lists it instead ("0, 4, 8"). at:"line" limits a rate to that of the line, by:"simulated" marks what only simulated
// NICs read, unless:"flag" what has no effect while that flag is true. The type gives the kind. Embedded structs belong
// to it, and fields without yaml do not.
type Table[T any] struct{ fields []described }

// described is a parameter and the place of its field.
type described struct {
	Param
	at  []int
	tag reflect.StructTag
}

// In describes the parameters of T, in the order of its fields. An invalid tag panics.
func In[T any]() Table[T] {
	var t Table[T]
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name := f.Tag.Get("yaml"); name != "" {
			t.fields = append(t.fields, described{Param{Name: name, Doc: f.Tag.Get("doc"), Kind: kindOf(f.Type),
				Of: f.Tag.Get("of"), Line: f.Tag.Get("at") == "line", Simulated: f.Tag.Get("by") == "simulated",
				Unless: f.Tag.Get("unless")}, f.Index, f.Tag})
			p := &t.fields[len(t.fields)-1].Param
			bounds := f.Tag.Get("range")
			bounds, p.Zero = strings.CutPrefix(bounds, "0|")
			p.Min, p.Max, _ = strings.Cut(bounds, ",")
		}
	}
	return t
}

// kindOf is the kind of a field's values.
func kindOf(t reflect.Type) Kind {
	for k := Number; k <= Speed; k++ {
		if k.Type() == t {
			return k
		}
	}
	panic(fmt.Sprintf("param: no kind has values of %v", t))
}

// Params lists the descriptions.
func (t Table[T]) Params() (params []Param) {
	for _, f := range t.fields {
		params = append(params, f.Param)
	}
	return params
}

// Defaults are the values that the fields' tags give.
func (t Table[T]) Defaults() Values {
	v := Values{}
	for _, f := range t.fields {
		x, err := f.Kind.parse(f.tag.Get("default"))
		if err != nil {
			panic(fmt.Sprintf("param: the default of %s: %v", f.Name, err))
		}
		v[f.Name] = x
	}
	return v
}

// Values writes a struct's fields under their names.
func (t Table[T]) Values(s T) Values {
	v := Values{}
	for _, f := range t.fields {
		v[f.Name] = reflect.ValueOf(s).FieldByIndex(f.at).Interface()
	}
	return v
}

// Read makes a struct of values; further values are ignored.
func (t Table[T]) Read(v Values) (s T) {
	for _, f := range t.fields {
		x := reflect.ValueOf(v[f.Name])
		if !x.IsValid() || x.Type() != f.Kind.Type() {
			panic(fmt.Sprintf("param: %s is %T", f.Name, v[f.Name])) // the values do not fit the table
		}
		reflect.ValueOf(&s).Elem().FieldByIndex(f.at).Set(x)
	}
	return s
}
