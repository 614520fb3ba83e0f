package rc

import (
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// first is the first PSN of both ends of connected, two before the PSNs wrap.
const first = 0xfffffe

// psnAt returns the i-th PSN of a connection.
func psnAt(i int) uint32 { return uint32(first+i) & roce.PSNMask }

// sent returns a connection whose requester has sent n packets of a longer WRITE; none has arrived.
func sent(t *testing.T, n int, change func(*Config)) *ends {
	t.Helper()
	e := connected(t, change)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 1024 * 50})
	var p Packet
	for range n {
		if !e.a.Next(e.now, &p) {
			t.Fatal("the window is shut")
		}
	}
	return e
}

// report returns an acknowledgement of everything before the i-th packet, with a syndrome and its argument.
func report(i int, s roce.Syndrome, msn uint32) *Packet {
	return &Packet{Opcode: roce.Acknowledge, PSN: psnAt(i), Syndrome: s, MSN: msn & 0xffffff}
}

// TestSequenceComesRound: the numbers that Sequence returns have 24 bits.
func TestSequenceComesRound(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(4096)})
	if una, next, expect := e.a.Sequence(); una != 0xfffffe || next != 0xfffffe || expect != 0xfffffe {
		t.Errorf("at first %#x %#x %#x", una, next, expect)
	}
	var p Packet
	e.a.Next(0, &p)
	e.a.Next(0, &p)
	e.a.Next(0, &p)
	if una, next, _ := e.a.Sequence(); una != 0xfffffe || next != 1 {
		t.Errorf("three packets are out: %#x to %#x", una, next)
	}
	e.a.Timeout(e.a.TimeoutAt())
	e.run(nil)
	una, next, _ := e.a.Sequence()
	if _, _, expect := e.b.Sequence(); una != 2 || next != 2 || expect != 2 {
		t.Errorf("in the end %#x %#x %#x", una, next, expect)
	}
}

// TestReportsToOneThatGoesBack: a go-back-N requester uses a report of missing packets only for the run at its
// oldest packet. Each report counts as a retry (doc.go).
func TestReportsToOneThatGoesBack(t *testing.T) {
	for name, c := range map[string]struct {
		p         *Packet
		una, next int
	}{
		"the oldest":                         {report(0, roce.NakMissing, 0<<8|1), 0, 0},
		"a run from the oldest":              {report(0, roce.NakMissing, 0<<8|3), 0, 0},
		"the oldest was cut":                 {report(0, roce.NakTrimmed, 0<<8|1), 0, 0},
		"later ones":                         {report(0, roce.NakMissing, 2<<8|1), 0, 5},
		"a later one was cut":                {report(0, roce.NakTrimmedLast, 2<<8|1), 0, 5},
		"two have come, the next is missing": {report(2, roce.NakMissing, 0<<8|1), 2, 2},
		"two have come, a later one not":     {report(2, roce.NakMissing, 1<<8|1), 2, 5},
		"all have come, and one not sent":    {report(5, roce.NakMissing, 0<<8|1), 5, 5},
		"beyond what was sent":               {report(6, roce.NakMissing, 0<<8|1), 0, 5},
		"a gap":                              {report(1, roce.NakGap, 3<<8|1), 1, 5},
		"in the standard's words":            {report(1, roce.NakSequence, 0), 1, 1},
	} {
		e := sent(t, 5, nil)
		e.a.Acknowledged(0, c.p)
		una, next, _ := e.a.Sequence()
		if una != psnAt(c.una) || next != psnAt(c.next) {
			t.Errorf("%s: %#x to %#x, want %#x to %#x", name, una, next, psnAt(c.una), psnAt(c.next))
		}
		if retried := c.next < 5; e.a.retries > 0 != retried && c.una < 5 {
			t.Errorf("%s: %d retries", name, e.a.retries)
		}
	}
}

// TestLostPacketsGoAgainOnce: a selective requester retransmits each reported packet once, counts it, and requests
// an answer with it.
func TestLostPacketsGoAgainOnce(t *testing.T) {
	e := sent(t, 20, func(c *Config) { c.Recovery, c.AckEvery = Selective, 64 })
	e.a.Acknowledged(0, report(3, roce.NakMissing, 2<<8|3)) // 0 to 2 and 3, 4 have come, 5 to 7 not
	e.a.Acknowledged(0, report(3, roce.NakMissing, 2<<8|3))
	e.a.Acknowledged(0, report(3, roce.NakMissing, 10<<8|1))
	var p Packet
	for _, i := range []int{5, 6, 7, 13} {
		if !e.a.Resending() || !e.a.Next(0, &p) || p.PSN != psnAt(i) || !p.Again || !p.AckReq {
			t.Errorf("PSN %#x goes again: %v, want %#x", p.PSN, p.Again, psnAt(i))
		}
	}
	if e.a.Resending() || e.a.Retransmitted != 4 {
		t.Errorf("more to send again: %v; %d were, want 4", e.a.Resending(), e.a.Retransmitted)
	}
	if !e.a.Next(0, &p) || p.PSN != psnAt(20) || p.Again {
		t.Errorf("PSN %#x follows, again: %v", p.PSN, p.Again)
	}
	e.a.Acknowledged(0, report(3, roce.NakTrimmed, 2<<8|1)) // the copy was cut
	if !e.a.Next(0, &p) || p.PSN != psnAt(5) || e.a.Retransmitted != 5 {
		t.Errorf("PSN %#x goes again, %d in all", p.PSN, e.a.Retransmitted)
	}
}

