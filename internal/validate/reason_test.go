package validate

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// A row with a difference fails unless it has a source and its reason has a name, a mechanism, a setting and an
// effect.
func TestDiffersWithReason(t *testing.T) {
	whole := Reason{"name", "mechanism", "lb=spray", "effect"}
	for _, c := range []struct {
		name, want string
		break_     func(*Row, *Reason)
	}{
		{"complete", "differs", func(*Row, *Reason) {}},
		{"no source", "FAILS", func(r *Row, _ *Reason) { r.Source = "" }},
		{"no name", "FAILS", func(_ *Row, w *Reason) { w.Name = "" }},
		{"no mechanism", "FAILS", func(_ *Row, w *Reason) { w.Mechanism = "" }},
		{"no setting", "FAILS", func(_ *Row, w *Reason) { w.Setting = "" }},
		{"no effect", "FAILS", func(_ *Row, w *Reason) { w.Effect = "" }},
		{"a note alone", "FAILS", func(r *Row, _ *Reason) { r.Reason, r.Note = nil, "known" }},
		{"no figure", "FAILS", func(r *Row, _ *Reason) { *r = within("c", "s", 1, math.NaN(), 0.1, "%.1f").because(r.Reason) }},
		{"ok", "ok", func(r *Row, _ *Reason) { r.OK = true }},
	} {
		why := whole
		r := within("claim", "source", 1, 2, 0.1, "%.1f").because(&why)
		if c.break_(&r, &why); r.Verdict() != c.want {
			t.Errorf("%s: %s, want %s", c.name, r.Verdict(), c.want)
		}
	}
}

// Every reason is complete and has a unique name. Its settings are keys and values of scenarios.
func TestReasons(t *testing.T) {
	const base = `
fabric: {kind: rail, hosts: 2, spines: 1}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1MB}, alltoall: {bytes: 1MB}}}
`
	names := map[string]bool{}
	for _, r := range reasons {
		if !r.complete() || names[r.Name] {
			t.Errorf("%q: incomplete, or twice: %+v", r.Name, r)
		}
		names[r.Name] = true
		if r.Setting == NoSetting {
			continue
		}
		if _, err := scenario.Parse("base", []byte(base), strings.Fields(r.Setting)); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		for _, set := range strings.Fields(r.Setting) {
			if key, value, ok := strings.Cut(set, "="); !ok || key == "" || value == "" {
				t.Errorf("%s: %q is no setting", r.Name, set)
			}
		}
	}
	if len(reasons) < 30 {
		t.Errorf("%d reasons", len(reasons))
	}
}
