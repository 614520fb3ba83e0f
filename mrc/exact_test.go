package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// TestVerdicts of a receiver: a plane whose port is down here must be avoided, whatever the packet's mark. A mark
// on another plane skips the value once.
func TestVerdictsOfPlanes(t *testing.T) {
	for _, c := range []struct {
		up     bool
		flags  transport.Flags
		want   roce.Verdict
		probes bool
	}{
		{true, 0, roce.VerdictNone, false},
		{true, transport.Marked, roce.VerdictSkipOnce, false},
		{false, 0, roce.VerdictAlwaysSkip, false},
		{false, transport.Marked, roce.VerdictAlwaysSkip, false},
		{true, 0, roce.VerdictNone, true},
		{true, transport.Marked, roce.VerdictSkipOnce, true},
		{false, transport.Marked, roce.VerdictAlwaysSkip, true},
	} {
		m := newMaker(Protocol.Defaults, transport.Common{MTU: 1024, Planes: 2})
		r := newReceiver(m, testPath, 1)
		if !c.up {
			r.PlaneIs(0, 1, false)
		}
		p := transport.Packet{Kind: transport.Data, Plane: 1, Flags: c.flags | transport.Asks, EV: 5000}
		if c.probes {
			p.Kind, p.Code = transport.Probe, AboutConnection
		}
		r.Take(0, &p)
		said := 0
		for p = (transport.Packet{}); r.Say(0, &p); p = (transport.Packet{}) {
			if p.Kind == transport.Control {
				continue // port is down
			}
			if said++; p.Verdict != uint8(c.want) || p.EchoEV != 5000 {
				t.Errorf("%+v: the verdict on %d is %d", c, p.EchoEV, p.Verdict)
			}
		}
		if said != 1 {
			t.Errorf("%+v: %d answers", c, said)
		}
	}
}

// TestReversePeriod: while data arrive, the return paths are checked once per round trip, or per probe_every if
// set, or per millisecond if neither is known. This continues for eight periods after the last packet.
func TestReversePeriod(t *testing.T) {
	const us = unit.Microsecond
	for _, c := range []struct{ rtt, every, want unit.Time }{
		{0, 0, 1000 * us}, {10 * us, 0, 10 * us}, {10 * us, 30 * us, 30 * us}, {0, 7 * us, 7 * us},
	} {
		m := newMaker(with(param.Values{"probe_every": c.every}), transport.Common{MTU: 1024, Planes: 1})
		r := newReceiver(m, cc.Path{Line: 100 * unit.Gbps, MTU: 1024, RTT: c.rtt}, 1)
		r.Take(us, &transport.Packet{Kind: transport.Data, Flags: transport.Asks})
		for p := (transport.Packet{}); r.Say(us, &p); p = (transport.Packet{}) {
			if p.Kind != transport.Ack {
				t.Errorf("round trip %v: %v is said", c.rtt, p.Kind)
			}
		}
		for i := range unit.Time(8) {
			now := us + (i+1)*c.want
			if r.At() != now {
				t.Fatalf("round trip %v, probe_every %v: look %d is at %v, want %v", c.rtt, c.every, i+1, r.At(), now)
			}
			r.Tick(now - 1)
			r.Tick(now)
		}
		if r.At() != unit.Never {
			t.Errorf("round trip %v: without data the next look is at %v", c.rtt, r.At())
		}
	}
}

// reversed is a receiver on a path of 10 us that has sent a number of answers on its only plane at time 0.
func reversed(answers int) *Receiver {
	r := newReceiver(newMaker(Protocol.Defaults, transport.Common{MTU: 1024, Planes: 1}), testPath, 1)
	for i := range answers {
		r.Take(0, &transport.Packet{Kind: transport.Data, PSN: uint32(i), Flags: transport.Asks})
		var p transport.Packet
		for r.Say(0, &p) {
		}
	}
	return r
}

