package fabric

import (
	"math"
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// burst queues 800 KB of 4 KB packets with a WRED maximum of 20 KB, and lets the queue drain.
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
		t.Errorf("%d packets arrived, %d dropped, %d still there: not the 200 sent", b.got[2][3]/4000,
			b.Drops, b.InUse())
	}
	return b
}

// WRED marks with ecn and drops without it. It drops packets that cannot be marked (RFC 3168, sections 5 and 7). A
// no-drop class is no exception: PFC protects packets from a full buffer, not from random-detect. Of a burst, only
// the bytes of the queue's minimum pass.
func TestWREDMarksOrDrops(t *testing.T) {
	for _, lossless := range []bool{false, true} {
		for _, marks := range []bool{false, true} {
			for name, ecn := range map[string]uint8{"Not-ECT": 0, "ECT(0)": ECT0, "CE": CE} {
				b := burst(t, lossless, marks, ecn)
				drops := !marks || ecn == 0
				if drops != (b.Drops > 190) || drops != (b.WREDDrops == b.Drops && b.Drops > 0) ||
					drops != (b.Marks == 0) {
					t.Errorf("lossless %v, ecn %v, %s: %d dropped (%d by WRED), %d marked", lossless, marks,
						name, b.Drops, b.WREDDrops, b.Marks)
				}
			}
		}
	}
}

// An average falls while its queue is empty, once for each frame that could have been sent (Floyd and Jacobson
// 1993, section 4). After a burst the next packets, which pass through an idle port, are still marked or dropped.
// Some time later none is.
func TestAverageFallsWhileIdle(t *testing.T) {
	const weight = 6
	for _, marks := range []bool{false, true} {
		b := newBench(t, 3, func(s *queue.Spec) {
			s.MTU = 4200
			s.Queues[3] = queue.Class{Weight: 50, Limit: 10 * unit.MB,
				WRED: queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, Weight: weight,
					ECN: marks}}
		})
		touched := func() int64 { return b.Marks + b.Drops }
		for i := range 60 {
			b.put(unit.Time(i)*100, 0, 2, 24, 4000)
			b.put(unit.Time(i)*100, 1, 2, 24, 4000)
		}
		for b.QueueBytes(b.in[2], 3) > 0 || b.Q.Now() < unit.Microsecond {
			b.run(b.Q.Now() + unit.Microsecond)
		}
		b.run(b.Q.Now() + unit.Microsecond) // the last frame is out
		slot := b.slot(b.in[2], 3)
		high := b.averages[slot].bytes
		if high < 20*unit.KB {
			t.Fatalf("marks %v: the average is %v after the burst", marks, high)
		}
		before := touched()
		b.put(b.Q.Now(), 0, 2, 24, 4000)
		b.run(b.Q.Now() + unit.Microsecond)
		if touched() != before+1 {
			t.Errorf("marks %v: nothing happens to a packet that passes by with an average of %v", marks,
				high)
		}
		// Down by 1/64 for each frame time of 4,220 bytes and once for the packet.
		high = b.averages[slot].bytes
		since := b.averages[slot].empty
		frame := unit.Serialize(4220, 100*unit.Gbps)
		b.run(b.Q.Now() + 100*frame)
		b.put(b.Q.Now(), 0, 2, 24, 100)
		b.run(b.Q.Now() + 1)
		steps := float64((b.averages[slot].empty-since)/frame + 1)
		if got, want := float64(b.averages[slot].bytes),
			math.Pow(63./64, steps)*float64(high); math.Abs(got-want) > 100 || steps < 100 {
			t.Errorf("marks %v: in %.0f steps the average fell from %v to %.0f, want %.0f", marks, steps,
				high, got, want)
		}
		b.run(b.Q.Now() + unit.Second)
		before = touched()
		b.put(b.Q.Now(), 0, 2, 24, 4000)
		b.run(b.Q.Now() + unit.Microsecond)
		if b.averages[slot].bytes != 0 || touched() != before {
			t.Errorf("marks %v: after a second of silence the average is %v", marks, b.averages[slot].bytes)
		}
	}
}

// A weight without thresholds is no WRED.
func TestWeightWithoutThresholds(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.Queues[3].WRED = queue.WRED{Weight: 5, ECN: true} })
	for i := range 10 {
		b.put(unit.Time(i), 0, 1, 24, 4000)
	}
	b.run(unit.Millisecond)
	if b.Marks+b.Drops != 0 || b.got[1][3] != 40_000 {
		t.Errorf("%d marks, %d drops, %d bytes", b.Marks, b.Drops, b.got[1][3])
	}
}

// A switch that marks only in the core does not mark packets to a server, however long the queue.
func TestCoreMarks(t *testing.T) {
	for _, core := range []bool{false, true} {
		b := newBench(t, 3, func(s *queue.Spec) {
			s.CoreMarks = core
			s.Queues[3].WRED = queue.WRED{Min: 1, Max: 2, Probability: 1, ECN: true}
		})
		for range 20 {
			b.put(0, 1, 0, 24, 4000)
			b.put(2, 1, 0, 24, 4000)
		}
		b.run(unit.Millisecond)
		if (b.Marks == 0) != core {
			t.Errorf("marks in the core only: %v, and %d packets to a server are marked", core, b.Marks)
		}
	}
}

// TestWREDLooksAtWhatPassesBy: a packet that finds its port idle is marked while the average is high, as a queued
// packet is. This holds even if the port became idle at that time.
func TestWREDLooksAtWhatPassesBy(t *testing.T) {
	for _, free := range []unit.Time{-1, 0, 1} { // counted from the packet's arrival
		b := newBench(t, 2, func(s *queue.Spec) {
			s.Queues[3] = queue.Class{Weight: 50, Limit: 10 * unit.MB,
				WRED: queue.WRED{Min: 1, Max: 2, Probability: 1, Weight: 10, ECN: true}}
		})
		const at = unit.Microsecond
		b.averages[b.slot(b.in[1], 3)].bytes = unit.MB
		b.Ports[b.in[1]].BusyUntil = at + free
		b.put(at, 0, 1, 24, 4000)
		if b.run(unit.Millisecond); b.Marks != 1 || b.got[1][3] != 4000 {
			t.Errorf("the port is free from %v on: %d marks", free, b.Marks)
		}
	}
}
