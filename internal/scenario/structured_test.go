package scenario_test

import (
	"strings"
	"testing"
)

// Entropy values that switches read: they are laid out over planes and paths, or rejected if impossible.
func TestStructured(t *testing.T) {
	p, err := resolveLB(twoTiers+load, "transport=mrc", "lb=structured")
	if err != nil {
		t.Fatal(err)
	}
	evs := p.Default().Carried.Common.EVs
	if n := p.Default().Carried.Values["evs"]; len(evs) != n || p.LBValues["tier1_bits"] == 0 {
		t.Errorf("%d values for %v, %v", len(evs), n, p.LBValues)
	}
	for sets, want := range map[string]string{
		"transport=roce": "structured has switches read entropy values that are laid out for them, and RC " +
			"has none",
		"transport=srd": "and SRD has none of that kind; accepted with transport.kind mrc",
		"transport=mrc lb_options.tier1_bits=1": "lb_options.tier1_bits=1: is too narrow: 1 bits select one " +
			"of 2 ports, " +
			"and switches of tier 1 choose among ",
		"transport=mrc lb_options.tier1_bits=10 " +
			"lb_options.tier2_bits=8": "entropy values are too narrow: the " +
			"tiers' ports take 10 + 8 + 0 bits, and one has 15 for them",
		"transport=mrc " +
			"lb_options.tier1_bits=14": "lb structured: 256 values for each of 1 planes take 5 bits " +
			"besides the 15 that select ports, and an entropy value has 15",
		"transport=mrc lb_options.tier1_bits=17": "is out of range 1–16",
	} {
		_, err := resolveLB(twoTiers+load, append(strings.Fields(sets), "lb=structured")...)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\n", " "), want) {
			t.Errorf("%s: %v", sets, err)
		}
	}
	if _, err := resolveLB(dragonfly, "transport.kind=mrc", "lb=structured"); err == nil ||
		!strings.Contains(err.Error(), "structured names one port per tier of switches, and leaf-1-1:Eth3 "+
			"→ leaf-1-2 connects two") {
		t.Error(err)
	}
}
