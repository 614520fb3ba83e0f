package scenario

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"railyard/cc"
	"railyard/internal/workload"
	"railyard/unit"
)

// Drawn are the keys of a scenario's single numbers, and their ranges. Share 0 is the minimum, 1 the maximum, and
// the values between are logarithmic.
func Drawn() map[string]func(share float64) string {
	out := map[string]func(float64) string{}
	f := Default()
	f.Workload.Training = &workload.Training{}
	numbers(reflect.ValueOf(&f).Elem(), "", "", func(v reflect.Value, key, row string) {
		b := bounded[row]
		out[key] = func(share float64) string { return b.draw(v.Type(), share) }
	})
	for _, p := range lbParams {
		if b := bounded["lb_options."+p.Name]; b != nil {
			out[b.key] = func(share float64) string { return b.draw(p.Kind.Type(), share) }
		}
	}
	for _, name := range cc.Names() {
		for _, p := range cc.Lookup(name).Params {
			if b := bounded["cc."+name+"."+p.Name]; b != nil {
				out[b.key] = func(share float64) string { return b.draw(p.Kind.Type(), share) }
			}
		}
	}
	return out
}

func (b *bound) draw(t reflect.Type, share float64) string {
	if b.of != "" {
		of := strings.Split(b.of, ", ")
		return of[min(int(share*float64(len(of))), len(of)-1)]
	}
	low, high := reflect.New(t).Elem(), reflect.New(t).Elem()
	if setScalar(low, b.min, "") != nil || setScalar(high, b.max, "") != nil {
		panic(b.key)
	}
	between := func(a, z float64) float64 {
		if share == 0 || share == 1 {
			return a + share*(z-a)
		}
		a = max(a, z*1e-9)
		return a * math.Pow(z/a, share)
	}
	switch {
	case t == reflect.TypeFor[unit.Share](): // in percent
		return fmt.Sprint(between(100*low.Float(), 100*high.Float()))
	case low.CanFloat():
		return fmt.Sprint(between(low.Float(), high.Float()))
	case low.CanUint():
		return fmt.Sprint(uint64(between(float64(low.Uint()), float64(high.Uint()))))
	}
	n := int64(between(float64(low.Int()), float64(high.Int())))
	switch reflect.New(t).Interface().(type) {
	case *unit.Time:
		return fmt.Sprintf("%dps", n)
	case *unit.Rate:
		return fmt.Sprintf("%dbps", n)
	case *unit.Bytes:
		return fmt.Sprintf("%dB", n)
	case *Length:
		return fmt.Sprintf("%dmm", n)
	}
	return fmt.Sprint(n)
}
