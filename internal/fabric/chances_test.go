package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// TestEitherIsTrimmed: of a packet that finds its queue full and the last queued one, each is trimmed with
// probability one half. Two packets fit here, and the queue's bytes change if the new packet stays: 1,000 times of
// 2,000, ± 22 (one standard deviation); without the option never.
func TestEitherIsTrimmed(t *testing.T) {
	const n = 2000
	for _, either := range []bool{false, true} {
		b := newBench(t, 3, trimming(2200, either))
		out := b.in[2]
		b.Ports[out].Paused = 1 << 3
		for i := range unit.Time(2) {
			b.put(i, 0, 2, 24, 900)
		}
		b.run(10)
		exchanged := 0
		for i := range n {
			was, at := b.QueueBytes(out, 3), unit.Time(i+1)*unit.Microsecond
			b.put(at, 1, 2, 24, uint16(901+i%64))
			if b.run(at + 1); b.QueueBytes(out, 3) != was {
				exchanged++
			}
		}
		if b.Trims != n || either && (exchanged < 900 || exchanged > 1100) || !either && exchanged != 0 {
			t.Errorf("either %v: the newcomer stayed %d times of %d, %d were cut", either, exchanged, n, b.Trims)
		}
	}
}

// TestFasterLinksRepeatPauses: the quanta of a pause last less time on a faster link. Pauses in force are therefore
// repeated when either direction becomes faster or the cable is repaired, and only then.
func TestFasterLinksRepeatPauses(t *testing.T) {
	const g = unit.Gbps
	for name, c := range map[string]struct {
		to   LinkState
		want uint64
	}{
		"both faster":                {LinkState{Up: true, Rate: 200 * g}, 1},
		"out faster":                 {LinkState{Up: true, Rate: 200 * g, Back: 100 * g}, 1},
		"in faster":                  {LinkState{Up: true, Rate: 100 * g, Back: 200 * g}, 1},
		"out faster, in slower":      {LinkState{Up: true, Rate: 200 * g, Back: 50 * g}, 1},
		"in faster, out slower":      {LinkState{Up: true, Rate: 50 * g, Back: 200 * g}, 1},
		"both slower":                {LinkState{Up: true, Rate: 50 * g}, 0},
		"out slower":                 {LinkState{Up: true, Rate: 50 * g, Back: 100 * g}, 0},
		"in slower":                  {LinkState{Up: true, Rate: 100 * g, Back: 50 * g}, 0},
		"as fast":                    {LinkState{Up: true, Rate: 100 * g}, 0},
		"as fast, with other errors": {LinkState{Up: true, Rate: 100 * g, BER: 1e-15}, 0},
		"down":                       {LinkState{Rate: 200 * g}, 0},
	} {
		b := newBench(t, 2, func(s *queue.Spec) {
			s.Watchdog.On = false
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 10 * unit.KB, XOn: 5 * unit.KB}
		})
		b.SendPause(b.hosts[1], 3)
		for i := range unit.Time(5) {
			b.put(unit.Microsecond+i, 0, 1, 24, 4000)
		}
		b.run(10 * unit.Microsecond)
		sent := b.Stats[b.in[0]].PauseSent
		if sent != 1 {
			t.Fatalf("%s: %d pauses at first", name, sent)
		}
		b.SetLink(b.in[0], c.to)
		b.run(20 * unit.Microsecond)
		if got := b.Stats[b.in[0]].PauseSent - sent; uint64(got) != c.want {
			t.Errorf("%s: %d pauses go again, want %d", name, got, c.want)
		}
	}
}
