package param

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/unit"
)

// Parse reads a value within the parameter's bounds.
func (p *Param) Parse(s string) (any, error) {
	x, err := p.Kind.parse(s)
	if err != nil || p.Kind == Flag {
		return x, err
	}
	if p.Of != "" {
		all := strings.Split(p.Of, ", ")
		for _, text := range all {
			if y, err := p.Kind.parse(text); err != nil {
				panic(fmt.Sprintf("param: %s accepts %q", p.Name, p.Of))
			} else if x == y {
				return x, nil
			}
		}
		last := len(all) - 1
		return nil, fmt.Errorf("must be %s or %s, found %s", strings.Join(all[:last], ", "), all[last], s)
	}
	low, errLow := p.Kind.parse(p.Min)
	high, errHigh := p.Kind.parse(p.Max)
	if errLow != nil || errHigh != nil {
		panic(fmt.Sprintf("param: the bounds of %s are %q and %q", p.Name, p.Min, p.Max))
	}
	if n := Amount(x); !(n >= Amount(low) && n <= Amount(high)) && !(p.Zero && n == 0) {
		zero := ""
		if p.Zero {
			zero = ", or 0"
		}
		return nil, fmt.Errorf("%s is out of range %s–%s%s", s, p.Min, p.Max, zero)
	}
	return x, nil
}

// parse reads a value of a kind.
func (k Kind) parse(s string) (any, error) {
	switch k {
	case Number:
		x, err := strconv.ParseFloat(s, 64)
		return x, said(s, "not a number", err)
	case Count:
		x, err := strconv.Atoi(s)
		return x, said(s, "not a whole number", err)
	case Flag:
		x, err := strconv.ParseBool(s)
		return x, said(s, "neither true nor false", err)
	case Duration:
		return unit.ParseTime(s)
	case Size:
		return unit.ParseBytes(s)
	default:
		return unit.ParseRate(s)
	}
}

// Amount returns a value as a number in its own unit (ps, bytes, bit/s), 0 for a flag.
func Amount(x any) float64 {
	switch n := x.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	case unit.Time:
		return float64(n)
	case unit.Bytes:
		return float64(n)
	case unit.Rate:
		return float64(n)
	}
	return 0
}

// said returns an error in terms of the scenario.
func said(s, what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is %s", s, what)
}
