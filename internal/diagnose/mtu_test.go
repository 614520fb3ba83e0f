package diagnose

import (
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/unit"
)

// TestTwoMTUs gives the spine a smaller MTU than its leaves: a fault if RoCE's packets do not fit, or if the spine
// counts frames that are too long; else a note, as lint's mtu-differs, and other errors and drops are not the MTU's.
// All ports of a device are one fault.
func TestTwoMTUs(t *testing.T) {
	moves := map[string]func(*counters.Port){"nothing": func(*counters.Port) {},
		"giants":   func(p *counters.Port) { p.Giants.V, p.InErrors.V = p.Giants.V+900, p.InErrors.V+900 },
		"errors":   func(p *counters.Port) { p.InErrors.V += 900 },
		"discards": func(p *counters.Port) { p.InDiscards.V += 900 }}
	cases := []struct {
		mtu    unit.Bytes
		moves  string
		faults int
		sure   Sure
	}{
		{9214, "nothing", 0, 0}, {9214, "giants", 1, Proven}, {9214, "errors", 0, 0}, {9214, "discards", 0, 0},
		{9000, "discards", 0, 0}, {9000, "errors", 0, 0}, {8999, "errors", 1, Likely}, {8999, "nothing", 0, 0},
		{4180, "nothing", 0, 0}, {4179, "nothing", 1, Possible}, {1500, "errors", 1, Likely}}
	for _, c := range cases {
		l := healthy()
		for _, port := range []string{"Ethernet1/1", "Ethernet1/2"} {
			l.before["spine1"].Find(port).MTU = counters.Say(c.mtu)
			l.now("spine1", port).MTU = counters.Say(c.mtu)
		}
		moves[c.moves](l.now("spine1", "Ethernet1/1"))
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, x := range r.Findings {
			if x.Cause != "mtu" {
				continue
			}
			if n++; n == 1 && x.Sure != c.sure {
				t.Errorf("%d against 9216, %s: %v, want %v", c.mtu, c.moves, x.Sure, c.sure)
			}
		}
		noted := strings.Contains(strings.Join(r.Notes, "\n"), "RoCE packets (at most 4180 bytes) fit both ends")
		if n != c.faults || noted != (c.mtu >= 4180) {
			t.Errorf("%d against 9216, %s: %d MTU faults, want %d; noted: %v", c.mtu, c.moves, n, c.faults, noted)
		}
	}
}
