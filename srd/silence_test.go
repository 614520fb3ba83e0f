package srd

import (
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// TestAnswerAfterSilence: an acknowledgement of a packet from before the silence shows that round trips are now
// that long. The other packets sent before it then have that time once more before they are lost. At 300 us the
// packet sent at 1 us is acknowledged, so the next check is at 300 + 299 us.
func TestAnswerAfterSilence(t *testing.T) {
	m := Protocol.New(with(map[string]any{"paths": 2}), transport.Common{MTU: 1000, Planes: 1})
	s := m.Peer(path100, 1).(*peer).Sender(1).(*sender)
	if err := s.Post(us, transport.Request{ID: 1, Bytes: 3000}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	sent := 0
	for s.Next(us, 0, &p) {
		sent++
	}
	if sent != 3 {
		t.Fatalf("%d packets of three leave", sent)
	}
	for s.tail.row == 0 {
		now := s.At()
		if now == unit.Never {
			t.Fatal("nobody asks")
		}
		s.Tick(now)
		for s.Next(now, 0, &p) {
			sent++
		}
	}
	if sent != 4 || s.tail.since != us {
		t.Fatalf("asked by packet %d, silent since %v", sent, s.tail.since)
	}
	const heard = 300 * us
	// the far NIC reports that it delayed the acknowledgement, so paths learn no round trip
	s.Take(heard, &transport.Packet{Kind: transport.Ack, PSN: 0, Sent: us, Delay: heard - us})
	s.Tick(heard)
	if got := s.At(); got != heard+heard-us {
		t.Errorf("looks again at %v, want 599us", got)
	}
}

// TestTail: all packets in flight are lost while round trips are thirty times the minimum, because of a queue that
// is gone. The sender probes after twice the longest pause between acknowledgements, and the answer reveals the
// other losses.
func TestTail(t *testing.T) {
	m := Protocol.New(with(map[string]any{"paths": 4}), transport.Common{MTU: 1000, Planes: 1})
	s := m.Peer(path100, 1).(*peer).Sender(1).(*sender)
	if err := s.Post(us, transport.Request{ID: 1, Bytes: 40_000}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	sent := 0
	for s.Next(us, 0, &p) {
		sent++
	}
	if sent != 40 {
		t.Fatalf("%d packets of 40 leave", sent)
	}
	for i := range 8 { // the first eight come, by a queue of 300 us
		s.Take(300*us+unit.Time(i)*us, &transport.Packet{Kind: transport.Ack, PSN: uint32(i),
			Expect: uint32(i + 1), Sent: us, EchoEV: uint32(i % 4)})
	}
	s.Tick(307 * us) // what was due in the burst
	ask := s.At()
	if ask != 307*us+2*path100.RTT {
		t.Fatalf("silent since 307 us, the sender looks at %v", ask)
	}
	s.Tick(ask)
	if !s.Next(ask, 0, &p) || p.Flags&transport.Again == 0 || s.Next(ask, 0, &p) {
		t.Fatal("not one packet goes again")
	}
	now := ask + path100.RTT
	s.Take(now, &transport.Packet{Kind: transport.Ack, PSN: 8, Expect: 9, Sent: ask, EchoEV: p.EV})
	for end := now + 500*us; now < end && sent < 40+31; now = max(now+us, min(end, s.At())) {
		s.Tick(now)
		for s.Next(now, 0, &p) {
			sent++
		}
	}
	if now > ask+100*us || sent != 40+31 {
		t.Errorf("at %v %d packets of 31 that were lost have gone again", now, sent-40)
	}
}

// TestOneAnswer: one acknowledgement alone shows no pause between acknowledgements. A sender that used the minimum
// round trip instead retransmitted a packet at the start of every incast, although nothing was lost (two to one at
// 100G, packet 3 after 3.2 us).
func TestOneAnswer(t *testing.T) {
	m := Protocol.New(with(map[string]any{"paths": 1}), transport.Common{MTU: 1000, Planes: 1})
	s := m.Peer(path100, 1).(*peer).Sender(1).(*sender)
	if err := s.Post(us, transport.Request{ID: 1, Bytes: 8000}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	for s.Next(us, 0, &p) {
	}
	answer := func(at unit.Time, psn uint32) {
		s.Take(at, &transport.Packet{Kind: transport.Ack, PSN: psn, Expect: psn + 1, Sent: us})
	}
	answer(us+path100.RTT, 0)
	quiet := us + 3*path100.RTT + 1
	if s.Tick(quiet); s.Next(quiet, 0, &p) {
		t.Error("a packet goes again after one answer and two round trips")
	}
	answer(quiet, 1) // a pause of two round trips: silence is twice that
	if got, want := s.tail.at, quiet+4*path100.RTT+2; got != want {
		t.Errorf("after two answers the sender asks at %v, want %v", got, want)
	}
}
