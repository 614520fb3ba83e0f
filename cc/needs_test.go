package cc_test

import (
	"testing"

	"railyard/cc"
)

// The error of a missing feature names the features that suffice.
func TestMissing(t *testing.T) {
	eqds := cc.Algorithm{Name: "eqds", Needs: cc.Needs{OneOf: []cc.Feature{cc.Lossless | cc.Trimming |
		cc.Selective}}}
	ndp := cc.Algorithm{Name: "ndp", Needs: cc.Needs{OneOf: []cc.Feature{cc.Trimming, cc.Selective}}}
	for _, c := range []struct {
		a     *cc.Algorithm
		there cc.Feature
		want  string
	}{
		{&eqds, 0, "eqds without PFC needs trimming or selective recovery"},
		{&eqds, cc.Lossless, ""},
		{&eqds, cc.Selective | cc.Marking, ""},
		{&ndp, cc.Lossless | cc.Selective, "ndp needs trimming (switch.trim)"},
		{&ndp, cc.Trimming, "ndp needs selective recovery (transport.recovery: selective)"},
		{&ndp, cc.Trimming | cc.Selective, ""},
		{cc.Lookup("none"), 0, ""},
	} {
		if got := c.a.Missing(c.there); got != c.want {
			t.Errorf("%s where there is %b: %q, want %q", c.a.Name, c.there, got, c.want)
		}
	}
	if got := cc.Lookup("dcqcn").Deaf(cc.Lossless); got != "ECN marks (switch.queues.*.ecn)" {
		t.Errorf("DCQCN without marks: %q", got)
	}
	if got := cc.Lookup("dcqcn").Deaf(cc.Marking); got != "" {
		t.Errorf("DCQCN with marks: %q", got)
	}
}

// Every algorithm lists its hardware features and runs on a fabric that has all features.
func TestNeeds(t *testing.T) {
	for _, name := range cc.Names() {
		a := cc.Lookup(name)
		if a.Needs.Switch == "" || a.Needs.NIC == "" || len(a.Needs.Switch) > 24 || len(a.Needs.NIC) > 24 {
			t.Errorf("%s needs of switches %q, of NICs %q", name, a.Needs.Switch, a.Needs.NIC)
		}
		if fault := a.Missing(^cc.Feature(0)); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}
