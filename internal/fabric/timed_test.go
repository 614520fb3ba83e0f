package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// Limits in units of time have a quarter of their bytes if a cable runs at a quarter of its rate, and marks begin
// at a quarter. The queueing time is equal at every rate. Limits in bytes do not change, and two of the largest
// frames always fit.
func TestLimitsInTime(t *testing.T) {
	const packet = 4062 * unit.Byte
	for _, c := range []struct {
		timed  bool
		share  unit.Rate
		room   unit.Bytes // buffer of 100 KB
		begins unit.Bytes // marking, of 50 KB
	}{
		{false, 1, 100 * unit.KB, 50 * unit.KB}, {false, 4, 100 * unit.KB, 50 * unit.KB},
		{true, 1, 100 * unit.KB, 50 * unit.KB}, {true, 4, 25 * unit.KB, 12500}, {true, 100, 2 * 9216, 500},
	} {
		b := newBench(t, 3, func(s *queue.Spec) {
			s.Timed = c.timed
			s.Queues[3] = queue.Class{Weight: 50, Limit: 100 * unit.KB,
				WRED: queue.WRED{Min: 50 * unit.KB, Max: 50*unit.KB + 1, Probability: 1, ECN: true}}
		})
		b.SetLink(b.in[2], LinkState{Up: true, Rate: 100 * unit.Gbps / c.share})
		for i := range 100 {
			for in := range 2 {
				b.put(unit.Time(i)*100, in, 2, 24, 4000)
			}
		}
		b.run(unit.Second)
		if err := b.Audit(); err != nil {
			t.Error(err)
		}
		fit := c.room / packet
		marked := int64(fit - 1 - c.begins/packet) // packets that leave more than begins queued after them
		if peak := b.TakePeak(b.in[2]); peak != fit*packet || b.Marks != marked {
			t.Errorf("in time %v, 1/%d of the rate: %v wait and %d are marked, want %v and %d", c.timed, c.share, peak,
				b.Marks, fit*packet, marked)
		}
	}
}
