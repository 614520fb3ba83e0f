package mrc

import (
	"testing"

	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// turnAway makes a receiver's NIC reject a packet; its sender learns of that a round trip after it left.
func turnAway(t *testing.T, s *Sender, r *Receiver, sent unit.Time, p transport.Packet) (heard unit.Time) {
	t.Helper()
	heard = sent + testPath.RTT
	r.Refuse(&p, roce.NackNoResource)
	var answer transport.Packet
	if !r.Say(sent+testPath.RTT/2, &answer) || answer.Kind != transport.Nack {
		t.Fatalf("a refused packet is answered with %+v", answer)
	}
	s.Take(heard, &answer)
	return heard
}

// A WRITE with immediate without a posted receive is retransmitted after a round trip, then after two, four and so
// on up to 0.64 ms, without a limit. This affects neither its path nor the retry counter nor the congestion
// control. Other packets go on meanwhile, except lost ones.
func TestTurnedAway(t *testing.T) {
	m := newMaker(Protocol.Defaults, transport.Common{MTU: 1024, Planes: 1})
	peer := newPeer(m, testPath, 1)
	s, r := newSender(peer, 1), newReceiver(m, testPath, 1)
	for id := range uint64(2) {
		if err := s.Post(0, transport.Request{ID: id + 1, Bytes: 10, Tells: id == 0}); err != nil {
			t.Fatal(err)
		}
	}
	now, window := unit.Time(0), peer.pace.Window
	var p, other transport.Packet
	if !s.Next(now, 0, &p) {
		t.Fatal("nothing goes")
	}
	const times = 40 // many more than the retry limit
	for i := range times {
		now = turnAway(t, s, r, now, p)
		if i == 0 && (!s.Next(now, 0, &other) || other.Message != 1 || s.Next(now, 0, &other)) {
			t.Errorf("behind a packet that is turned away goes %+v", other)
		}
		want := now + min(peer.roundTrip()<<min(i, 20), usualPause)
		if at := s.away.until; at != want || s.At() > at || s.Ready(now, 0) {
			t.Fatalf("refusal %d at %v: it may go at %v, want %v; it wants to be called at %v", i, now, at,
				want, s.At())
		}
		if i == 0 { // packets that are not rejected arrive
			r.Take(now, &other)
			var answer transport.Packet
			for r.Say(now, &answer) {
				s.Take(now, &answer)
				answer = transport.Packet{}
			}
		}
		for now = want; s.At() <= now; {
			s.Tick(now)
		}
		if p = (transport.Packet{}); !s.Next(now, 0, &p) || p.Message != 0 || p.Flags&transport.Again == 0 {
			t.Fatalf("after refusal %d goes %+v", i, p)
		}
	}
	r.Take(now, &p)
	for answer := (transport.Packet{}); r.Say(now, &answer); answer = (transport.Packet{}) {
		s.Take(now+testPath.RTT, &answer)
	}
	for id := range uint64(2) {
		if c, ok := s.Completed(); !ok || c.ID != id+1 || c.Status != rc.Success {
			t.Errorf("completion %+v, %v", c, ok)
		}
	}
	if n := count(s, "nack_no_resource"); n != times || count(s, "timeouts") != 0 || len(peer.evs.bad) != 0 ||
		peer.pace.Window < window || s.InFlight() != 0 {
		t.Errorf("%d refusals, %d timeouts, %d bad values, a window of %v for %v", n, count(s, "timeouts"),
			len(peer.evs.bad), peer.pace.Window, window)
	}
}
