package param

import (
	"strings"
	"testing"

	"railyard/unit"
)

// Values are read in their kind's unit, bounds belong to what is accepted, and 0 only where it is said.
func TestParse(t *testing.T) {
	share := Param{Name: "g", Kind: Number, Min: "0.1", Max: "0.9"}
	steps := Param{Name: "f", Kind: Count, Min: "2", Max: "5", Zero: true}
	gap := Param{Name: "gap", Kind: Duration, Min: "1us", Max: "1ms"}
	limit := Param{Name: "limit", Kind: Size, Min: "1KB", Max: "1MB", Zero: true}
	rate := Param{Name: "ai", Kind: Speed, Min: "1Mbps", Max: "1Gbps"}
	clamp := Param{Name: "clamp", Kind: Flag}
	tag := Param{Name: "csig", Kind: Count, Of: "0, 4, 8"}
	for _, c := range []struct {
		p    *Param
		text string
		want any // or what the error says
	}{
		{&share, "0.1", 0.1}, {&share, "0.9", 0.9},
		{&share, "0.91", "0.91 is out of range 0.1–0.9"},
		{&share, "NaN", "is out of range"}, {&share, "0", "is out of range"}, {&share, "x", `"x" is not a number`},
		{&steps, "5", 5}, {&steps, "0", 0}, {&steps, "1", "1 is out of range 2–5, or 0"},
		{&steps, "2.5", `"2.5" is not a whole number`},
		{&gap, "1ms", unit.Millisecond}, {&gap, "999ns", "999ns is out of range 1us–1ms"},
		{&limit, "1KB", unit.KB}, {&limit, "0B", unit.Bytes(0)}, {&limit, "1MiB", "is out of range"},
		{&rate, "40Mbps", 40 * unit.Mbps}, {&rate, "2Gbps", "is out of range"},
		{&tag, "0", 0}, {&tag, "8", 8}, {&tag, "5", "must be 0, 4 or 8, found 5"},
		{&tag, "wide", `"wide" is not a whole number`},
		{&clamp, "true", true}, {&clamp, "rarely", `"rarely" is neither true nor false`},
	} {
		got, err := c.p.Parse(c.text)
		if says, bad := c.want.(string); bad {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %q: %v, want %q", c.p.Name, c.text, err, says)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s %q: %v, %v, want %v", c.p.Name, c.text, got, err, c.want)
		}
	}
}

// A table and its values agree in names and types, or a test of theirs says where they do not.
func TestFits(t *testing.T) {
	params := []Param{{Name: "g", Kind: Number}, {Name: "gap", Kind: Duration}}
	for _, c := range []struct {
		v    Values
		want string
	}{
		{Values{"g": 1.0, "gap": unit.Second}, ""},
		{Values{"g": 1, "gap": unit.Second}, "g is int, want float64"},
		{Values{"g": 1.0}, "gap is <nil>, want unit.Time"},
		{Values{"g": 1.0, "gap": unit.Second, "more": 2}, "3 values for 2 parameters"},
	} {
		if err := c.v.Fits(params); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%v: %v, want %q", c.v, err, c.want)
		}
	}
	if got := Value[float64](Values{"g": 0.5}, "g"); got != 0.5 {
		t.Error(got)
	}
}
