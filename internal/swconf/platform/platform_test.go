package platform

import (
	"strings"
	"testing"

	"railyard/internal/sheet"
)

// Every sheet parses and belongs to a system with its own sheet, and each map is complete.
func TestSheets(t *testing.T) {
	if sheetsErr != nil {
		t.Fatal(sheetsErr)
	}
	for _, s := range Sheets {
		os, chip, _ := strings.Cut(s.Key, "/")
		if len(Of(os, "").sheets) != 1 {
			t.Errorf("%s: %s has no sheet of its own", s.Key, os)
		}
		p := Platform{[]*sheet.Sheet{&s}}
		for key, n := range map[string]int{"dscp_to_tc": 64, "cos_to_tc": 8, "tc_to_queue": 8} {
			if _, ok := p.Map(key, n); p.Word(key) != "" && !ok {
				t.Errorf("%s: %s does not name %d values: %q", s.Key, key, n, p.Word(key))
			}
		}
		if chip != "" && p.Word("models") == "" {
			t.Errorf("%s names no models", s.Key)
		}
	}
}

// A chip's figures precede its system's, an unknown model has the system's, and a missing figure is unknown.
func TestOf(t *testing.T) {
	for model, segment := range map[string]float64{"DCS-7060CX-32S": 208, "DCS-7060X6-64PE": 0, "": 0,
		"DCS-9999": 0} {
		p := Of("eos", model)
		n, ok := p.Number("segment_bytes")
		if ok != (segment > 0) || n != segment {
			t.Errorf("%q has segments of %g, %v; want %g", model, n, ok, segment)
		}
		if m, ok := p.Map("dscp_to_tc", 64); !ok || m[26] != 3 || m[0] != 1 || m[8] != 0 || m[48] != 6 {
			t.Errorf("%q: %v, %v", model, m, ok)
		}
	}
	p := Of("eos", "DCS-7060CX-32S")
	if got := p.Source("segment_bytes"); got != "unsourced" {
		t.Errorf("segments are %s", got)
	}
	if got := p.Source("trust_routed"); !strings.Contains(got, "section") {
		t.Errorf("trust is from %s", got)
	}
	if p.Source("colour") != "not known" || p.Word("colour") != "" {
		t.Error("a colour is known")
	}
	if _, ok := Of("plan9", "").Number("mtu_routed"); ok {
		t.Error("a system without a sheet has an MTU")
	}
	for _, bad := range []string{"", "0-7:1", "0-63:x", "0-64:1", "63-:1"} {
		s := sheet.Sheet{Figures: []sheet.Figure{{Key: "m", Value: bad}}}
		if m, ok := (Platform{[]*sheet.Sheet{&s}}).Map("m", 64); ok {
			t.Errorf("%q is %v", bad, m)
		}
	}
}
