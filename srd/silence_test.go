package srd

import (
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// TestAnswerAfterSilence: an answer to what left before the silence says that round trips take so long now. What
// else left until then has as long again from there on before it is lost: at 300 us an answer comes to a packet of
// 1 us, and nothing is looked at before 300 + 299 us.
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
	for s.probeAt == 0 {
		now := s.At()
		if now == unit.Never {
			t.Fatal("nobody asks")
		}
		s.Tick(now)
		for s.Next(now, 0, &p) {
			sent++
		}
	}
	if sent != 4 || s.quiet != us {
		t.Fatalf("asked by packet %d, silent since %v", sent, s.quiet)
	}
	const heard = 300 * us
	// the far NIC says that it held it all the while, so paths learn no round trip by it
	s.Take(heard, &transport.Packet{Kind: transport.Ack, PSN: 0, Sent: us, Delay: heard - us})
	s.Tick(heard)
	if got := s.At(); got != heard+heard-us {
		t.Errorf("looks again at %v, want 599us", got)
	}
}
