package entropy

import (
	"testing"

	"pgregory.net/rapid"
)

// Without a loss ports are taken in turn. After one its port is left out for as many packets as were
// asked for, and no other is; where all are left out, they are taken in turn again.
func TestAside(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ports, rest := rapid.IntRange(2, Most).Draw(rt, "ports"), rapid.IntRange(1, 500).Draw(rt, "rest")
		a := NewAside(ports, rest)
		var turn Turn
		psn := rapid.Uint32Range(0, 1<<24-1).Draw(rt, "psn")
		for range rapid.IntRange(1, 3000).Draw(rt, "before") {
			if got, want := a.Next(psn), turn.Next(ports); got != want {
				rt.Fatalf("port %d, not %d", got, want)
			}
			psn = (psn + 1) & (1<<24 - 1)
		}
		lost := (psn - 1) & (1<<24 - 1)
		bad := int(a.by[lost%remembered])
		a.Lost(lost)
		used := make([]int, ports)
		for range rest - 1 {
			i := a.Next(psn)
			if i == bad {
				rt.Fatalf("port %d is used %d packets after it lost one", i, rest)
			}
			used[i]++
			psn++
		}
		for i, n := range used {
			if i != bad && n < (rest-1)/(ports-1) {
				rt.Fatalf("port %d had %d of %d packets", i, n, rest-1)
			}
		}
		back := false
		for range 2 * ports {
			back = a.Next(psn) == bad || back
			psn++
		}
		if !back {
			rt.Fatalf("port %d does not come back", bad)
		}
		for range ports { // all of them
			a.Next(psn)
			a.Lost(psn)
			psn++
		}
		a.Next(psn) // one is taken all the same
	})
	if NewAside(1, 5) != nil || NewAside(4, 0) != nil {
		t.Error("there is nothing to choose")
	}
	(*Aside)(nil).Lost(3)
}
