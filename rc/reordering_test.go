package rc

import (
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// comes passes packets of WRITEs to a responder and lists its replies: the kind, the place before which everything
// has arrived, and the argument.
func comes(e *ends, list bool, places ...int) (out []Packet) {
	for _, i := range places {
		var a Answer
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: psnAt(i), VA: 0x1000, RKey: 7, List: list}, &a)
		if a.Reply {
			out = append(out, a.Packet)
		}
	}
	return out
}

// TestLateOnes: a responder learns the reordering distance from packets that arrive late without a request, or
// twice after a request. The distance is the number of packets that had overtaken them, bounded by the packets
// stored and by those before the last.
func TestLateOnes(t *testing.T) {
	for name, c := range map[string]struct {
		after  int
		places []int
		most   int
	}{
		"in order":                {8, []int{0, 1, 2}, 0},
		"three overtake":          {8, []int{1, 2, 3, 0}, 3},
		"one far ahead":           {8, []int{5, 0}, 1},
		"late, and others later":  {8, []int{2, 4, 1, 0}, 3},
		"asked for":               {2, []int{1, 2, 3, 4, 0}, 0},
		"asked for, comes twice":  {2, []int{1, 2, 3, 5, 0, 0}, 4},
		"a later one, and twice":  {2, []int{0, 2, 4, 5, 6, 7, 3, 3}, 4},
		"a later one, three more": {2, []int{0, 2, 4, 5, 6, 7, 3, 3, 3}, 4},
	} {
		e := connected(t, func(f *Config) { f.Recovery, f.NakAfter = Selective, c.after })
		if comes(e, false, c.places...); e.b.reorder.most != c.most {
			t.Errorf("%s: as far as %d, want %d", name, e.b.reorder.most, c.most)
		}
	}
}

// TestMissingIsReported: packets that more than NakAfter packets have overtaken are reported once, in runs. Packets
// that are missing later are reported when as many have overtaken them.
func TestMissingIsReported(t *testing.T) {
	e := connected(t, func(f *Config) { f.Recovery, f.NakAfter = Selective, 2 })
	for i, c := range []struct{ place, from, n int }{
		{2, 0, 0}, {3, 0, 0}, {4, 0, 2}, {7, 0, 0}, {8, 0, 0}, {9, 5, 2}, {11, 0, 0}, {12, 0, 0}, {13, 10, 1},
		{14, 0, 0},
	} {
		got := comes(e, false, c.place)
		if c.n == 0 && len(got) > 0 || c.n > 0 && (len(got) != 1 || got[0].Syndrome != roce.NakMissing ||
			got[0].PSN != psnAt(0) || got[0].MSN != uint32(c.from)<<8|uint32(c.n)) {
			t.Errorf("packet %d, the %dth to come: %+v, want %d missing from %d", c.place, i+1, got, c.n, c.from)
		}
	}
	var a Answer
	if e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: psnAt(9), VA: 0x1000, RKey: 7}, &a); a.Verdict != Duplicate {
		t.Errorf("one that waits comes again: %v", a.Verdict)
	}
}

// TestTrimmedIsAskedForOnce: a packet requested by its trimmed headers is not reported when others overtake it.
// Where answers name packets, a trimmed copy requests no list.
func TestTrimmedIsAskedForOnce(t *testing.T) {
	e := connected(t, func(f *Config) { f.Recovery, f.NakAfter = Selective, 2 })
	var a Answer
	comes(e, false, 1)
	if e.b.Trimmed(psnAt(2), false, &a); !a.Reply || a.Packet.Syndrome != roce.NakTrimmed || a.Packet.MSN != 2<<8|1 {
		t.Errorf("%+v", a)
	}
	got := comes(e, false, 3, 4, 5, 6)
	if len(got) != 1 || got[0].MSN != 0<<8|1 {
		t.Errorf("reports %+v, want one of the first packet", got)
	}
	e = connected(t, func(f *Config) { f.Recovery, f.NakAfter, f.Named = Selective, 30, true })
	comes(e, false, 1, 3)
	if e.b.Trimmed(psnAt(3), false, &a); a.Packet.Syndrome != roce.AckNamed || a.Verdict != Duplicate {
		t.Errorf("a copy of one that waits: %+v", a)
	}
	if got := comes(e, true, 5); len(got) != 1 || got[0].Syndrome != roce.NakMissing {
		t.Errorf("one that asks for a list: %+v", got)
	}
}

