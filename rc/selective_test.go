package rc

import (
	"slices"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// lane is a path with a delay of 5 us per direction and a packet every 100 ns. The test decides for each packet
// whether it is lost or late. Copies are counted by sequence number.
type lane struct {
	t        *testing.T
	a, b     *QP
	now      unit.Time
	pace     unit.Time // interval between packets
	air      []flying
	sent     map[uint32]int
	again    []uint32
	timeouts uint64
	first    int             // packets that are sent despite hold
	hold     func() bool     // the driver's window lets no packet go
	news     uint64          // packets acknowledged, as Acknowledged counted them
	told     func(p *Packet) // called with each answer after the requester has processed it
	reports  map[roce.Syndrome]int
	fate     func(p *Packet, copies int) (lost bool, late unit.Time)
	cut      func(p *Packet, copies int) bool // a switch trims the packet
	answer   func(p *Packet) (lost bool)
}

type flying struct {
	at  unit.Time
	p   Packet
	toB bool
	cut bool // its headers only
}

func newLane(t *testing.T, change func(*Config)) *lane {
	cfg := Config{MTU: 4096, Recovery: Selective, WriteOnly: true, AckEvery: 16, Window: 4096, NakAfter: 256,
		Timeout: LocalAckTimeout(14), Retries: 7, AlwaysReady: true}
	if change != nil {
		change(&cfg)
	}
	a, b, rkey := pair(t, cfg, roce.PSNMask-100, 1<<40)
	l := &lane{t: t, pace: 100 * unit.Nanosecond, a: a, b: b, sent: map[uint32]int{},
		reports: map[roce.Syndrome]int{}}
	t.Helper()
	if rkey != 0x1234 {
		t.Fatal("the region has another key")
	}
	return l
}

// write sends n packets in messages of so many and returns when all have ended.
func (l *lane) write(n, message int) unit.Time {
	l.t.Helper()
	left := 0
	for at := 0; at < n; at += message {
		m := min(message, n-at)
		if err := l.a.Post(&Request{Verb: WriteImm, VA: 0x1000, RKey: 0x1234,
			Len: int64(m) * 4096}); err != nil {
			l.t.Fatal(err)
		}
		left++
	}
	start := l.now
	for wire := l.now; left > 0; {
		var p Packet
		held := l.hold != nil && len(l.sent) >= l.first && l.hold()
		if l.now >= wire && !held && l.a.Next(l.now, &p) {
			wire = l.now + l.pace
			if l.sent[p.PSN]++; p.Again {
				l.again = append(l.again, p.PSN)
			}
			lost, late := false, unit.Time(0)
			if l.fate != nil {
				lost, late = l.fate(&p, l.sent[p.PSN])
			}
			if !lost {
				cut := l.cut != nil && l.cut(&p, l.sent[p.PSN])
				l.fly(flying{l.now + late + 5*unit.Microsecond, p, true, cut})
			}
			continue
		}
		next := l.a.TimeoutAt()
		if l.a.Pending() && !held {
			next = min(next, wire)
		}
		if len(l.air) > 0 {
			next = min(next, l.air[0].at)
		}
		if next == unit.Never {
			l.t.Fatalf("stuck at %v with %d messages open", l.now, left)
		}
		l.now = max(l.now, next)
		if len(l.air) > 0 && l.air[0].at <= l.now {
			f := l.air[0]
			l.air = l.air[1:]
			l.arrive(&f)
		} else if l.a.TimeoutAt() <= l.now {
			l.a.Timeout(l.now)
		}
		for c, ok := l.a.PopCompletion(); ok; c, ok = l.a.PopCompletion() {
			if left--; c.Status != Success {
				l.t.Fatalf("%v at %v", c.Status, l.now)
			}
		}
	}
	l.timeouts = l.a.Timeouts
	return l.now - start
}

func (l *lane) fly(f flying) {
	i, _ := slices.BinarySearchFunc(l.air, f, func(x, y flying) int {
		return int(min(1, max(-1, x.at-y.at)))
	})
	for i < len(l.air) && l.air[i].at == f.at {
		i++
	}
	l.air = slices.Insert(l.air, i, f)
}

func (l *lane) arrive(f *flying) {
	if !f.toB {
		l.news += l.a.Acknowledged(l.now, &f.p)
		if l.told != nil {
			l.told(&f.p)
		}
		return
	}
	var ans Answer
	if f.cut {
		l.b.Trimmed(f.p.PSN, false, &ans)
	} else {
		l.b.Data(&f.p, &ans)
	}
	if ans.Reply {
		l.reports[ans.Packet.Syndrome]++
		if l.answer == nil || !l.answer(&ans.Packet) {
			l.fly(flying{l.now + 5*unit.Microsecond, ans.Packet, false, false})
		}
	}
}

// Selective repeat retransmits only lost packets, with the default nak_after and with none (docs/references.md,
// irn). Every fiftieth packet is lost, 70 in all.
func TestOnlyWhatWasLostGoesAgain(t *testing.T) {
	for _, after := range []int{0, 2, 256, 1024} {
		l := newLane(t, func(c *Config) { c.NakAfter = after })
		lost := 0
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			if copies == 1 && p.PSN%50 == 7 {
				lost++
				return true, 0
			}
			return false, 0
		}
		took := l.write(3500, 3500)
		if lost != 70 || len(l.again) != lost || l.timeouts != 0 {
			t.Errorf("nak_after %d: %d packets lost, %d retransmitted, %d timeouts", after, lost,
				len(l.again), l.timeouts)
		}
		if took > 3500*100*unit.Nanosecond+500*unit.Microsecond {
			t.Errorf("nak_after %d: took %v", after, took)
		}
	}
}

