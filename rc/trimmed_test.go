package rc

import (
	"testing"

	"railyard/internal/rng"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// A packet that a switch trims is retransmitted at once, and nothing else is. This holds for any number of trimmed
// copies and any reordering, without a time-out, a probe or a gap report.
func TestTrimmedGoesAgainAtOnce(t *testing.T) {
	for _, late := range []uint32{0, 1_000, 20_000} {
		l := newLane(t, nil)
		cut := 0
		r := rng.New(uint64(late), "trimmed")
		l.fate = func(p *Packet, _ int) (bool, unit.Time) {
			if late == 0 {
				return false, 0
			}
			return false, unit.Time(p.PSN*2654435761>>8%late) * unit.Nanosecond
		}
		l.cut = func(p *Packet, copies int) bool {
			if copies <= 4 && r.Intn(3) == 0 {
				cut++
				return true
			}
			return false
		}
		took := l.write(6000, 500)
		if cut < 2000 || len(l.again) != cut || l.timeouts != 0 || l.reports[roce.NakTrimmed] != cut ||
			l.reports[roce.NakMissing] != 0 {
			t.Errorf("late %d: %d cut, %d retransmitted, %d time-outs, reports %v", late, cut, len(l.again),
				l.timeouts, l.reports)
		}
		// The packets and their copies at line rate, and a few round trips.
		if most := unit.Time(6000+cut)*l.pace + 5*30*unit.Microsecond; took > most {
			t.Errorf("late %d: took %v, want at most %v", late, took, most)
		}
	}
}

// With losses of packets, headers and answers, everything arrives once, in either mode. A packet placed twice or
// never would end a message early, twice or not at all.
func TestTrimmedAndLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLane(t, func(c *Config) {
			if rapid.Bool().Draw(rt, "go back N") {
				*c = Config{MTU: 4096, AckEvery: 16, Timeout: LocalAckTimeout(8), Retries: 7,
					AlwaysReady: true, WriteOnly: true}
			}
		})
		r := rng.New(rapid.Uint64().Draw(rt, "seed"), "trimmed")
		reorders := rapid.Bool().Draw(rt, "reorders")
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			late := unit.Time(0)
			if reorders {
				late = unit.Time(r.Intn(5000)) * unit.Nanosecond
			}
			return copies < 4 && r.Intn(50) == 0, late
		}
		l.cut = func(p *Packet, copies int) bool { return copies < 4 && r.Intn(10) == 0 }
		l.answer = func(*Packet) bool { return r.Intn(50) == 0 }
		n := rapid.IntRange(1, 600).Draw(rt, "packets")
		l.write(n, rapid.IntRange(1, 100).Draw(rt, "message"))
		if l.b.Placed != uint64(n)*4096 || l.b.Received != uint64(n) {
			rt.Fatalf("%d bytes placed in %d packets, %d were sent", l.b.Placed, l.b.Received, n)
		}
	})
}

// Headers of unexpected packets change nothing: of arrived packets, which are acknowledged, of packets beyond the
// window, and in a state that accepts no requests.
func TestTrimmedOutOfPlace(t *testing.T) {
	l := newLane(t, nil)
	l.write(100, 100)
	_, _, expect := l.b.Sequence()
	var a Answer
	for psn, want := range map[uint32]roce.Syndrome{expect - 1: roce.Ack, expect: roce.NakTrimmed,
		expect + 4095: roce.NakTrimmed} {
		l.b.Trimmed(psn&roce.PSNMask, false, &a)
		if !a.Reply || a.Packet.Syndrome != want {
			t.Errorf("PSN %d, %d is expected: %+v, want %v", psn, expect, a, want)
		}
	}
	if l.b.Trimmed((expect+4096)&roce.PSNMask, false, &a); a.Reply {
		t.Errorf("beyond the window: %+v", a)
	}
	if l.b.Trimmed(expect, true, &a); a.Packet.Syndrome != roce.NakTrimmedLast {
		t.Errorf("at the last hop: %+v", a)
	}
	if err := l.b.Modify(Error, 0); err != nil {
		t.Fatal(err)
	}
	if l.b.Trimmed(expect, false, &a); a.Reply || a.Verdict != Refused {
		t.Errorf("in the error state: %+v", a)
	}
}
