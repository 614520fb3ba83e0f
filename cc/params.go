package cc

import "railyard/param"

// Param describes one parameter of an algorithm. Its key in a scenario is
// cc.ALGORITHM.NAME.
type Param = param.Param

// Kinds of parameters and the Go types of their values.
const (
	Number   = param.Number   // float64
	Count    = param.Count    // int
	Flag     = param.Flag     // bool
	Duration = param.Duration // unit.Time
	Size     = param.Size     // unit.Bytes
	Speed    = param.Speed    // unit.Rate
)

// Values are an algorithm's parameters by name, each of its kind's type.
type Values = param.Values

// Value returns a parameter that the algorithm has.
func Value[T any](v Values, name string) T { return param.Value[T](v, name) }
