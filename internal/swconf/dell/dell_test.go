package dell

import (
	"testing"

	"railyard/internal/story"
	"railyard/internal/swconf/tell"
)

func facts(text string) string {
	c, err := Parse("dell.cfg", []byte(text))
	if err != nil {
		return "refused: " + err.Error()
	}
	return tell.Facts(c)
}

// The meaning of the lines, and the reports on malformed ones.
func TestLines(t *testing.T) { story.Cases(t, "lines", facts) }

// The result of roce enable comes from the platform's sheet, each map whole and with its source.
func TestDefaultsAreWhole(t *testing.T) {
	for key, n := range map[string]int{"roce_dscp_to_tc": 64, "roce_cos_to_tc": 8, "tc_to_queue": 8,
		"roce_shares": 8, "roce_pfc": 8} {
		if _, ok := known.Map(key, n); !ok || known.Source(key) == "unsourced" {
			t.Errorf("%s: %q, %s", key, known.Word(key), known.Source(key))
		}
	}
	for _, key := range []string{"roce_strict", "roce_ecn", "roce_ecn_min", "roce_ecn_max", "mtu",
		"watchdog_ms"} {
		if _, ok := known.Number(key); !ok {
			t.Errorf("%s is not a number", key)
		}
	}
}

// Any text is parsed or rejected without a panic, and its lines are all accounted for.
func FuzzParse(f *testing.F) {
	f.Add("roce enable\nqos map dscp-tc R\n dscp 0-25,27-63 traffic-class 0\ninterface range Eth1/1-1/4\n" +
		" qos-map dscp-tc R\n priority-flow-control priority 3\n")
	f.Add("qos scheduler-policy R\n queue 9\n  type strict\nrouter bgp 1 vrf R\nneighbor interface Eth1/1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := Parse("x", []byte(text)); err == nil && c.Read+c.Passed+len(c.Unknown) != c.Total {
			t.Errorf("%d read, %d passed over and %d unknown of %d lines", c.Read, c.Passed,
				len(c.Unknown), c.Total)
		}
	})
}
