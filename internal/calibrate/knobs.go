package calibrate

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Knob is a parameter of a scenario's calibration.
type Knob struct {
	Param
	About string // description
	at    func(*scenario.Calibration) (t *unit.Time, share *float64)
}

func ofTime(f func(*scenario.Calibration) *unit.Time) func(*scenario.Calibration) (*unit.Time, *float64) {
	return func(c *scenario.Calibration) (*unit.Time, *float64) { return f(c), nil }
}

func ofShare(f func(*scenario.Calibration) *float64) func(*scenario.Calibration) (*unit.Time, *float64) {
	return func(c *scenario.Calibration) (*unit.Time, *float64) { return nil, f(c) }
}

// Knobs are all parameters, those first that measurements are likeliest to carry.
var Knobs = []Knob{
	{Param{Name: "nvlink_share", Unit: "%", Start: 100, Least: 20, Most: 120, Step: 0.03, Share: true},
		"of the rate of NVLink that NCCL's kernels reach (H100: 371 of 450 GB/s)",
		ofShare(func(c *scenario.Calibration) *float64 { return &c.NVLink })},
	{Param{Name: "nic_share", Unit: "%", Start: 100, Least: 5, Most: 100, Step: 0.03, Share: true},
		"of the NICs' rate", ofShare(func(c *scenario.Calibration) *float64 { return &c.NICs })},
	{Param{Name: "launch", Unit: "us", Most: 2000, Step: 2}, "per collective",
		ofTime(func(c *scenario.Calibration) *unit.Time { return &c.Launch })},
	{Param{Name: "network_step", Unit: "us", Most: 500, Step: 0.5}, "per transfer of a collective between hosts",
		ofTime(func(c *scenario.Calibration) *unit.Time { return &c.Remote })},
	{Param{Name: "message", Unit: "us", Most: 100, Step: 0.2}, "per message between hosts",
		ofTime(func(c *scenario.Calibration) *unit.Time { return &c.Message })},
	{Param{Name: "step", Unit: "us", Most: 200, Step: 0.2}, "per transfer of a collective inside a host",
		ofTime(func(c *scenario.Calibration) *unit.Time { return &c.Step })},
	{Param{Name: "compute_share", Unit: "%", Start: 100, Least: 5, Most: 300, Step: 0.03, Share: true},
		"of the scenario's efficiency",
		ofShare(func(c *scenario.Calibration) *float64 { return &c.Compute })},
}

// Find returns a parameter by its name, nil if there is none.
func Find(name string) *Knob {
	i := slices.IndexFunc(Knobs, func(k Knob) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &Knobs[i]
}

// Params returns the parameters to fit, all unless some are named, starting at a calibration's values.
func Params(start *scenario.Calibration, names []string) (out []Param, err error) {
	var all []string
	for _, k := range Knobs {
		all = append(all, k.Name)
	}
	for _, name := range names {
		if Find(name) == nil {
			return nil, field.Choice("--fit", name, all, "unknown parameter %s", field.Quote(name))
		}
	}
	for _, k := range Knobs {
		if len(names) > 0 && !slices.Contains(names, k.Name) {
			continue
		}
		p := k.Param
		p.Start = min(max(k.Value(start), p.Least), p.Most)
		out = append(out, p)
	}
	return out, nil
}

// Value returns a parameter in its unit; an unset share is 1.
func (k *Knob) Value(c *scenario.Calibration) float64 {
	t, share := k.at(c)
	if t != nil {
		return t.Micros()
	}
	return cmp.Or(*share, 100)
}

// Put sets a parameter, to what can be written down: nanoseconds, and hundredths of a percent.
func (k *Knob) Put(c *scenario.Calibration, v float64) {
	t, share := k.at(c)
	if t != nil {
		*t = unit.Time(v*1e3+0.5) * unit.Nanosecond
		return
	}
	*share = float64(int64(v*100+0.5)) / 100
}

// Text returns a parameter in a scenario's notation.
func (k *Knob) Text(c *scenario.Calibration) string {
	t, share := k.at(c)
	if t != nil {
		return t.String()
	}
	return fmt.Sprintf("%g", *share)
}

// Said reports whether a calibration sets a parameter.
func (k *Knob) Said(c *scenario.Calibration) bool {
	t, share := k.at(c)
	return t != nil && *t > 0 || share != nil && *share > 0
}
