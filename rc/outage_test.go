package rc

import (
	"testing"

	"railyard/unit"
)

// A link is down for 5 ms, on one of many paths, so retransmissions on it are lost repeatedly. Once it is up the
// flow recovers soon. The interval between probes doubles, and lost retransmissions are detected within round
// trips, without a timer per hole.
func TestSoonAfterAnOutage(t *testing.T) {
	const outage = 5 * unit.Millisecond
	for _, paths := range []uint32{1, 2, 4, 16} {
		for _, n := range []int{300, 3000, 12000} {
			l := newLane(t, nil)
			l.write(64, 64) // round trips are known
			l.again = nil
			start, lost := l.now, 0
			out := func() bool { return l.now-start > 10*unit.Microsecond && l.now-start < outage }
			l.fate = func(p *Packet, copies int) (bool, unit.Time) {
				if p.PSN*2654435761>>20%paths == 0 && out() {
					lost++
					return true, 0
				}
				return false, 0
			}
			l.answer = func(*Packet) bool { return paths == 1 && out() }
			took := l.write(n, n)
			if took > 2*outage+unit.Time(n)*100*unit.Nanosecond+unit.Millisecond ||
				len(l.again) > lost*11/10 || l.timeouts != 0 {
				t.Errorf("%d paths, %d packets: %v, %d lost, %d retransmitted, %d timeouts", paths, n, took,
					lost, len(l.again), l.timeouts)
			}
		}
	}
}
