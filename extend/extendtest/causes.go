package extendtest

import (
	"testing"

	"railyard/extend"
	"railyard/internal/cause"
	"railyard/unit"
)

// Cause tests a cause by its key, with messages over short and long paths, and with facts of different runs. It
// claims between 0 and the whole time of a message, the same for the same message, at a hop of its path. A run
// without it has an edit, or gives a reason why there is none.
func Cause(t *testing.T, key string) {
	t.Helper()
	c, ok := cause.Find(key)
	if !ok || !c.Outside() {
		t.Fatalf("no extension adds a cause %s", key)
	}
	facts := []extend.Facts{{}, {Transport: "roce", CC: "dcqcn", LB: "ecmp", Recovery: "go-back-n", Jobs: 1},
		{Transport: "mrc", CC: "nscc", LB: "spray", Delays: true, Jobs: 2, Ports: 4, Uplinks: 8, Switches: 2}}
	for i := range facts {
		f := &facts[i]
		for _, m := range messages() {
			lost, hop := c.Claim(f, &m)
			if again, other := c.Claim(f, &m); again != lost || other != hop {
				t.Errorf("cause %s claims %s and %s of the same message", c.Key, lost.Show(), again.Show())
			}
			if took := m.Done - m.Posted; lost < 0 || lost > took {
				t.Errorf("cause %s claims %s of a message that takes %s", c.Key, lost.Show(), took.Show())
			}
			if hop < -1 || hop >= len(m.Hops) {
				t.Errorf("cause %s claims at hop %d of a path of %d", c.Key, hop, len(m.Hops))
			} else if c.Evidence != nil && c.Evidence(&m, hop) == "" {
				t.Errorf("cause %s has no evidence for hop %d", c.Key, hop)
			}
		}
		w := c.Without(f)
		if w.IsPossible() != (len(w.Set)+len(w.Drop) > 0 || w.Edited()) {
			t.Errorf("cause %s: a run without it changes nothing, or is impossible and changes something", c.Key)
		}
		for _, r := range c.Remedies(f) {
			if r.Says == "" || !r.IsPossible() {
				t.Errorf("cause %s: a remedy without words, or one that is impossible", c.Key)
			}
		}
	}
}

// messages returns messages without a path, within a rack, within a hall, between buildings and between cities, each
// of several sizes and durations, and sprayed over two links.
func messages() (all []extend.Message) {
	cable := func(metres int64, share float64, from, to int) extend.Hop {
		return extend.Hop{From: "a", To: "b", FromTier: from, ToTier: to, Share: share,
			Cable: extend.Cable{Rate: line, LengthMM: metres * 1000, Delay: unit.Time(metres) * 5 * unit.Nanosecond}}
	}
	for _, hops := range [][]extend.Hop{nil, {cable(2, 1, 0, 1), cable(2, 1, 1, 0)},
		{cable(5, 1, 0, 1), cable(50, 0.5, 1, 2), cable(50, 0.5, 1, 2), cable(50, 1, 2, 1), cable(5, 1, 1, 0)},
		{cable(5, 1, 0, 1), cable(2_000, 0.75, 1, 2), cable(50, 0.25, 1, 2), cable(2_000, 1, 2, 1), cable(5, 1, 1, 0)},
		{cable(5, 1, 0, 1), cable(100_000, 1, 1, 1), cable(5, 1, 1, 0)}} {
		for _, took := range []unit.Time{0, unit.Nanosecond, 20 * unit.Microsecond, unit.Second} {
			for _, again := range []int64{0, 3} {
				all = append(all, extend.Message{From: "host-1/gpu-1", To: "host-2/gpu-1", Bytes: 1 << 20, Retransmitted: again,
					Posted: unit.Microsecond, Done: unit.Microsecond + took, Hops: hops})
			}
		}
	}
	return all
}
