package entropy

import (
	"testing"

	"pgregory.net/rapid"
)

// Without a loss ports are used in turn. After a loss its port is skipped for the configured number of packets, and
// no other port is. If all ports are skipped, they are used in turn again.
func TestAside(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ports, rest := rapid.IntRange(2, Most).Draw(rt, "ports"), rapid.IntRange(1, 500).Draw(rt, "rest")
		a := NewAside(ports, rest)
		var turn Turn
		bad := 0
		for range rapid.IntRange(1, 3000).Draw(rt, "before") {
			bad = a.Next(0)
			if want := turn.Next(ports); bad != want {
				rt.Fatalf("port %d, not %d", bad, want)
			}
			a.Heard(0, bad, Arrived) // no effect
			a.Heard(0, bad, Marked)
			a.Heard(0, bad, Trimmed)
		}
		a.Heard(0, bad, rapid.SampledFrom([]Feedback{Missing, TimedOut}).Draw(rt, "loss"))
		used := make([]int, ports)
		for range rest - 1 {
			i := a.Next(0)
			if i == bad {
				rt.Fatalf("port %d is used %d packets after it lost one", i, rest)
			}
			used[i]++
		}
		for i, n := range used {
			if i != bad && n < (rest-1)/(ports-1) {
				rt.Fatalf("port %d had %d of %d packets", i, n, rest-1)
			}
		}
		back := false
		for range 2 * ports {
			back = a.Next(0) == bad || back
		}
		if !back {
			rt.Fatalf("port %d does not come back", bad)
		}
		for range ports { // of all ports
			a.Heard(0, a.Next(0), Missing)
		}
		a.Next(0) // one port is still used
	})
	if NewAside(1, 5) != nil || NewAside(4, 0) != nil {
		t.Error("there is nothing to choose")
	}
}
