package param

import (
	"fmt"
	"reflect"

	"railyard/unit"
)

// Param describes one parameter.
type Param struct {
	Name, Doc string
	Kind      Kind
	Min, Max  string // bounds, written as in a scenario; none for a Flag
	Zero      bool   // also 0
	Of        string // instead of Min and Max, the list of accepted values: 0, 4, 8
	Line      bool   // whether the value is at most the line rate
	Simulated bool   // whether only simulated NICs read it
	Unless    string // a flag of the same table: the parameter has no effect while it is true
}

// Kind is the type of a parameter's value and with it its unit.
type Kind uint8

// Kinds of parameters and the Go types of their values.
const (
	Number   Kind = iota // float64
	Count                // int
	Flag                 // bool
	Duration             // unit.Time
	Size                 // unit.Bytes
	Speed                // unit.Rate
)

// Type is the Go type of a kind's values.
func (k Kind) Type() reflect.Type {
	return [...]reflect.Type{reflect.TypeFor[float64](), reflect.TypeFor[int](), reflect.TypeFor[bool](),
		reflect.TypeFor[unit.Time](), reflect.TypeFor[unit.Bytes](), reflect.TypeFor[unit.Rate]()}[k]
}

// Values are parameters by name, each of its kind's type.
type Values map[string]any

// Value returns a parameter that there is.
func Value[T any](v Values, name string) T {
	x, ok := v[name].(T)
	if !ok {
		panic(fmt.Sprintf("param: %s is %T", name, v[name])) // a constructor does not match its own table
	}
	return x
}

// Fits reports whether values match the parameters in number and type.
func (v Values) Fits(params []Param) error {
	for _, p := range params {
		if x, ok := v[p.Name]; !ok || reflect.TypeOf(x) != p.Kind.Type() {
			return fmt.Errorf("%s is %T, want %v", p.Name, x, p.Kind.Type())
		}
	}
	if len(v) != len(params) {
		return fmt.Errorf("%d values for %d parameters", len(v), len(params))
	}
	return nil
}