// TestLostReadData: a packet of READ data is requested again, alone, when more than NakAfter packets have overtaken
// it. Packets missing at the end are requested when nothing has arrived for 100 us.
func TestLostReadData(t *testing.T) {
	e := connected(t, func(c *Config) { c.Recovery, c.NakAfter, c.AckEvery = Selective, 3, 64 })
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 12 * 1024})
	var p Packet
	e.a.Next(0, &p)
	data := func(i int) {
		e.a.Acknowledged(unit.Microsecond, &Packet{Opcode: roce.ReadRespMiddle, PSN: psnAt(i), Payload: 1024})
	}
	for _, i := range []int{1, 2, 4, 5, 6} {
		data(i)
		if again, want := e.a.Next(0, &p), i == 5; again != want || again && (p.Opcode != roce.ReadRequest ||
			p.PSN != psnAt(0) || p.Len != 1024) {
			t.Errorf("when %d has come: asked again %v, %+v", i, again, p)
		}
	}
	data(7)
	if !e.a.Next(0, &p) || p.PSN != psnAt(3) || p.Len != 1024 || p.VA != 0x1000+3*1024 {
		t.Errorf("then %+v, want the fourth", p)
	}
	e = connected(t, func(c *Config) { c.Recovery, c.NakAfter, c.AckEvery = Selective, 30, 64 })
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 12 * 1024})
	e.a.Next(0, &p)
	for _, i := range []int{0, 1, 4} {
		data(i)
	}
	at := e.a.TimeoutAt()
	if at != 101*unit.Microsecond || !e.a.Timeout(at) || !e.a.Next(at, &p) || p.PSN != psnAt(2) || p.Len != 2048 {
		t.Errorf("at %v %+v, want the two that are missing before the last, at 101 us", at, p)
	}
}

// TestNotReadyThenAgain: a receiver that is not ready gets the packet again after its timer, 0.64 ms for code 12.
// Nothing is sent before.
func TestNotReadyThenAgain(t *testing.T) {
	for rec, want := range map[Recovery]string{GoBackN: " 3* 4* 5*", Selective: " 3* 10 11"} {
		e := sent(t, 10, func(c *Config) { c.Recovery, c.AckEvery = rec, 64 })
		e.a.Acknowledged(5, report(3, roce.RNRNak|12, 0))
		if e.a.Pending() || !e.a.WaitsForReceiver() || e.a.TimeoutAt() != 640*unit.Microsecond+5 {
			t.Errorf("recovery %d: it waits until %v", rec, e.a.TimeoutAt())
		}
		at := e.a.TimeoutAt()
		e.a.Timeout(at)
		if got := goes(e, at, 3); got != want {
			t.Errorf("recovery %d:%s goes, want%s", rec, got, want)
		}
	}
}

// TestRoundTripsAreTimed: the first packet that requested an answer is measured once, by the acknowledgement that
// covers it. A retransmitted packet is not measured (Karn).
func TestRoundTripsAreTimed(t *testing.T) {
	const us = unit.Microsecond
	e := sent(t, 10, func(c *Config) { c.Recovery, c.AckEvery = Selective, 4 }) // 1 and 5 and 9 ask
	if e.a.Acknowledged(7*us, report(0, roce.Ack, 0)); e.a.sel.rtt.mean != 0 {
		t.Errorf("%v, before it is acknowledged", e.a.sel.rtt.mean)
	}
	e.a.Acknowledged(9*us, report(2, roce.Ack, 0))
	e.a.Acknowledged(12*us, report(6, roce.Ack, 0))
	if e.a.sel.rtt.mean != 9*us {
		t.Errorf("a round trip of %v, want 9 us", e.a.sel.rtt.mean)
	}
	e = sent(t, 10, func(c *Config) { c.Recovery, c.AckEvery = Selective, 4 })
	e.a.Acknowledged(7*us, report(0, roce.NakMissing, 1<<8|1))
	if e.a.Acknowledged(9*us, report(2, roce.Ack, 0)); e.a.sel.rtt.mean != 0 {
		t.Errorf("a round trip of %v of what goes again", e.a.sel.rtt.mean)
	}
}

