package rc

import (
	"testing"

	"railyard/unit"
)

// A cable that is out for a while takes what is sent again with it, many times over: 5 ms on one of
// so many paths. Once it is whole the flow is through soon: probes come at twice the time each, and
// what went again and was lost is found within round trips, not by a timer for each hole.
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