// TestReorderingIsLearned: packets that overtake another which then arrives without a request show the reordering
// distance of the path. A retransmitted packet counts if its answer arrives before its copy can have arrived, and
// otherwise not.
func TestReorderingIsLearned(t *testing.T) {
	const us = unit.Microsecond
	for name, c := range map[string]struct {
		again bool
		at    unit.Time // of the answer; the least round trip is 10 us
		want  int       // 3 to 11 have overtaken 2
	}{
		"alone":               {false, 20 * us, 9},
		"before its copy":     {true, 10*us - 1, 9},
		"perhaps by its copy": {true, 10 * us, 0},
	} {
		e := sent(t, 20, func(c *Config) { c.Recovery, c.AckEvery, c.NakAfter = Selective, 64, 30 })
		e.a.sel.rtt.least, e.a.sel.timed = 10*us, 0
		e.a.Acknowledged(0, report(2, roce.NakGap, 9<<8|1)) // 2 is missing, 11 has come
		if c.again {
			e.a.Acknowledged(0, report(2, roce.NakMissing, 0<<8|1))
			var p Packet
			e.a.Next(0, &p)
		}
		e.a.Acknowledged(c.at, report(11, roce.Ack, 0))
		if e.a.sel.most != c.want {
			t.Errorf("%s: %d have overtaken one that came alone, want %d", name, e.a.sel.most, c.want)
		}
	}
}

// TestNamedAnswersAreTimed: where answers name packets, the first packet that requested an answer is measured once.
// An answer that names a later packet shows that this answer was lost or delayed; it is not measured.
func TestNamedAnswersAreTimed(t *testing.T) {
	const us = unit.Microsecond
	const asked = 1 // every fourth number: 0x1000000 is the first behind 0xfffffe
	for about, want := range map[uint32]unit.Time{asked: 9 * us, asked + 1: 0, asked + 4: 0} {
		e := sent(t, 10, func(c *Config) { c.Recovery, c.Named, c.AckEvery = Selective, true, 4 })
		e.a.Acknowledged(9*us, report(0, roce.AckNamed, about<<8|psnAt(1)&0xff))
		if e.a.sel.rtt.mean != want {
			t.Errorf("an answer about packet %d: a round trip of %v, want %v", about, e.a.sel.rtt.mean, want)
		}
		e.a.Acknowledged(50*us, report(0, roce.AckNamed, asked<<8|psnAt(2)&0xff))
		if e.a.sel.rtt.mean != want {
			t.Errorf("timed once more: %v", e.a.sel.rtt.mean)
		}
	}
}

// TestOldestGoesAgainBehindAWindow: once more than 1.5 windows of packets have overtaken the oldest packet, it is
// retransmitted and requests a list, even if it was retransmitted before (docs/references.md, nscc, SLEEK).
func TestOldestGoesAgainBehindAWindow(t *testing.T) {
	for _, ahead := range []int{6, 7} { // 1.5 windows of 4 packets, and one more
		e := sent(t, 30, func(c *Config) { c.Recovery, c.Named, c.AckEvery, c.NakAfter = Selective, true, 64, 63 })
		e.a.Window(4)
		have := uint32(psnAt(ahead)) & 0xff
		var p Packet
		e.a.Acknowledged(0, report(0, roce.NakTrimmed, 0<<8|1))
		if !e.a.Next(0, &p) || p.PSN != psnAt(0) || p.List {
			t.Fatalf("%+v goes, want the oldest", p)
		}
		e.a.Acknowledged(1, report(0, roce.AckNamed, 20<<8|have))
		e.a.Acknowledged(2, report(0, roce.AckNamed, 21<<8|have))
		again := e.a.Resending()
		if again != (ahead > 6) {
			t.Errorf("%d have overtaken the oldest: it goes again: %v", ahead, again)
		}
		if again && (!e.a.Next(3, &p) || p.PSN != psnAt(0) || !p.List) {
			t.Errorf("%+v goes, want the oldest, asking for a list", p)
		}
		e.a.Acknowledged(4, report(0, roce.AckNamed, 22<<8|have))
		if e.a.Resending() {
			t.Error("and once more, before what was sent until then is answered")
		}
	}
}

