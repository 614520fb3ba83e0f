package extend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/unit"
)

// TestAddCauseRefuses checks that a cause which reports could not name, or which is registered twice or too late, ends
// the program with the cause and what is wrong with it.
func TestAddCauseRefuses(t *testing.T) {
	was := slices.Clone(added.Causes)
	whole := Cause{Key: "long_cables", Name: "long cables", About: "propagation", Color: "#2f4a6b", From: "latency",
		Claim: func(*Facts, *Message) (unit.Time, int) { return 0, -1 }}
	for want, change := range map[string]func(c *Cause){
		"cause without a name":                                func(c *Cause) { c.Key = "" },
		"cause incast is registered twice":                    func(c *Cause) { c.Key = "incast" },
		"has a key that summary.json cannot have":             func(c *Cause) { c.Key = "late_saving" },
		"cause Long Cables has a key that":                    func(c *Cause) { c.Key = "Long Cables" },
		"cause long_cables has no Name":                       func(c *Cause) { c.Name = "" },
		`has the name of another cause, "incast"`:             func(c *Cause) { c.Name = "incast" },
		"has no About":                                        func(c *Cause) { c.About = "" },
		`has the color "blue", expected #rrggbb`:              func(c *Cause) { c.Color = "blue" },
		"has the color of another cause, #d4502a":             func(c *Cause) { c.Color = "#d4502a" },
		`claims time from "cables", expected the key of`:      func(c *Cause) { c.From = "cables" },
		"has no Claim":                                        func(c *Cause) { c.Claim = nil },
		"cause long_cables is registered after the keys were": func(*Cause) { sealed = true },
	} {
		c := whole
		change(&c)
		text := func() (text string) {
			defer func() { text = fmt.Sprint(recover()) }()
			AddCause(&c)
			return ""
		}()
		added.Causes, sealed = slices.Clone(was), false
		want = strings.ReplaceAll(want, "the keys were", "the keys of scenarios were made")
		if !strings.HasPrefix(text, "extend: ") || !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
