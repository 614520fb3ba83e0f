package rc

import (
	"testing"

	"railyard/unit"
)

// The timer belongs to the oldest unacknowledged packet. While that packet waits for its retransmission (a pause,
// or a pace below one packet per round trip) no retry is counted. Once it is sent, the full time-out runs.
func TestNoTimerForWhatHasNotGoneAgain(t *testing.T) {
	for _, recovery := range []Recovery{GoBackN, Selective} {
		e := connected(t, func(c *Config) { c.Recovery, c.Retries = recovery, 7 })
		e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(4096)})
		var p Packet
		for e.a.Next(e.now, &p) {
		}
		for try := 0; e.a.Timeouts < 2; try++ {
			if at := e.a.TimeoutAt(); at == unit.Never || try > 20 {
				t.Fatalf("recovery %d: %d time-outs, the next comes at %v", recovery, e.a.Timeouts, at)
			}
			e.now = e.a.TimeoutAt()
			e.a.Timeout(e.now)
			if !e.a.Pending() {
				t.Fatalf("recovery %d: a time-out has nothing retransmitted", recovery)
			}
			if una, _, _ := e.a.Sequence(); e.a.Timeouts > 0 && una == 0xfffffe {
				if at := e.a.TimeoutAt(); at != unit.Never {
					t.Fatalf("recovery %d: the timer runs for a packet that waits, to %v", recovery, at)
				}
			}
			e.now += unit.Second // its turn
			for e.a.Next(e.now, &p) {
			}
			if at := e.a.TimeoutAt(); at <= e.now || at > e.now+e.cfg.Timeout {
				t.Fatalf("recovery %d: retransmitted at %v, and the timer runs to %v", recovery, e.now, at)
			}
		}
		e.run(nil)
		e.want(Success)
	}
}
