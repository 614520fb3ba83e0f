package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// trimmedAt makes a switch trim a packet, and returns its sender after the NACK.
func trimmedAt(s *Sender, now unit.Time, p *transport.Packet, why roce.NackReason) {
	s.Take(now, &transport.Packet{Kind: transport.Nack, Code: uint8(why), PSN: p.PSN, EchoEV: p.EV, Sent: p.Sent,
		Flags: transport.Stamped})
}

// TestAloneAtFullPort trims packets of a sender whose window is one packet. A packet trimmed by the port to the
// receiver is retransmitted after a round trip, and silence counts from then on. It is retransmitted at once if
// others are in flight, if the window may still shrink, or if another port trimmed it.
func TestAloneAtFullPort(t *testing.T) {
	send := func(t *testing.T, window unit.Bytes) (s *Sender, first transport.Packet) {
		t.Helper()
		m := newMaker(Protocol.Defaults, transport.Common{MTU: 4096, Planes: 1})
		m.control = func(cc.Path) cc.Controller { return &fixed{window: window} }
		s = newSender(newPeer(m, testPath, 1), 1)
		if err := s.Post(0, transport.Request{Bytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		for p := (transport.Packet{}); s.Next(us, 0, &p); p = (transport.Packet{}) {
			if p.PSN == 0 {
				first = p
			}
		}
		return s, first
	}
	s, p := send(t, 4096)
	now := us
	for i := range 5 {
		now += testPath.RTT
		trimmedAt(s, now, &p, roce.NackTrimmedLastHop)
		wait := s.peer.roundTrip()
		if s.Ready(now+wait-1, 0) || s.At() > now+wait {
			t.Fatalf("trim %d: it goes before %v, or nothing wakes it: %v", i+1, wait, s.At()-now)
		}
		now += wait
		s.Tick(now)
		if p = (transport.Packet{}); !s.Next(now, 0, &p) || p.PSN != 0 {
			t.Fatalf("trim %d: after %v goes %+v", i+1, wait, p)
		}
		if least := now + s.peer.patience/2; s.due() < least {
			t.Errorf("trim %d: a probe goes %v after the packet, want %v", i+1, s.due()-now, least-now)
		}
	}
	for what, x := range map[string]struct {
		window unit.Bytes
		why    roce.NackReason
	}{
		"elsewhere":           {4096, roce.NackTrimmed},
		"of two in flight":    {8192, roce.NackTrimmedLastHop},
		"of a window of five": {5 * 4096, roce.NackTrimmedLastHop},
	} {
		s, p := send(t, x.window)
		trimmedAt(s, us+testPath.RTT, &p, x.why)
		if !s.Ready(us+testPath.RTT, 0) {
			t.Errorf("trimmed %s: it does not go at once", what)
		}
	}
}

// fixed is a congestion control with a constant window.
type fixed struct{ window unit.Bytes }

func (f *fixed) OnCNP(unit.Time)               {}
func (f *fixed) OnAck(unit.Time, *cc.Ack)      {}
func (f *fixed) OnLoss(unit.Time, cc.Loss)     {}
func (f *fixed) OnBytes(unit.Time, unit.Bytes) {}
func (f *fixed) OnTimer(unit.Time)             {}
func (f *fixed) WantsAcks() bool               { return true }
func (f *fixed) Decision() cc.Decision {
	return cc.Decision{Rate: testPath.Line, Window: f.window, TimerAt: unit.Never}
}
func (f *fixed) Signal(unit.Time, string) (float64, bool) { return 0, false }
func (f *fixed) Counter(string) (int64, bool)             { return 0, false }
