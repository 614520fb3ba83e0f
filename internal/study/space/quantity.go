package space

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"railyard/unit"
)

// Kind is the kind of a value: a word, or a quantity with its unit.
type Kind uint8

// Kinds of values.
const (
	Word Kind = iota
	Number
	Size   // in bytes
	Time   // in picoseconds
	Rate   // in bit/s
	Length // in millimetres
)

// Suffix returns the suffix of the name of a column in base units.
func (k Kind) Suffix() string { return [...]string{"", "", "_bytes", "_ps", "_bps", "_mm"}[k] }

// Quantity returns a value in the base unit of its kind; Word for a string that is not a quantity.
func Quantity(s string) (float64, Kind) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x, Number
	}
	if v, err := unit.ParseBytes(s); err == nil {
		return float64(v), Size
	}
	if v, err := unit.ParseTime(s); err == nil {
		return float64(v), Time
	}
	if v, err := unit.ParseRate(s); err == nil {
		return float64(v), Rate
	}
	if v, err := unit.ParseLength(s); err == nil {
		return float64(v), Length
	}
	return 0, Word
}

// Compare orders values: words by letter before quantities by size.
func Compare(a, b string) int {
	x, k := Quantity(a)
	y, l := Quantity(b)
	if k == l && k != Word && x != y {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// written formats a quantity for --set.
func written(x float64, k Kind) string {
	switch n := int64(math.Round(x)); k {
	case Size:
		return unit.Bytes(n).String()
	case Time:
		return unit.Time(n).String()
	case Rate:
		return unit.Rate(n).String()
	case Length:
		if n%10 == 0 || n >= 1000 {
			return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + "m"
		}
		return strconv.FormatInt(n, 10) + "mm"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
