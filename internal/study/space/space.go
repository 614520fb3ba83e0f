// Package space describes the points of a study: parameters with lists or ranges of values (Param), zipped or
// conditional ones, requirements that points meet (Space), and the samplers that choose points (Samplers, one file
// each). A point is each parameter's value, in the form of --set.
package space

import (
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/unit"
)

// Param is a key with the values that a study gives it: a list or a range.
type Param struct {
	Key   string
	List  []string
	Range *Range
	Zip   string // parameters with the same word advance together; "" varies alone
	When  string // the condition under which the parameter is set; "" always
}

// levels returns the number of values, 0 for a continuous range.
func (p *Param) levels() int {
	if p.Range != nil {
		return p.Range.Steps()
	}
	return len(p.List)
}

// at returns the value at u of 0 to 1.
func (p *Param) at(u float64) string {
	if p.Range != nil {
		return p.Range.At(u)
	}
	return p.List[min(int(u*float64(len(p.List))), len(p.List)-1)]
}

// Numeric returns the kind of the values, Word unless all of them are quantities of one kind.
func (p *Param) Numeric() Kind {
	if p.Range != nil {
		return p.Range.kind
	}
	_, first := Quantity(p.List[0])
	for _, v := range p.List {
		if _, k := Quantity(v); k != first {
			return Word
		}
	}
	return first
}

// Levels returns the values in their order; nil for a continuous range.
func (p *Param) Levels() []string {
	if p.Range != nil {
		return p.Range.levels
	}
	return p.List
}

// Point contains the value of each parameter, "" for one excluded by its condition.
type Point []string

// Space contains the parameters of a study and the requirements on its points.
type Space struct {
	Params []Param

	axes    [][]int // parameters that vary together
	whens   []*Condition
	require []*Condition
	base    func(key string) (string, bool)
}

// New checks parameters and conditions. base returns the scenario's own value of a key. Errors have the paths
// vary[i] and require[i].
func New(params []Param, require []string, base func(key string) (string, bool)) (*Space, error) {
	s := &Space{Params: params, base: base}
	zips := map[string]int{}
	for i := range params {
		p := &params[i]
		at := field.At("vary", i)
		switch {
		case p.Key == "":
			return nil, field.New(at+".key", "expected the key of a scenario, as in lb or switch.queues.3.xoff")
		case slices.ContainsFunc(params[:i], func(o Param) bool { return o.Key == p.Key }):
			return nil, field.New(at+".key", "%s is varied twice", field.Quote(p.Key))
		case len(p.List) == 0 && p.Range == nil:
			return nil, field.New(at, "%s has no values; accepted: a list of values, or a range", field.Clip(p.Key))
		}
		axis, joined := zips[p.Zip]
		if p.Zip == "" || !joined {
			zips[p.Zip] = len(s.axes)
			s.axes = append(s.axes, []int{i})
			continue
		}
		first := &params[s.axes[axis][0]]
		if p.levels() != first.levels() || p.levels() == 0 {
			return nil, field.New(at, "%s has %s, %s has %s: zipped parameters have equally many", field.Clip(p.Key),
				counted(p.levels()), field.Clip(first.Key), counted(first.levels()))
		}
		s.axes[axis] = append(s.axes[axis], i)
	}
	return s, s.conditions(require)
}

// counted describes a number of values.
func counted(levels int) string {
	if levels == 0 {
		return "a continuous range"
	}
	return unit.Plural(levels, "value")
}

// conditions parses the parameters' conditions and the requirements.
func (s *Space) conditions(require []string) error {
	for i, p := range s.Params {
		var c *Condition
		if p.When != "" {
			var err error
			if c, err = s.condition(p.When); err != nil {
				return field.Under(field.At("vary", i)+".when", err)
			}
		}
		s.whens = append(s.whens, c)
	}
	for i, text := range require {
		c, err := s.condition(text)
		if err != nil {
			return field.Under(field.At("require", i), err)
		}
		s.require = append(s.require, c)
	}
	return nil
}

// At returns the point at coordinates of 0 to 1, one for each axis.
func (s *Space) At(u []float64) Point {
	point := make(Point, len(s.Params))
	for axis, params := range s.axes {
		for _, i := range params {
			point[i] = s.Params[i].at(u[axis])
		}
	}
	for i, c := range s.whens {
		if c != nil && !c.holds(s.lookup(point)) {
			point[i] = ""
		}
	}
	return point
}

// Accepts reports whether a point meets all requirements.
func (s *Space) Accepts(p Point) bool {
	of := s.lookup(p)
	for _, c := range s.require {
		if !c.holds(of) {
			return false
		}
	}
	return true
}

// lookup returns the values at a point, otherwise the scenario's.
func (s *Space) lookup(p Point) func(key string) (string, bool) {
	return func(key string) (string, bool) {
		for i := range s.Params {
			if s.Params[i].Key == key && p[i] != "" {
				return p[i], true
			}
		}
		return s.base(key)
	}
}

// varied reports whether a key is one of the parameters.
func (s *Space) varied(key string) bool {
	return slices.ContainsFunc(s.Params, func(p Param) bool { return p.Key == key })
}

// Axes returns the names of the axes: their keys, combined by + if they are zipped.
func (s *Space) Axes() (names []string) {
	for _, params := range s.axes {
		var keys []string
		for _, i := range params {
			keys = append(keys, s.Params[i].Key)
		}
		names = append(names, strings.Join(keys, "+"))
	}
	return names
}

// Constrained reports whether some points may not be accepted.
func (s *Space) Constrained() bool { return len(s.require) > 0 }