// TestNews: a report restarts the silence timer if a later packet has arrived than before, or if another packet is
// missing. A retransmission requests an answer.
func TestNews(t *testing.T) {
	const us = unit.Microsecond
	e := sent(t, 50, func(c *Config) { c.Recovery, c.AckEvery, c.NakAfter, c.Timeout = Selective, 64, 63, unit.Second })
	for i, c := range []struct {
		p    *Packet
		news bool
	}{
		{report(2, roce.NakGap, 6<<8|1), true}, {report(2, roce.NakGap, 6<<8|1), false},
		{report(2, roce.NakGap, 5<<8|1), false}, {report(2, roce.NakGap, 7<<8|1), true},
		{report(4, roce.NakGap, 5<<8|1), true},
	} {
		now := unit.Time(i+1) * 10 * us
		e.a.Acknowledged(now, c.p)
		if got := e.a.TimeoutAt() == now+100*us; got != c.news {
			t.Errorf("report %d at %v: silence until %v", i, now, e.a.TimeoutAt())
		}
	}
	e = sent(t, 10, func(c *Config) { c.Recovery, c.AckEvery, c.Timeout = Selective, 64, unit.Second })
	e.a.Acknowledged(0, report(1, roce.Ack, 0)) // of the packet with the request
	if at := e.a.TimeoutAt(); at != unit.Second {
		t.Errorf("nobody was asked: silence until %v", at)
	}
	e.a.Acknowledged(us, report(2, roce.NakMissing, 1<<8|1))
	if got := goes(e, 3*us, 1); got != " 3*" || e.a.TimeoutAt() != 1353*us {
		t.Errorf("%s goes, and silence is until %v", got, e.a.TimeoutAt())
	}
}

// TestOutage: a packet retransmitted at least 100 us after the last new packet arrives. It shows that all earlier
// missing packets are lost.
func TestOutage(t *testing.T) {
	for at, want := range map[unit.Time]uint64{rtoGap - 1: 0, 100 * unit.Microsecond: 77} {
		var k selective
		k.newAt = 5
		k.arrived(span{from: 1, next: 2, to: 2, stamp: 77, at: at + 5})
		if k.drained != want || k.came != at+5 {
			t.Errorf("%v after the last new one: missing below %d, last came one of %v", at, k.drained, k.came)
		}
	}
}

// TestPastWindow: retransmissions ignore the driver's window. Where answers name packets, only the oldest packet
// does, or any after silence.
func TestPastWindow(t *testing.T) {
	for name, c := range map[string]struct {
		named  bool
		lost   int
		probes uint8
		want   bool
	}{
		"nothing is lost":       {true, -1, 0, false},
		"any":                   {false, 3, 0, true},
		"named, the oldest":     {true, 0, 0, true},
		"named, another":        {true, 3, 0, false},
		"named, after silence":  {true, 3, 1, true},
		"none is lost, silence": {true, -1, 1, false},
	} {
		e := sent(t, 10, func(f *Config) { f.Recovery, f.AckEvery, f.Named = Selective, 64, c.named })
		if c.lost >= 0 {
			e.a.Acknowledged(0, report(0, roce.NakMissing, uint32(c.lost)<<8|1))
		}
		e.a.sel.probes = c.probes
		if e.a.PastWindow() != c.want {
			t.Errorf("%s: past the window %v", name, !c.want)
		}
	}
}

// TestSolicitedSaysMore: if every packet of a WRITE has its own RETH, the packets of one with immediate have the
// solicited bit, except the last. Packets of a plain WRITE have none.
func TestSolicitedSaysMore(t *testing.T) {
	for verb, want := range map[Verb][3]bool{Write: {}, WriteImm: {true, true, false}} {
		e := connected(t, func(c *Config) { c.WriteOnly = true })
		e.post(Request{Verb: verb, VA: 0x1000, RKey: 7, Len: 3000})
		for i := range 3 {
			var p Packet
			if !e.a.Next(0, &p) || p.Solicited != want[i] || p.VA != 0x1000+uint64(i)*1024 {
				t.Errorf("verb %v, packet %d: %+v", verb, i, p)
			}
		}
	}
}

// TestHalfTheSpace: 2^23 - 1 numbers may be open, and no more (IBTA 9.7.2).
func TestHalfTheSpace(t *testing.T) {
	for open, want := range map[uint64]bool{8_388_606: true, 8_388_607: false} {
		e := connected(t, nil)
		e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 1 << 31})
		e.a.end += 1 << 24
		e.a.wrs[0].end = e.a.end
		e.a.next += open
		e.a.high = e.a.next
		if e.a.Pending() != want {
			t.Errorf("%d are open: one more goes %v", open, !want)
		}
	}
}

// TestUnreadAnswers: after READ data that are never fetched, at most 80 answers are queued for 4 READs.
func TestUnreadAnswers(t *testing.T) {
	e := connected(t, func(c *Config) { c.Recovery = Selective })
	var a Answer
	e.b.Data(&Packet{Opcode: roce.ReadRequest, PSN: psnAt(0), VA: 0x1000, RKey: 7, Len: 10}, &a)
	for range 200 {
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: psnAt(3), VA: 0x1000, RKey: 7, AckReq: true}, &a)
	}
	n := 0
	for p := (Packet{}); e.b.NextResponse(&p); n++ {
	}
	if n != 81 {
		t.Errorf("%d answers, want the READ's and 80", n)
	}
}
