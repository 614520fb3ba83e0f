package scenario

import (
	"reflect"
	"testing"

	"railyard/scenarios"
)

// A document stays unchanged however often it is resolved, and each resolution is equal.
func TestResolvingLeavesTheFile(t *testing.T) {
	for _, of := range plots {
		d, err := Parse("x.yaml", []byte(of.text), nil)
		if err != nil {
			t.Fatal(err)
		}
		before := d.File.clone()
		a, err := d.Resolve(scenarios.File)
		if err != nil {
			t.Errorf("%.40s: %v", of.text, err)
			continue
		}
		b, err := d.Resolve(scenarios.File)
		if err != nil || digest(a) != digest(b) {
			t.Errorf("%.40s: a second time it is another plan (%v)", of.text, err)
		}
		if !reflect.DeepEqual(d.File, before) {
			t.Errorf("%.40s: resolving changed the file", of.text)
		}
	}
}
