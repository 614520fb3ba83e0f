package nxos_test

import (
	"testing"

	"railyard/internal/story"
	"railyard/internal/swconf/nxos"
	"railyard/internal/swconf/tell"
)

// The meaning of NX-OS's lines on ports and the switch, on queues, and on BGP, and the reports on malformed ones.
func TestLines(t *testing.T) {
	for _, page := range []string{"ports", "queues", "routing", "faults"} {
		t.Run(page, func(t *testing.T) {
			story.Cases(t, page, func(text string) string {
				c, err := nxos.Parse("nxos.cfg", []byte(text))
				if err != nil {
					return "refused: " + err.Error()
				}
				return tell.Facts(c)
			})
		})
	}
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("policy-map type queuing E\n  class type queuing c-out-8q-q3\n    priority level 1\n" +
		"no policy-map type queuing E\n")
	f.Add("router bgp 1.1\n  neighbor 10.0.0.2\n    inherit peer X\ninterface e1/1-4\n  speed 100000\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := nxos.Parse("x", []byte(text)); err == nil && c.Read+c.Passed+len(c.Unknown) != c.Total {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}
