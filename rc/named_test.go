package rc

import (
	"testing"

	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Packets arrive in any order, and packets and answers are lost. Every packet is acknowledged once, and bytes in
// flight stay between zero and the bytes sent. Almost only lost packets are retransmitted.
func TestNamedAnswersCountEveryPacket(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		every := rapid.IntRange(1, 8).Draw(rt, "every")
		l := newLane(t, func(c *Config) { c.Named, c.AckEvery = true, every })
		n := rapid.IntRange(1, 800).Draw(rt, "packets")
		spread := rapid.Uint32Range(1, 25_000).Draw(rt, "ns late at most")
		losses := rapid.Uint32Range(0, 20).Draw(rt, "lost in a thousand")
		salt := rapid.Uint32().Draw(rt, "salt")
		drawn := uint32(0)
		draw := func(p *Packet) uint32 {
			drawn++
			x := (p.PSN + drawn<<12 + salt) * 2654435761
			return (x ^ x>>15) * 2246822519 >> 4
		}
		lost := 0
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			if copies == 1 && draw(p)%1000 < losses {
				lost++
				return true, 0
			}
			return false, unit.Time(draw(p)>>8%spread) * unit.Nanosecond
		}
		l.answer = func(p *Packet) bool { return draw(p)%1000 < losses }
		l.told = func(*Packet) {
			if in, open := l.a.InFlightBytes(), unit.Bytes(l.a.next-l.a.una)*4096; in < 0 || in > open {
				rt.Fatalf("%d bytes in flight of %d that are not acknowledged in order", in, open)
			}
		}
		l.write(n, max(1, n/3))
		if l.news != uint64(n) || l.a.InFlightBytes() != 0 {
			rt.Fatalf("%d packets sent, %d acknowledged, %d bytes in flight", n, l.news, l.a.InFlightBytes())
		}
		// If the tail or its answer is lost, the last packet requests a list; a report may be lost, too.
		if len(l.again) > 2*lost+16 || l.timeouts > 0 {
			rt.Fatalf("%d lost, %d retransmitted, %d time-outs", lost, len(l.again), l.timeouts)
		}
	})
}

// Without losses, every answer names its packet, and the data in flight are exactly those without an answer. An
// overtaken packet does not block the window.
func TestInFlightIsWhatWasNotAnswered(t *testing.T) {
	l := newLane(t, func(c *Config) { c.Named, c.AckEvery = true, 1 })
	l.fate = func(p *Packet, _ int) (bool, unit.Time) {
		return false, unit.Time(p.PSN*2654435761>>8%20_000) * unit.Nanosecond
	}
	answered := map[uint32]bool{}
	l.told = func(p *Packet) {
		psn, ok := p.About()
		if !ok || p.Syndrome != roce.AckNamed || answered[psn] || l.sent[psn] != 1 {
			t.Fatalf("%v %d is about %d (%v)", p.Syndrome, p.PSN, psn, ok)
		}
		answered[psn] = true
		if in := int(l.a.InFlightBytes() / 4096); in != len(l.sent)-len(answered) {
			t.Fatalf("%d in flight, %d sent, %d answered", in, len(l.sent), len(answered))
		}
	}
	l.write(8000, 2000)
	if len(l.again) != 0 || len(answered) != 8000 {
		t.Errorf("%d answered, %d retransmitted", len(answered), len(l.again))
	}
}

// Late packets fill gaps and release packets that requested an answer. Those were answered before, so there is no
// second answer. If such answers named them, senders would prefer the slowest paths.
func TestPacketsThatFillGapsAreNotAnswered(t *testing.T) {
	l := newLane(t, func(c *Config) { c.Named, c.AckEvery = true, 4 })
	l.fate = func(p *Packet, _ int) (bool, unit.Time) {
		return false, unit.Time(p.PSN*2654435761>>8%20_000) * unit.Nanosecond
	}
	answers, unasked := 0, 0
	l.told = func(p *Packet) {
		answers++
		if psn, _ := p.About(); psn%4 != 3 && psn != 7999 {
			unasked++
		}
	}
	l.write(8000, 8000)
	if answers < 2000 || unasked > 20 {
		t.Errorf("%d answers, %d of them about packets that did not ask", answers, unasked)
	}
}

// A marked packet is answered at once, even without a request.
func TestMarksAreAnsweredAtOnce(t *testing.T) {
	for _, named := range []bool{false, true} {
		e := connected(t, func(c *Config) { c.Recovery, c.Named, c.Window = Selective, named, 64 })
		for i, marked := range []bool{false, true, false} {
			w := Packet{Opcode: roce.WriteOnly, PSN: 0xfffffe + uint32(i)&1, Payload: 4, Data: pattern(4),
				VA: 0x1000, RKey: 7, Len: 4, Marked: marked}
			var ans Answer
			if e.b.Data(&w, &ans); i < 2 && ans.Reply != (marked && named) {
				t.Errorf("named %v, marked %v: answer %+v", named, marked, ans)
			}
		}
	}
}

// The length of the window is bounded by what an answer can point at.
func TestNamedWindows(t *testing.T) {
	for _, c := range []struct {
		window int
		rec    Recovery
		fits   bool
	}{{1 << 15, Selective, true}, {1 << 16, Selective, false}, {1 << 12, GoBackN, false}} {
		cfg := Config{MTU: 1024, AckEvery: 1, Window: c.window, Recovery: c.rec, Named: true}
		if err := cfg.Validate(); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// After a burst of losses the missing packets are retransmitted once, soon, because the responder lists them.
// Reordering within the window causes no retransmission. Without a window, only silence at the end would reveal the
// losses.
func TestWindowTellsLosses(t *testing.T) {
	for _, c := range []struct {
		spread uint32 // packets late at most
		lost   bool
	}{{40, false}, {40, true}, {1, true}} {
		l := newLane(t, func(c *Config) { c.Named, c.AckEvery, c.NakAfter = true, 4, 2047 })
		l.a.Window(100)
		lost := 0
		first, _, _ := l.a.Sequence()
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			n := (p.PSN - first) & roce.PSNMask
			if c.lost && copies == 1 && n >= 100 && n < 200 && n%3 != 0 {
				lost++
				return true, 0
			}
			return false, unit.Time(p.PSN*2654435761>>8%c.spread) * 100 * unit.Nanosecond
		}
		took := l.write(2000, 2000)
		// two thirds of a hundred packets are lost; packets in flight may be on the list
		if c.lost != (lost == 66 || lost == 67) || len(l.again) < lost || len(l.again) > lost+int(c.spread) ||
			l.timeouts > 0 || took > 2000*l.pace+60*unit.Microsecond {
			t.Errorf("%+v: %d lost, %d retransmitted, %d time-outs, %v", c, lost, len(l.again), l.timeouts, took)
		}
	}
}

// If the window shrinks below the data in flight and all of it is lost, the window does not stay full. The driver
// may send the oldest packet, and in the end everything.
func TestLostPacketsLeaveTheWindow(t *testing.T) {
	l := newLane(t, func(c *Config) { c.Named, c.AckEvery, c.Timeout = true, 1, LocalAckTimeout(8) })
	l.a.Window(1)
	l.fate = func(_ *Packet, copies int) (bool, unit.Time) { return copies == 1, 0 }
	l.hold = func() bool { return l.a.InFlightBytes() >= 4096 && !l.a.PastWindow() }
	l.first = 40 // leave before the window shrinks
	if l.write(200, 200); l.news != 200 {
		t.Errorf("%d packets acknowledged", l.news)
	}
}