// Every packet takes its own path, up to 20 us slower than another, so 200 packets may overtake it. Without losses
// nothing is retransmitted; with losses only the lost packets are.
func TestReorderingIsNoLoss(t *testing.T) {
	for _, every := range []uint32{0, 100} {
		l := newLane(t, nil)
		lost := 0
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			if every > 0 && copies == 1 && p.PSN%every == 0 {
				lost++
				return true, 0
			}
			return false, unit.Time(p.PSN*2654435761>>8%20_000) * unit.Nanosecond
		}
		l.write(8000, 500)
		if len(l.again) > lost*11/10 || len(l.again) < lost || l.timeouts != 0 {
			t.Errorf("%d lost, %d retransmitted, %d timeouts", lost, len(l.again), l.timeouts)
		}
	}
}

// A path may reorder more than nak_after. The threshold follows the observed reordering, so a growing queue is not
// mistaken for loss.
func TestThresholdFollowsThePath(t *testing.T) {
	l := newLane(t, func(c *Config) { c.NakAfter = 32 })
	l.fate = func(p *Packet, copies int) (bool, unit.Time) {
		n := (p.PSN + 100 + 1) & roce.PSNMask // every eighth packet takes a path with a growing queue
		if n%8 == 0 {
			return false, unit.Time(n) * 10 * unit.Nanosecond
		}
		return false, 0
	}
	l.write(3000, 3000) // to 30 us, 300 packets late
	if len(l.again) != 0 {
		t.Errorf("%d packets retransmitted, none lost", len(l.again))
	}
}

// A retransmission may be lost again, even twice. Later packets that arrive reveal it or, at the end, the silence
// does. Nobody waits 67 ms for the timeout.
func TestLostAgain(t *testing.T) {
	for _, n := range []int{20, 600, 3000} {
		for _, times := range []int{2, 3} {
			l := newLane(t, nil)
			l.write(64, 64) // round trips are known
			first := l.sent
			l.sent = map[uint32]int{}
			gone := uint32(0)
			l.fate = func(p *Packet, copies int) (bool, unit.Time) {
				if gone == 0 {
					gone = (p.PSN + uint32(n)/2) & roce.PSNMask
				}
				return p.PSN == gone && copies <= times, 0
			}
			took := l.write(n, n)
			if len(l.again) != times || l.timeouts != 0 || took > 3*unit.Millisecond || len(first) != 64 {
				t.Errorf("%d packets, one lost %d times: %d retransmitted, %d timeouts, %v", n, times,
					len(l.again), l.timeouts, took)
			}
		}
	}
}

// The last packets of a message, or their acknowledgement, are lost. No later packet reveals it, so after IRN's RTO
// the last packet requests an answer.
func TestLostTail(t *testing.T) {
	for _, tail := range []uint32{1, 5} {
		l := newLane(t, nil)
		l.write(64, 64)
		begin, _, _ := l.a.Sequence()
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			return copies == 1 && roce.PSNDiff(p.PSN, begin) >= int32(64-tail), 0
		}
		if took := l.write(64, 64); len(l.again) != int(tail) || l.timeouts != 0 || took > 2*rtoHigh {
			t.Errorf("the last %d lost: %d retransmitted, %d timeouts, %v", tail, len(l.again), l.timeouts, took)
		}
	}
	l := newLane(t, nil)
	l.write(64, 64)
	l.answer = func(p *Packet) bool { l.answer = nil; return true }
	if took := l.write(3, 3); len(l.again) != 1 || l.timeouts != 0 || took > 2*rtoHigh {
		t.Errorf("the ACK lost: %d retransmitted, %d timeouts, %v", len(l.again), l.timeouts, took)
	}
}

