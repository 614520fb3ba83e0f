package mrc

import (
	"testing"

	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// TestAnswersCross: bad values are probed more often than an answer takes, so no answer belongs to the last probe.
// Each answer still shows that packets from before its own probe would have arrived. The only packet is
// retransmitted, and the connection does not end by silence.
func TestAnswersCross(t *testing.T) {
	const us, way = unit.Microsecond, 10 * unit.Microsecond
	m := newMaker(with(param.Values{"probe_every": 3 * us, "early": false}), transport.Common{MTU: 4096, Planes: 1})
	s := newSender(newPeer(m, testPath, 1), 1)
	if err := s.Post(0, transport.Request{Bytes: 4096}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	if !s.Next(0, 0, &p) {
		t.Fatal("nothing goes")
	}
	for i := range 3 {
		s.peer.condemn(0, uint16(i))
	}
	var answers []transport.Packet
	for now := us; now < 1000*us; now += us {
		for len(answers) > 0 && answers[0].Waited <= now {
			a := answers[0]
			answers, a.Waited = answers[1:], 0
			s.Take(now, &a)
		}
		s.Tick(now)
		for p = (transport.Packet{}); s.Say(now, &p); p = (transport.Packet{}) {
			if p.Kind == transport.Probe { // Waited: when its answer has arrived
				answers = append(answers, transport.Packet{Kind: transport.Answer, Code: AboutConnection, PSN: p.PSN,
					EchoEV: p.EV, Verdict: uint8(roce.VerdictAlwaysSkip), Sent: p.Sent, Flags: transport.Stamped,
					Waited: now + way})
			}
		}
		if p = (transport.Packet{}); s.Next(now, 0, &p) {
			if p.Flags&transport.Again == 0 {
				t.Errorf("%+v", p)
			}
			return
		}
	}
	t.Errorf("in 1 ms nothing goes again; dead: %v, %d retries in silence, %d probes", s.dead, s.retry.n, s.probes.said)
}
