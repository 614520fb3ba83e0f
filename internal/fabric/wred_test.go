package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// burst puts 800 KB of 4 KB packets into a queue whose WRED maximum is 20 KB, and lets it drain.
func burst(t *testing.T, lossless, marks bool, ecn uint8) *bench {
	t.Helper()
	b := newBench(t, 3, func(s *queue.Spec) {
		s.Queues[3].Lossless = lossless
		s.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: marks}
		s.Queues[3].Limit = 10 * unit.MB
	})
	for i := range 100 {
		for in := range 2 {
			b.putECN(unit.Time(i)*100, in, 2, 24, 4000, ecn)
		}
	}
	b.run(unit.Second)
	if err := b.Audit(); err != nil {
		t.Error(err)
	}
	if b.InUse() != 0 || b.got[2][3]/4000+b.Drops != 200 {
		t.Errorf("%d packets arrived, %d dropped, %d still there: not the 200 sent", b.got[2][3]/4000, b.Drops, b.InUse())
	}
	return b
}

// WRED marks with ecn and drops without, and what cannot be marked it drops (RFC 3168, sections 5
// and 7). A no-drop class changes nothing about it: PFC saves packets from a full buffer, not
// from random-detect. Only the queue's minimum gets through of a burst.
func TestWREDMarksOrDrops(t *testing.T) {
	for _, lossless := range []bool{false, true} {
		for _, marks := range []bool{false, true} {
			for name, ecn := range map[string]uint8{"Not-ECT": 0, "ECT(0)": ECT0, "CE": CE} {
				b := burst(t, lossless, marks, ecn)
				drops := !marks || ecn == 0
				if drops != (b.Drops > 190) || drops != (b.WREDDrops == b.Drops && b.Drops > 0) || drops != (b.Marks == 0) {
					t.Errorf("lossless %v, ecn %v, %s: %d dropped (%d by WRED), %d marked", lossless, marks, name, b.Drops, b.WREDDrops, b.Marks)
				}
			}
		}
	}
}
