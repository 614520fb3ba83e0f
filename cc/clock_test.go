package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// ear is a controller that records its inputs. The test sets its window.
type ear struct {
	cc.None
	acks   []cc.Ack
	window unit.Bytes
}

func (*ear) WantsAcks() bool                { return true }
func (e *ear) OnAck(_ unit.Time, a *cc.Ack) { e.acks = append(e.acks, *a) }
func (e *ear) Decision() cc.Decision {
	return cc.Decision{Rate: 100 * unit.Gbps, Window: e.window, TimerAt: unit.Never}
}

// A packet is measured if it requested an acknowledgement and was sent once. Retransmitted packets, and those in
// flight at a retransmission, are not measured (Karn). PSNs wrap around.
func TestRoundTrips(t *testing.T) {
	const us = unit.Microsecond
	e := &ear{}
	p := cc.Pacer{Line: 100 * unit.Gbps}
	p.Start(e)
	const first = 1<<24 - 2
	psn := func(i int) uint32 { return uint32(first+i) & (1<<24 - 1) }
	p.Launched(0, psn(0), false, false)
	p.Launched(1*us, psn(1), true, false)
	p.Launched(2*us, psn(2), false, false)
	p.Launched(3*us, psn(3), true, false)
	p.Acknowledged(10*us, psn(2), psn(1), cc.Ack{Bytes: 8192, InFlight: 8192}) // an ACK: 9 us
	p.Acknowledged(11*us, psn(3), psn(3), cc.Ack{Bytes: 4096, InFlight: 4096}) // a NAK of 3
	p.Launched(12*us, psn(3), true, true)                                      // retransmitted
	// a packet after the retransmitted one
	p.Launched(13*us, psn(4), true, false)
	// the acknowledgement may belong to either copy
	p.Acknowledged(20*us, psn(4), psn(3), cc.Ack{Bytes: 4096, InFlight: 4096})
	p.Acknowledged(21*us, psn(5), psn(4), cc.Ack{Bytes: 4096, InFlight: 0})     // 8 us
	p.Launched(30*us, psn(5), true, false)                                      //
	p.Launched(31*us, psn(6), true, false)                                      //
	p.Launched(90*us, psn(5), true, true)                                       // 6 was under way then:
	p.Acknowledged(95*us, psn(7), psn(6), cc.Ack{Bytes: 2 * 4096, InFlight: 0}) // it may have waited
	want := []unit.Time{9 * us, 0, 0, 8 * us, 0}
	for i, a := range e.acks {
		if a.RTT != want[i] {
			t.Errorf("answer %d has a round trip of %v, want %v", i, a.RTT, want[i])
		}
	}
}

// Random traffic, with more packets in flight than a fresh ring holds, is compared with a map of all sent packets.
func TestRoundTripsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := &ear{}
		p := cc.Pacer{Line: 100 * unit.Gbps}
		p.Start(e)
		const mask = 1<<24 - 1
		una := rapid.Uint32Range(0, mask).Draw(rt, "psn")
		next, high := una, una
		sent := map[uint32]unit.Time{} // packets that may be measured
		for now := unit.Time(1); now < 2000; now++ {
			switch k := rapid.IntRange(0, 9).Draw(rt, "what"); {
			case k < 6:
				asks := rapid.Bool().Draw(rt, "asks")
				again := next != high
				if again {
					clear(sent)
				} else if high = (high + 1) & mask; asks {
					sent[next] = now
				}
				p.Launched(now, next, asks, again)
				next = (next + 1) & mask
			case k < 9:
				if n := (next - una) & mask; n > 0 {
					una = (una + rapid.Uint32Range(1, n).Draw(rt, "n")) & mask
					psn := (una - 1) & mask
					p.Acknowledged(now, una, psn, cc.Ack{Bytes: 4096, InFlight: 0})
					want := unit.Time(0)
					if at, ok := sent[psn]; ok {
						want = now - at
					}
					if got := e.acks[len(e.acks)-1].RTT; got != want {
						rt.Fatalf("the round trip of %d is %v, want %v", psn, got, want)
					}
				}
			default:
				next = una // back
			}
		}
	})
}

// Where acknowledgements name their packets, the first retransmission of a trimmed packet is measured. The first
// copy need not have requested an acknowledgement. A second retransmission is not measured, and neither is a
// retransmission for another reason.
func TestRoundTripsOfTrimmedPackets(t *testing.T) {
	const us = unit.Microsecond
	e := &ear{}
	p := cc.Pacer{Line: 100 * unit.Gbps, Named: true}
	p.Start(e)
	answer := func(now unit.Time, psn uint32) unit.Time {
		p.Acknowledged(now, 0, psn, cc.Ack{Bytes: 4096})
		return e.acks[len(e.acks)-1].RTT
	}
	for psn := range uint32(8) {
		p.Launched(0, psn, psn%4 == 3, false)
	}
	for _, psn := range []uint32{1, 3, 4} {
		p.Trimmed(psn)
		p.Launched(10*us, psn, true, true)
	}
	p.Trimmed(4)
	p.Launched(30*us, 4, true, true)
	p.Launched(30*us, 6, true, true) // retransmitted after a time-out
	p.Launched(31*us, 7, true, true)
	p.Trimmed(7) // either copy may be the trimmed one
	p.Launched(35*us, 7, true, true)
	for psn, want := range map[uint32]unit.Time{1: 40 * us, 3: 40 * us, 4: 0, 6: 0, 7: 0} {
		if got := answer(50*us, psn); got != want {
			t.Errorf("the round trip of packet %d is %v, want %v", psn, got, want)
		}
	}
}