// TestVeryOldCopiesAreNamed: an answer names a copy up to 16 signed bits behind. For an older copy it names the
// last packet in order.
func TestVeryOldCopiesAreNamed(t *testing.T) {
	for behind, want := range map[uint32]uint32{1: 1, 2: 2, 32768: 32768, 32769: 1, 100_000: 1} {
		e := connected(t, func(c *Config) { c.Recovery, c.Named, c.ReadsIn = Selective, true, 1 })
		e.b.expect += 200_000
		_, _, expect := e.b.Sequence()
		var ans Answer
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: (expect - behind) & roce.PSNMask, AckReq: true}, &ans)
		if psn, ok := ans.Packet.About(); !ok || !ans.Reply || ans.Verdict != Duplicate ||
			psn != (expect-want)&roce.PSNMask || ans.Packet.PSN != expect {
			t.Errorf("a copy of %d before: the answer is about %d before", behind, expect-psn)
		}
	}
}

// TestReadCoversWhatWasKept: a READ takes the sequence numbers of its answers, and drops packets of a faulty peer
// at these numbers. The ring is then empty.
func TestReadCoversWhatWasKept(t *testing.T) {
	e := connected(t, func(c *Config) { c.Recovery = Selective })
	var ans Answer
	for _, i := range []int{1, 2, 3} {
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: psnAt(i), VA: 0x1000, RKey: 7}, &ans)
		if ans.Verdict != Reordered {
			t.Fatalf("packet %d: %v", i, ans.Verdict)
		}
	}
	e.b.Data(&Packet{Opcode: roce.ReadRequest, PSN: psnAt(0), VA: 0x1000, RKey: 7, Len: 3 * 1024}, &ans)
	if _, _, expect := e.b.Sequence(); ans.Verdict != Accepted || expect != psnAt(4) || e.b.reorder.held != 0 {
		t.Errorf("%v, %#x is expected, %d kept", ans.Verdict, expect, e.b.reorder.held)
	}
	for _, used := range e.b.reorder.used {
		if used {
			t.Error("a number that has gone by is still taken")
		}
	}
}

// TestAskedAnewAfterATimeout: lost READ data are requested once per gap, and again after a time-out, because the
// request may have been lost.
func TestAskedAnewAfterATimeout(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 4096})
	var p Packet
	e.a.Next(0, &p)
	ahead := Packet{Opcode: roce.ReadRespMiddle, PSN: psnAt(1), Payload: 1024, Data: make([]byte, 1024)}
	for try := range 2 {
		e.a.Acknowledged(e.now, &ahead)
		if !e.a.Next(e.now, &p) || p.Opcode != roce.ReadRequest || p.PSN != psnAt(0) {
			t.Fatalf("try %d: the data is not asked for", try)
		}
		if e.a.Acknowledged(e.now, &ahead); e.a.Pending() {
			t.Errorf("try %d: asked for twice", try)
		}
		e.now = e.a.TimeoutAt()
		e.a.Timeout(e.now)
		e.a.Next(e.now, &p)
	}
}

// TestTrimmedReadData: trimmed headers of READ data cause a new request for that packet. Headers of unrequested or
// arrived data, or of other requests, cause none.
func TestTrimmedReadData(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		for name, c := range map[string]struct {
			psn   int
			asked bool // go-back-N: only at the oldest packet
			sel   bool
		}{
			"the oldest":        {1, true, true},
			"a later one":       {3, false, true},
			"one that has come": {2, false, false},
			"the last":          {4, false, true},
			"not sent":          {5, false, false},
			"far beyond":        {1000, false, false},
			"before all":        {-1, false, false},
			"a WRITE's place":   {0, false, false},
		} {
			e := connected(t, func(c *Config) { c.Recovery, c.NakAfter = rec, 30 })
			e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 10})
			e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 4096})
			e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 10, Fence: true})
			var p Packet
			e.a.Next(0, &p)
			e.a.Next(0, &p)
			if e.a.Pending() {
				t.Fatal("the fence is open")
			}
			if rec == Selective { // the requester then knows that the READ was executed
				e.a.Acknowledged(0, &Packet{Opcode: roce.ReadRespMiddle, PSN: psnAt(2), Payload: 1024,
					Data: make([]byte, 1024)})
			}
			e.a.AnswerTrimmed(0, psnAt(c.psn))
			want := c.asked
			if rec == Selective {
				want = c.sel
			}
			if got := e.a.Pending(); got != want {
				t.Errorf("%s, recovery %d: asked for again: %v, want %v", name, rec, got, want)
			}
			if want && (!e.a.Next(0, &p) || rec == Selective && (p.PSN != psnAt(c.psn) || p.Len > 1024)) {
				t.Errorf("%s, recovery %d: asks for %d bytes from %#x", name, rec, p.Len, p.PSN)
			}
		}
	}
	e := sent(t, 1, nil)
	e.a.Modify(Error, 0)
	e.a.AnswerTrimmed(0, psnAt(0))
	if e.a.Pending() {
		t.Error("a connection that has ended asks")
	}
}