// Half of the reports are lost, and still little more is retransmitted than was lost.
func TestLostReports(t *testing.T) {
	l := newLane(t, func(c *Config) { c.NakAfter = 8 })
	lost, n := 0, 0
	l.fate = func(p *Packet, copies int) (bool, unit.Time) {
		if copies == 1 && p.PSN%100 == 0 {
			lost++
			return true, 0
		}
		return false, 0
	}
	l.answer = func(*Packet) bool { n++; return n%2 == 0 }
	if l.write(20_000, 1000); len(l.again) > lost*11/10 || l.timeouts != 0 {
		t.Errorf("%d lost, %d retransmitted, %d timeouts", lost, len(l.again), l.timeouts)
	}
}

// A progress report also names the first missing packet. That packet is retransmitted once more than twice
// nak_after packets have overtaken it, because its own report must have been lost.
func TestOvertakenTwiceAsOften(t *testing.T) {
	l := newLane(t, func(c *Config) { c.NakAfter = 8 })
	if err := l.a.Post(&Request{Verb: WriteImm, VA: 0x1000, RKey: 0x1234, Len: 40 * 4096}); err != nil {
		t.Fatal(err)
	}
	var p Packet
	for range 40 {
		if !l.a.Next(0, &p) {
			t.Fatal("the window of 4,096 packets is full")
		}
	}
	first := l.a.una
	l.a.gap(10*unit.Microsecond, first, 1, first+16)
	if l.a.Next(10*unit.Microsecond, &p) {
		t.Errorf("16 packets overtook the first: %d goes again", p.PSN)
	}
	l.a.gap(11*unit.Microsecond, first, 1, first+17)
	if !l.a.Next(11*unit.Microsecond, &p) || !p.Again || p.PSN != roce.PSNMask-100 {
		t.Errorf("17 packets overtook the first: %+v", p)
	}
}

// Without losses, reordering causes only the requested acknowledgements: one in 16 packets, and a few at the end.
func TestReorderingCostsNoReports(t *testing.T) {
	l := newLane(t, nil)
	l.fate = func(p *Packet, copies int) (bool, unit.Time) {
		return false, unit.Time(p.PSN*2654435761>>8%5_000) * unit.Nanosecond
	}
	l.write(8000, 8000)
	if l.reports[roce.NakMissing] != 0 || l.reports[roce.NakGap]+l.reports[roce.Ack] > 2*8000/16 {
		t.Errorf("8,000 packets, reports: %v", l.reports)
	}
}

// Spans: an added span is sent once, a removed span is not sent, and pending returns the number still to send.
func TestSpans(t *testing.T) {
	var k selective
	k.add(10, 20)
	k.add(30, 40)
	k.add(15, 35) // only 20 to 30 is new
	want := func(pending uint64, spans ...span) {
		t.Helper()
		if k.pending != pending || !slices.Equal(k.spans, spans) {
			t.Errorf("%d pending in %+v, want %d in %+v", k.pending, k.spans, pending, spans)
		}
	}
	want(30, span{10, 10, 20, 0, 0}, span{20, 20, 30, 0, 0}, span{30, 30, 40, 0, 0})
	k.spans[0].next, k.spans[0].stamp, k.pending = 16, 50, 24
	k.cut(12, 18)
	want(22, span{10, 12, 12, 50, 0}, span{18, 18, 20, 50, 0}, span{20, 20, 30, 0, 0}, span{30, 30, 40, 0, 0})
	k.cut(0, 25)
	want(15, span{25, 25, 30, 0, 0}, span{30, 30, 40, 0, 0})
	k.add(24, 26)
	want(16, span{24, 24, 25, 0, 0}, span{25, 25, 30, 0, 0}, span{30, 30, 40, 0, 0})
}

// The packet of a slow sender is delayed by a pause on its path. Silence counts from the last packet sent, so the
// end of the message causes no probe.
func TestSlowSenderWaitsForItsLastPacket(t *testing.T) {
	l := newLane(t, nil)
	l.write(64, 64)
	begin, _, _ := l.a.Sequence()
	l.pace = 40 * unit.Microsecond
	l.fate = func(p *Packet, copies int) (bool, unit.Time) {
		if p.PSN == begin+3 {
			return false, 720 * unit.Microsecond // 20 us after the last one
		}
		return false, 0
	}
	if l.write(20, 20); len(l.again) != 0 {
		t.Errorf("%d packets retransmitted, none lost", len(l.again))
	}
}
