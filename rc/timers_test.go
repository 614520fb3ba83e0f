package rc

import (
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// TestRoundTripsByHand: RFC 6298, section 2: the mean follows by an eighth, the deviation by a quarter. Patience is two
// round trips, or the mean and four deviations where that is more.
func TestRoundTripsByHand(t *testing.T) {
	var r rtt
	for i, c := range []struct{ sample, mean, dev, least, patience unit.Time }{
		{8_000_000, 8_000_000, 4_000_000, 8_000_000, 24_000_000},
		{8_000_000, 8_000_000, 3_000_000, 8_000_000, 20_000_000},
		{8_000_000, 8_000_000, 2_250_000, 8_000_000, 17_000_000},
		{8_000_000, 8_000_000, 1_687_500, 8_000_000, 16_000_000},
		{16_000_000, 9_000_000, 3_265_625, 8_000_000, 22_062_500},
		{4_000_000, 8_375_000, 3_699_218, 4_000_000, 23_171_872},
	} {
		r.sample(c.sample)
		if r != (rtt{mean: c.mean, dev: c.dev, least: c.least}) || r.patience() != c.patience {
			t.Errorf("sample %d: %+v, patience %v; want %+v", i, r, r.patience(), c)
		}
	}
}

// TestSilence checks how long a selective requester waits for news in each state (docs/references.md, irn: IRN's
// two settings). The oldest packet went at 0, the ACK timeout is a second or more.
func TestSilence(t *testing.T) {
	const us = unit.Microsecond
	const long = 4 * unit.Second
	for name, c := range map[string]struct {
		sent  int // of 50 packets
		named bool
		set   func(k *selective, una uint64)
		want  unit.Time
	}{
		"nobody was asked": {10, false, func(k *selective, una uint64) { k.asked = una - 1 }, long},
		"asked": {10, false, func(k *selective, una uint64) { k.asked, k.askedAt = una+9, 7*us },
			1357 * us},
		"asked, and news since": {10, false,
			func(k *selective, una uint64) { k.asked, k.askedAt, k.at = una, 7*us, 9*us }, 1359 * us},
		"round trips vary more": {10, false, func(k *selective, una uint64) {
			k.asked, k.rtt = una, rtt{mean: 1000 * us, dev: 200 * us, least: 900 * us}
		}, 2000 * us},
		"few, and no round trip known": {3, false, func(k *selective, una uint64) { k.asked = una }, 1350 * us},
		"few": {3, false, func(k *selective, una uint64) { k.asked, k.rtt.mean = una, 10*us },
			454 * us},
		"few, and round trips long": {3, false, func(k *selective, una uint64) { k.asked, k.rtt.mean = una, 300*us },
			600 * us},
		"four":  {4, false, func(k *selective, una uint64) { k.asked, k.rtt.mean = una, 10*us }, 1350 * us},
		"twice": {10, false, func(k *selective, una uint64) { k.asked, k.probes = una, 1 }, 2700 * us},
		"often": {3, false, func(k *selective, una uint64) { k.asked, k.probes, k.rtt.mean = una, 3, us }, 3632 * us},
		"a hole, and more to send": {10, false, func(k *selective, una uint64) {
			k.hole, k.at, k.newAt = una, 20*us, 30*us
		}, 1370 * us},
		"a hole, and all is sent": {50, false, func(k *selective, una uint64) {
			k.hole, k.at, k.newAt = una, 20*us, 30*us
		}, 130 * us},
		"a hole, all is sent, and news since": {50, false, func(k *selective, una uint64) {
			k.hole, k.at, k.newAt = una, 40*us, 30*us
		}, 140 * us},
		"a hole, all is sent, round trips long": {50, false, func(k *selective, una uint64) {
			k.hole, k.rtt.mean = una, 80*us
		}, 160 * us},
		"named": {10, true, func(k *selective, una uint64) { k.at, k.newAt = 20*us, 30*us }, 130 * us},
		"named, and news since": {10, true, func(k *selective, una uint64) { k.at, k.newAt = 50*us, 30*us },
			150 * us},
		"named, round trips long": {10, true, func(k *selective, una uint64) { k.rtt.mean, k.probes = 60*us, 2 },
			480 * us},
	} {
		e := sent(t, c.sent, func(f *Config) {
			f.Recovery, f.AckEvery, f.Timeout, f.Named = Selective, 64, long, c.named
		})
		k := e.a.sel
		k.at, k.newAt, k.askedAt = 0, 0, 0
		c.set(k, e.a.una)
		if got := e.a.TimeoutAt(); got != c.want {
			t.Errorf("%s: silence lasts until %v, want %v", name, got, c.want)
		}
	}
}

// TestSweepsDouble: of runs that were retransmitted long ago and have not arrived, each report retransmits one.
// From the fourth consecutive report on, if all were lost, it retransmits two, four and so on. A run that is passed
// over in between, because it has arrived, resets the number.
func TestSweepsDouble(t *testing.T) {
	e := sent(t, 50, func(c *Config) { c.Recovery, c.AckEvery = Selective, 64 })
	q, k := &e.a, e.a.sel
	first, runs := q.una, uint64(24)
	for i := range runs { // every other packet was retransmitted at 0
		q.lost(first+2*i, first+2*i+1, false)
		var p Packet
		if !q.Next(0, &p) || p.PSN != psnAt(int(2*i)) {
			t.Fatalf("%+v goes again", p)
		}
	}
	k.came = 1350 * unit.Microsecond
	at := first
	for i, want := range []uint64{1, 1, 1, 2, 4} {
		was := k.pending
		if q.sweep(at, at+1); k.pending-was != want || k.swept != at+2*want-1 {
			t.Errorf("report %d: %d go once more, up to %d; want %d", i, k.pending-was, k.swept-first, want)
		}
		at += 2 * want
	}
	at += 2 // one arrived without a request
	for i, want := range []uint64{1, 1, 1, 2} {
		was := k.pending
		if q.sweep(at, at+1); k.pending-was != want {
			t.Errorf("report %d after one was left out: %d go once more, want %d", i, k.pending-was, want)
		}
		at += 2 * want
	}
	k.came-- // not long ago enough
	if from, to := k.old(0); from != 0 || to != 0 {
		t.Errorf("%d to %d went long ago", from-first, to-first)
	}
}

// TestTrimmedWithGoBackN: the first trimmed packet shows that the expected one is lost; further trimmed packets
// cause no request. Once the expected packet has arrived, the next trimmed packet does. A trimmed packet that has
// arrived before is acknowledged.
func TestTrimmedWithGoBackN(t *testing.T) {
	e := connected(t, nil)
	var a Answer
	says := func(what string, i int, reply bool, v Verdict, s roce.Syndrome, psn int) {
		t.Helper()
		e.b.Trimmed(psnAt(i), false, &a)
		if a.Reply != reply || a.Verdict != v || reply && (a.Packet.Syndrome&^0x1f != s&^0x1f ||
			a.Packet.PSN != psnAt(psn)) {
			t.Errorf("%s: %+v", what, a)
		}
	}
	says("the expected one", 0, true, OutOfOrder, roce.NakSequence, 0)
	says("once more", 0, false, OutOfOrder, 0, 0)
	says("the next", 1, false, OutOfOrder, 0, 0)
	e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: psnAt(0), VA: 0x1000, RKey: 7}, &a)
	if a.Verdict != Accepted {
		t.Fatalf("%+v", a)
	}
	says("one that has come", 0, true, Duplicate, roce.Ack, 0)
	says("one beyond the next", 2, true, OutOfOrder, roce.NakSequence, 1)
	says("and the next", 1, false, OutOfOrder, 0, 0)
}

// TestAcknowledgedPastARead: an ACK of a request after a READ shows that the READ's data are lost. Everything
// before the READ is acknowledged, and the data are requested at once.
func TestAcknowledgedPastARead(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(100)})
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: make([]byte, 100)})
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(100)})
	var p Packet
	for e.a.Next(0, &p) {
	}
	if n := e.a.Acknowledged(0, report(2, roce.Ack, 0)); n != 1 {
		t.Errorf("%d packets are acknowledged, want the first WRITE", n)
	}
	if !e.a.Next(0, &p) || p.Opcode != roce.ReadRequest || p.PSN != psnAt(1) || !p.Again {
		t.Errorf("then goes %+v, want the READ again", p)
	}
	if n := e.a.Acknowledged(0, report(2, roce.Ack, 0)); n != 0 || !e.a.Next(0, &p) || p.PSN != psnAt(2) {
		t.Errorf("and once more: %d packets, and then %+v", n, p)
	}
}