// TestReverseQuestions: the return path is probed after eight answers, not after seven, and at once after a
// duplicate. The next probe follows a round trip later, and the third one four later, for another value. The answer
// to the first of two probes is an answer, and its round trip counts from that probe. An answer to an older probe
// is ignored.
func TestReverseQuestions(t *testing.T) {
	const us = unit.Microsecond
	question := func(r *Receiver, now unit.Time) (transport.Packet, bool) {
		r.Tick(now)
		var p transport.Packet
		ok := r.Say(now, &p)
		return p, ok
	}
	if p, ok := question(reversed(7), 10*us); ok {
		t.Errorf("after seven answers: %+v", p)
	}
	again := reversed(2)
	again.Take(0, &transport.Packet{Kind: transport.Data, Flags: transport.Asks})
	for p := (transport.Packet{}); again.Say(0, &p); {
	}
	if p, ok := question(again, 10*us); !ok || p.Kind != transport.Probe {
		t.Errorf("after a copy: %+v, %v", p, ok)
	}
	r := reversed(8)
	var asked [3]transport.Packet
	for i, at := range []unit.Time{10 * us, 20 * us, 60 * us} {
		if r.At() != at {
			t.Fatalf("question %d is due at %v, want %v", i, r.At(), at)
		}
		if p, ok := question(r, at-1); ok {
			t.Errorf("before question %d: %+v", i, p)
		}
		p, ok := question(r, at)
		if !ok || p.Kind != transport.Probe || p.Code != AboutEV || p.Sent != at || p.Flags != transport.Stamped {
			t.Fatalf("question %d: %+v, %v", i, p, ok)
		}
		if _, more := question(r, at); more {
			t.Errorf("question %d goes twice", i)
		}
		asked[i] = p
	}
	if asked[0].EV != asked[1].EV || asked[1].EV == asked[2].EV || count(r, "reverse_changes") != 1 ||
		count(r, "reverse_probes") != 3 {
		t.Errorf("ways %d, %d and %d, %d changes, %d questions", asked[0].EV, asked[1].EV, asked[2].EV,
			count(r, "reverse_changes"), count(r, "reverse_probes"))
	}
	if asked[1].PSN-asked[0].PSN != maxPlanes || asked[2].PSN-asked[1].PSN != maxPlanes {
		t.Errorf("questions %d, %d and %d", asked[0].PSN, asked[1].PSN, asked[2].PSN)
	}
	if r.At() != 100*us {
		t.Errorf("the next look is at %v, want 100 us", r.At())
	}
	answer := func(p *transport.Packet, now unit.Time) uint8 {
		r.Take(now, &transport.Packet{Kind: transport.Answer, Code: AboutEV, PSN: p.PSN, Plane: p.Plane})
		_, fails := r.reverse.doubtful()
		return fails
	}
	if fails := answer(&asked[1], 61*us); fails != 1 {
		t.Errorf("an answer about the value before counts: %d in doubt", fails)
	}
	if fails := answer(&asked[2], 75*us); fails != 0 || r.reverse.rtt != 15*us {
		t.Errorf("answered after 15 us: %d in doubt, a round trip of %v", fails, r.reverse.rtt)
	}
	r = reversed(8)
	asked[0], _ = question(r, 10*us)
	asked[1], _ = question(r, 20*us)
	if fails := answer(&asked[0], 33*us); fails != 0 || r.reverse.rtt != 23*us {
		t.Errorf("the first of two is answered after 23 us: %d in doubt, a round trip of %v", fails, r.reverse.rtt)
	}
	// of a plane that this end does not have
	r.Take(33*us, &transport.Packet{Kind: transport.Answer, Code: AboutEV, PSN: 1})
}

// TestTrialsGrow: a value that loses far more than others must answer 4, 16, 64, 256 and at most 1,024 consecutive
// probes. While it carries its share again, the number falls by a factor of four each time.
func TestTrialsGrow(t *testing.T) {
	p := testProfile(32, 16, 1)
	const i = 3
	round := func(lasts int64, want int) {
		t.Helper()
		p.rounds += lasts
		n := 0
		for p.condemn(i); p.states[i] == assumedBad; n++ {
			if got, ok := p.probed(); !ok || got != i || n > 5000 {
				t.Fatalf("%d is probed, %v, after %d answers", got, ok, n)
			}
			p.restore(i, false)
		}
		if n != want {
			t.Errorf("back after %d answers, want %d", n, want)
		}
	}
	for _, want := range []int{4, 16, 64, 256, 1024, 1024} {
		round(100, want) // others carry 16 times as much per loss
	}
	for _, want := range []int{256, 64, 16, 4, 1, 1} {
		round(4*p.rounds, want)
	}
}

// TestTrialBeginsAnew: a probe without an answer begins the row anew.
func TestTrialBeginsAnew(t *testing.T) {
	p := testProfile(32, 16, 1)
	p.rounds = 100
	p.condemn(3)
	for range 3 {
		p.probed()
		p.restore(3, false)
	}
	p.probed() // no answer
	for n := range 4 {
		if p.states[3] != assumedBad {
			t.Fatalf("back after %d answers", n)
		}
		p.probed()
		p.restore(3, false)
	}
	if p.states[3] != good {
		t.Error("four answers in a row do not suffice")
	}
}

// TestStrikes: a value counts as worse if it carried less than a quarter of the others' packets per loss.
func TestStrikes(t *testing.T) {
	for back, want := range map[int64]uint8{0: 0, 1: 1, 100: 1} { // 16 values, 100 rounds, four losses
		p := testProfile(32, 16, 1)
		p.rounds, p.trials.losses = 100, 4
		p.trials.of[3].back = back
		if p.strike(3); p.trials.of[3].strikes != want || p.trials.of[3].need != 1<<(2*want) {
			t.Errorf("%d rounds of 100: %+v", 100-back, p.trials.of[3])
		}
	}
}
