package tuning

import (
	"fmt"
	"math"

	"railyard/cc"
	"railyard/internal/scenario"
	"railyard/internal/tune"
	"railyard/param"
	"railyard/unit"
)

// reach is the factor by which a parameter of congestion control is searched up and down from the scenario's value.
const reach = 4

// knobsOf returns the tunable parameters of a service's congestion control: parameters with a value (zero has a
// special meaning), within a range of accepted values.
func knobsOf(s *scenario.Service, line unit.Rate) (knobs [tune.MostKnobs]tune.Knob) {
	n := 0
	for i := range s.CC.Params {
		p := &s.CC.Params[i]
		v := param.Amount(s.Values[p.Name])
		if p.Kind == cc.Flag || p.Of != "" || v <= 0 || n == len(knobs) {
			continue
		}
		k := tune.Knob{Name: p.Name, From: v / reach, To: v * reach}
		if least, err := p.Parse(p.Min); err == nil {
			k.From = max(k.From, param.Amount(least))
		}
		if most, err := p.Parse(p.Max); err == nil {
			k.To = min(k.To, param.Amount(most))
		}
		if p.Line {
			k.To = min(k.To, float64(line))
		}
		if k.From < k.To {
			knobs[n] = k
			n++
		}
	}
	return knobs
}

// paramOf is a parameter that an algorithm has.
func paramOf(a *cc.Algorithm, name string) *cc.Param {
	for i := range a.Params {
		if a.Params[i].Name == name {
			return &a.Params[i]
		}
	}
	panic("tune: " + a.Name + " has no parameter " + name) // knobsOf created it from a parameter
}

// settingOf is a number as a parameter's value.
func settingOf(p *cc.Param, x float64) any {
	whole := math.Round(x)
	switch p.Kind {
	case cc.Count:
		return int(max(1, whole))
	case cc.Duration:
		return unit.Time(whole)
	case cc.Size:
		return unit.Bytes(whole)
	case cc.Speed:
		return unit.Rate(whole)
	}
	return x
}

// settingText formats it for --set.
func settingText(p *cc.Param, x float64) string {
	switch v := settingOf(p, x).(type) {
	case unit.Time:
		return fmt.Sprintf("%dps", int64(v))
	case unit.Bytes:
		return fmt.Sprintf("%dB", int64(v))
	case unit.Rate:
		return fmt.Sprintf("%dbps", int64(v))
	default:
		return fmt.Sprint(v)
	}
}
