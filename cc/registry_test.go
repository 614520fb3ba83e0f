package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/cc/cctest"
)

// Every algorithm that a scenario can name keeps the contract, with each of its profiles.
func TestRegistered(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		profiles := []string{""}
		for _, p := range a.Profiles {
			profiles = append(profiles, p.Name)
		}
		for _, p := range profiles {
			t.Run(name+" "+p, func(t *testing.T) { cctest.Run(t, a, line, a.Use(p, line)) })
		}
	}
	if cc.Lookup("unheard of") != nil || cc.Lookup("dcqcn").Profile("unheard of") != nil {
		t.Error("an algorithm or a profile that nobody wrote is found")
	}
}

// A NIC's form with the byte counter on is neither profile.
func TestByteCounterInANIC(t *testing.T) {
	p := cc.DCQCNNIC(line)
	p.ByteCounter = 100_000
	cctest.Run(t, cc.Lookup("dcqcn"), line, func(cc.Path) cc.Controller { return cc.NewDCQCN(&p, line) })
}

// The table of parameters and the profiles' values are two lists of one thing.
func TestProfilesHaveEveryParameter(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		if len(a.Params) > 0 && len(a.Profiles) == 0 {
			t.Errorf("%s has parameters and no values for them", name)
		}
		for _, p := range a.Profiles {
			if err := p.Of(line).Fits(a.Params); err != nil {
				t.Errorf("%s, profile %s: %v", name, p.Name, err)
			}
		}
	}
}
