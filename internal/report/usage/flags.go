package usage

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"railyard/internal/field"

	"github.com/alecthomas/kong"
)

// Tags of a command struct for its flags in addition to kong's:
//
//	range:"1,64"       a number from 1 to 64 (NaN and infinities are in no range), or a time: range:"1s,1h"
//	with:"out"         means nothing unless --out is given (or one of several, by commas)
//	without:"json"     means nothing beside --json
//
// A flag without effect is refused: its user intended one.

// CheckFlags checks the command line against those tags.
func CheckFlags(ctx *kong.Context) error {
	given := map[string]bool{}
	var values []*kong.Value
	for _, p := range ctx.Path {
		switch {
		case p.Flag != nil:
			given[p.Flag.Name] = true
			values = append(values, p.Flag.Value)
		case p.Positional != nil:
			given[p.Positional.Name] = true
			values = append(values, p.Positional)
		}
	}
	for _, v := range values {
		if err := inRange(v); err != nil {
			return err
		}
		name := Called(v)
		if with := v.Tag.Get("with"); with != "" && !anyOf(with, given) {
			return field.New(name, "has no effect without %s", dashed(with, " or "))
		}
		for _, other := range strings.Split(v.Tag.Get("without"), ",") {
			if other != "" && given[other] {
				return field.New(name, "has no effect with --%s", other)
			}
		}
	}
	return nil
}

func anyOf(names string, given map[string]bool) bool {
	return slices.ContainsFunc(strings.Split(names, ","), func(n string) bool { return given[n] })
}

func dashed(names, between string) string {
	return "--" + strings.ReplaceAll(names, ",", between+"--")
}

// Called returns a value's name as people write it.
func Called(v *kong.Value) string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return strings.ToUpper(v.Name)
}

// inRange checks a number, or each of a list, against its range.
func inRange(v *kong.Value) error {
	text := v.Tag.Get("range")
	if text == "" {
		return nil
	}
	low, high, err := Bounds(text)
	if err != nil {
		panic(v.Name + ": " + err.Error()) // the command structs are wrong: our bug
	}
	values := []reflect.Value{v.Target}
	if v.Target.Kind() == reflect.Slice {
		values = values[:0]
		for i := range v.Target.Len() {
			values = append(values, v.Target.Index(i))
		}
	}
	for _, value := range values {
		x, ok := number(value)
		if !ok || x >= low && x <= high {
			continue
		}
		from, to, said := plainly(low), plainly(high), plainly(x)
		if d, is := value.Interface().(time.Duration); is {
			from, to, _ = strings.Cut(text, ",")
			said = d.String()
		}
		return field.New(Called(v), "%[3]s is out of range %[1]s–%[2]s", from, to, said)
	}
	return nil
}

// Bounds returns the bounds of a range tag, for times in seconds.
func Bounds(text string) (low, high float64, err error) {
	a, b, _ := strings.Cut(text, ",")
	if low, err = bound(a); err == nil {
		high, err = bound(b)
	}
	return low, high, err
}

// bound reads a number or a time.
func bound(text string) (float64, error) {
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d.Seconds(), nil
	}
	return strconv.ParseFloat(text, 64)
}

// number parses a numeric flag; false: it is not numeric, or not set.
func number(v reflect.Value) (float64, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	if d, is := v.Interface().(time.Duration); is {
		return d.Seconds(), true
	}
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// plainly formats integers without an exponent.
func plainly(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e12 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