// Against a map, for random traffic with named answers: packets in any order, of which some are trimmed or lost.
func TestNamedRoundTripsAgainstAMap(t *testing.T) {
	type copies struct {
		at             unit.Time // 0: not timed
		trimmed, again bool
	}
	rapid.Check(t, func(rt *rapid.T) {
		e := &ear{}
		p := cc.Pacer{Line: 100 * unit.Gbps, Named: true}
		p.Start(e)
		const mask = 1<<24 - 1
		una := rapid.Uint32Range(0, mask).Draw(rt, "psn")
		next := una
		sent := map[uint32]*copies{}
		for now := unit.Time(1); now < 1000; now++ {
			n := (next - una) & mask
			what := rapid.IntRange(0, 9).Draw(rt, "what")
			if what < 4 || n == 0 {
				asks := rapid.Bool().Draw(rt, "asks")
				p.Launched(now, next, asks, false)
				sent[next] = &copies{at: now}
				next = (next + 1) & mask
				continue
			}
			psn := (una + rapid.Uint32Range(0, n-1).Draw(rt, "which")) & mask
			s := sent[psn]
			switch {
			case what < 6:
				s.trimmed = true
				p.Trimmed(psn)
			case what < 8:
				first := s.trimmed && !s.again
				s.at, s.trimmed, s.again = 0, false, true
				if first {
					s.at = now
				}
				p.Launched(now, psn, true, true)
			default:
				if psn == una || rapid.Bool().Draw(rt, "in order") {
					una = (psn + 1) & mask
				}
				p.Acknowledged(now, una, psn, cc.Ack{Bytes: 4096})
				want := unit.Time(0)
				if s.at != 0 {
					want = now - s.at
				}
				if got := e.acks[len(e.acks)-1].RTT; got != want {
					rt.Fatalf("the round trip of %d is %v, want %v", psn, got, want)
				}
			}
		}
	})
}

// A window that shrinks below the data in flight closes only if an acknowledgement is outstanding. Without one,
// only a time-out would open it again.
func TestAClosedWindowIsOpenedAgain(t *testing.T) {
	e := &ear{window: 8 * 4096}
	p := cc.Pacer{Line: 100 * unit.Gbps}
	p.Start(e)
	p.Decide(0)
	for psn := range uint32(8) {
		if p.Blocked(unit.Bytes(psn) * 4096) {
			t.Fatalf("blocked with %d packets of 8 under way", psn)
		}
		p.Launched(0, psn, psn == 3, false) // only the packet in the middle requests an acknowledgement
	}
	if !p.Blocked(8 * 4096) {
		t.Fatal("a full window lets one more go")
	}
	e.window = 2 * 4096
	p.Acknowledged(1, 4, 3, cc.Ack{Bytes: 4 * 4096, InFlight: 4 * 4096})
	p.Decide(1)
	if !p.Full(4*4096) || p.Blocked(4*4096) {
		t.Fatal("nobody was asked, and nothing may go that could ask")
	}
	p.Launched(1, 8, true, false)
	if !p.Blocked(5 * 4096) {
		t.Fatal("more than the one that asks may go")
	}
	p.Launched(2, 4, false, true) // retransmit from the oldest: the packet with the request may have been dropped
	if p.Blocked(2 * 4096) {
		t.Fatal("an answer is waited for that may never come")
	}
}

// Once the ring is as long as the window, no packet allocates memory.
func TestRoundTripsAllocateNothing(t *testing.T) {
	e := &quiet{}
	p := cc.Pacer{Line: 100 * unit.Gbps}
	p.Start(e)
	psn := uint32(0)
	turn := func() {
		for range 100 {
			p.Launched(unit.Time(psn), psn, true, false)
			psn++
		}
		for i := range uint32(100) {
			p.Acknowledged(unit.Time(psn), psn-99+i, psn-100+i, cc.Ack{Bytes: 4096, InFlight: 0})
		}
	}
	turn()
	if n := testing.AllocsPerRun(10, turn); n > 0 {
		t.Errorf("%v allocations per 100 packets", n)
	}
}

type quiet struct{ cc.None }

func (quiet) WantsAcks() bool { return true }
