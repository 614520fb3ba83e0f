package tuning

import (
	"testing"

	"railyard/cc"
	"railyard/internal/scenario"
	"railyard/param"
	"railyard/unit"
)

// Every parameter with a value can be tuned within its bounds, and is written so that it parses again.
func TestKnobsOfEveryAlgorithm(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		s := &scenario.Service{CC: a, Values: a.Profile("").Values(400 * unit.Gbps)}
		turned := 0
		for _, k := range knobsOf(s, 400*unit.Gbps) {
			if k.Name == "" {
				continue
			}
			turned++
			p := paramOf(a, k.Name)
			for _, x := range []float64{k.From, param.Amount(s.Values[k.Name]), k.To} {
				back, err := p.Parse(settingText(p, x))
				if err != nil || back != settingOf(p, x) {
					t.Errorf("%s.%s = %v: %v, %v", name, k.Name, x, back, err)
				}
			}
		}
		if (turned == 0) != (len(a.Params) == 0) {
			t.Errorf("%s: %d of %d parameters are searched", name, turned, len(a.Params))
		}
	}
}

// A parameter with a few accepted values and no range is not tuned, because a tag of 5 bytes would end every trial.
func TestKnobsAreRanges(t *testing.T) {
	a := cc.Lookup("hpcc")
	s := &scenario.Service{CC: a, Values: a.Profile("").Values(400 * unit.Gbps)}
	s.Values["csig"] = 4
	for _, k := range knobsOf(s, 400*unit.Gbps) {
		if k.Name == "csig" {
			t.Errorf("csig is searched from %g to %g", k.From, k.To)
		}
	}
}
