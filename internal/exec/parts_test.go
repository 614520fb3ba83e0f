package exec

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/inside"
	"railyard/internal/workload"
	"railyard/unit"
)

// A transfer over NVLinks that fail and recover takes the time of its bytes at the respective remaining rate.
func TestParts(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		m := Machine{NVLink: NVLink{Rate: 8 * unit.Gbps}, Server: []int{0, 0}, Rail: []int{0, 1}}
		at := unit.Time(0)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			at += unit.Time(rapid.IntRange(0, 40).Draw(t, "after")) * unit.Nanosecond
			m.Changes = append(m.Changes, inside.Change{At: at, Left: rapid.IntRange(1, 18).Draw(t, "left"), Of: 18})
		}
		bytes := rapid.IntRange(1, 100).Draw(t, "bytes")
		b := workload.NewBuilder(2)
		b.Transfer(0, 1, unit.Bytes(bytes))
		x, w := over(m, seal(outer, b))
		w.run()
		want := unit.Time(0) // in picoseconds of a link's share: a byte takes 1 ns of all links
		for work := unit.Time(bytes) * 18 * unit.Nanosecond; work > 0; {
			left, until := unit.Time(18), unit.Never
			for _, c := range m.Changes {
				if c.At <= want {
					left = unit.Time(c.Left)
				} else if until == unit.Never {
					until = c.At
				}
			}
			step := (work + left - 1) / left
			if until != unit.Never {
				step = min(step, until-want)
			}
			work, want = work-step*left, want+step
		}
		if got := x.End[0]; got < want-unit.Time(len(m.Changes)) || got > want+18*unit.Time(len(m.Changes)) {
			t.Fatalf("%d bytes end at %v, want %v: %+v", bytes, got, want, m.Changes)
		}
	})
}
