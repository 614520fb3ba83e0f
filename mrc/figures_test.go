package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

const us = unit.Microsecond

// pairOf is a sender and a receiver on planes of testPath, with a congestion control that records its inputs.
func pairOf(planes int, v param.Values) (s *Sender, r *Receiver, told *heardBy) {
	told = &heardBy{Controller: cc.None{Line: 100 * unit.Gbps}}
	m := newMaker(with(v), transport.Common{MTU: 1024, Planes: planes, CC: func(cc.Path) cc.Controller { return told }})
	return newSender(newPeer(m, testPath, 1), 1), newReceiver(m, testPath, 1), told
}

// TestRoundTripsByHand: RFC 6298, section 2. Invalid stamps are ignored: of zero, of less, or of more than a
// second.
func TestRoundTripsByHand(t *testing.T) {
	var e estimate
	for i, c := range []struct{ sample, last, mean, dev, least unit.Time }{
		{0, 0, 0, 0, 0}, {-us, 0, 0, 0, 0}, {unit.Second + 1, 0, 0, 0, 0},
		{8 * us, 8 * us, 8 * us, 4 * us, 8 * us},
		{8 * us, 8 * us, 8 * us, 3 * us, 8 * us},
		{16 * us, 16 * us, 9 * us, 4_250_000, 8 * us},
		{unit.Second + 1, 16 * us, 9 * us, 4_250_000, 8 * us},
		{1 * us, 1 * us, 8 * us, 5_187_500, 1 * us},
		{unit.Second, unit.Second, 125_007 * us, 250_001_890_625, 1 * us},
	} {
		if e.sample(c.sample); e != (estimate{c.last, c.mean, c.dev, c.least}) {
			t.Errorf("sample %d: %+v, want %+v", i, e, c)
		}
	}
}

// TestTimesOfAPeer: timeouts, delays and periods by what is configured and known. They are three unloaded round
// trips, two mean ones, the mean plus four deviations, or the minimum, each plus the far end's maximum delay, a
// quarter.
func TestTimesOfAPeer(t *testing.T) {
	type known struct{ base, mean, dev, least unit.Time }
	for _, c := range []struct {
		known
		v                              param.Values
		timeout, delay, trip, probeing unit.Time
	}{
		{known{}, nil, 20_000 * us, 50 * us, 1000 * us, 1000 * us},
		{known{base: 10 * us}, nil, 32_500_000, 2_500_000, 10 * us, 10 * us},
		{known{base: us / 5}, nil, 10_100_000, us / 10, us / 5, us},
		{known{base: us / 5}, param.Values{"timeout_floor": 3 * us}, 3_100_000, us / 10, us / 5, us},
		{known{10 * us, 40 * us, 0, 10 * us}, nil, 82_500_000, 2_500_000, 40 * us, 40 * us},
		{known{10 * us, 40 * us, 20 * us, 10 * us}, nil, 122_500_000, 2_500_000, 40 * us, 40 * us},
		{known{0, 40 * us, 0, 40 * us}, nil, 130 * us, 50 * us, 40 * us, 40 * us},
		{known{0, 1, 0, 1}, nil, 10_100_000, 50 * us, 1, us},
		{known{base: 10 * us}, param.Values{"timeout": 77 * us}, 77 * us, 2_500_000, 10 * us, 10 * us},
		{known{base: 10 * us}, param.Values{"ack_delay": 4 * us}, 34 * us, 4 * us, 10 * us, 10 * us},
		{known{base: 10 * us}, param.Values{"probe_every": 3 * us}, 32_500_000, 2_500_000, 10 * us, 3 * us},
	} {
		m := newMaker(with(c.v), transport.Common{MTU: 1024, Planes: 1})
		p := newPeer(m, cc.Path{Line: 100 * unit.Gbps, MTU: 1024, RTT: c.base}, 1)
		p.rtt = estimate{mean: c.mean, dev: c.dev, least: c.least}
		if got := p.timeout(); got != c.timeout {
			t.Errorf("%+v %v: a timeout of %v, want %v", c.known, c.v, got, c.timeout)
		}
		if got := m.ackDelay(c.base); got != c.delay {
			t.Errorf("%+v %v: a delay of %v, want %v", c.known, c.v, got, c.delay)
		}
		if trip, every := p.roundTrip(), p.probeEvery(); trip != c.trip || every != c.probeing {
			t.Errorf("%+v %v: a round trip of %v, probes every %v", c.known, c.v, trip, every)
		}
	}
	for tries, want := range map[int][2]unit.Time{0: {1, 1}, 1: {2, 2}, 3: {8, 4}, 12: {4096, 13}, 13: {4096, 14}} {
		for i, exponential := range []bool{true, false} {
			m := maker{knobs: knobs{Exponential: exponential}}
			if got := m.stretched(us, tries); got != want[i]*us {
				t.Errorf("after %d tries: %v, want %v us", tries, got, want[i])
			}
		}
	}
}

// TestSlackByHand: the difference between paths is a quarter of the minimum round trip or four deviations, plus the
// far end's delay. It doubles for each mistake, up to 64 times, and halves after 16 losses that were no mistakes.
func TestSlackByHand(t *testing.T) {
	s, _, _ := pairOf(1, nil)
	p, e := s.peer, s.peer.early
	want := func(what string, slack unit.Time) {
		t.Helper()
		if got := p.slack(); got != slack {
			t.Errorf("%s: %v, want %v", what, got, slack)
		}
	}
	want("at first", 5*us)
	p.rtt = estimate{mean: 20 * us, dev: us / 2, least: 16 * us}
	want("measured", 8*us)
	p.rtt.dev = 2 * us
	want("four deviations", 12*us)
	e.right = 9
	for _, factor := range []unit.Time{2, 4, 8, 16, 32, 64, 64} {
		if e.mistaken(); e.right != 0 {
			t.Errorf("%d right ones are kept", e.right)
		}
		want("mistaken", 12*us*factor)
	}
}

// TestPortUpdates: an update is sent at once, then after two round trips, four and so on up to 512, sixteen in
// total. It is not repeated once it is answered. Working planes take turns.
func TestPortUpdates(t *testing.T) {
	_, r, _ := pairOf(4, nil)
	r.PlaneIs(3*us, 2, false)
	at, gap := 3*us, 20*us
	for i := range 16 {
		if r.At() != at {
			t.Fatalf("update %d is due at %v, want %v", i, r.At(), at)
		}
		r.Tick(at)
		var p transport.Packet
		want := []uint8{0, 1, 3}[i%3]
		if !r.Say(at, &p) || p.Kind != transport.Control || p.Bits[0] != 0b1011 || p.PSN != 1 || p.Plane != want ||
			p.Code != AboutPorts || p.Sent != at || p.Flags != transport.Stamped {
			t.Fatalf("update %d: %+v", i, p)
		}
		if r.Say(at, &p) {
			t.Errorf("update %d goes twice", i)
		}
		at, gap = at+gap, min(2*gap, 5120*us)
	}
	r.Tick(at)
	if p := (transport.Packet{}); r.Say(at, &p) || r.At() != unit.Never || count(r, "port_updates") != 16 {
		t.Errorf("one more: %+v, due at %v", p, r.At())
	}
	r.PlaneIs(at, 2, true)
	r.Take(at, &transport.Packet{Kind: transport.Answer, Code: AboutPorts, PSN: 1})
	if r.At() != at {
		t.Error("the answer to an older update counts")
	}
	r.Take(at, &transport.Packet{Kind: transport.Answer, Code: AboutPorts, PSN: 2})
	if p := (transport.Packet{}); r.At() != unit.Never || r.Say(at, &p) {
		t.Errorf("answered: %+v, due at %v", p, r.At())
	}
}

// TestFarPorts: the far end's port report applies unless it is older than the last one. Its numbers wrap after
// 65,535. A report that no port works is ignored. Packets in flight on a failed plane are retransmitted.
func TestFarPorts(t *testing.T) {
	s, _, _ := pairOf(2, nil)
	for i, c := range []struct {
		psn, up, want uint32
	}{{65_535, 0b01, 0b01}, {65_534, 0b11, 0b01}, {65_535, 0b11, 0b01}, {0, 0b11, 0b11}, {1, 0, 0b11}, {2, 0b10, 0b10},
		{1, 0b01, 0b10}, {3, 0b111, 0b11}} {
		s.Take(us, &transport.Packet{Kind: transport.Control, Code: AboutPorts, PSN: c.psn,
			Bits: [2]uint64{uint64(c.up)}})
		if s.peer.far != c.want || s.peer.planes() != c.want {
			t.Errorf("update %d: the far planes are %b, want %b", i, s.peer.far, c.want)
		}
		var p transport.Packet
		if !s.Say(us, &p) || p.Kind != transport.Answer || p.Code != AboutPorts || p.PSN != c.psn&0xffff {
			t.Errorf("update %d: %+v is answered", i, p)
		}
	}
	s.Post(us, transport.Request{Bytes: 2048})
	var p transport.Packet
	s.Next(us, 0, &p)
	p = transport.Packet{}
	s.Next(us, 1, &p)
	s.Take(2*us, &transport.Packet{Kind: transport.Control, Code: AboutPorts, PSN: 4, Bits: [2]uint64{1}})
	p = transport.Packet{}
	if s.InFlight() != 1024 || s.Next(2*us, 1, &p) || !s.Next(2*us, 0, &p) || p.PSN != 1 ||
		p.Flags&transport.Again == 0 || s.InFlight() != 2048 {
		t.Errorf("after the far port broke: %+v goes, %v under way", p, s.InFlight())
	}
}

// TestSACKByHand: a SACK reports the arrived packets (all before 1, then 2 and 3), their payload, and the
// receiver's range.
func TestSACKByHand(t *testing.T) {
	_, r, _ := pairOf(1, nil)
	for _, psn := range []uint32{0, 2, 3} {
		p := transport.Packet{Kind: transport.Data, PSN: psn, EV: 7000 + psn, Payload: 100, Bytes: 1000, Sent: 5 * us,
			Flags: transport.Stamped}
		if psn == 3 {
			p.Flags |= transport.Asks
		}
		if !r.Take(9*us, &p) {
			t.Errorf("packet %d is not placed", psn)
		}
		if r.Take(9*us, &p) {
			t.Errorf("packet %d is placed twice", psn)
		}
	}
	var got []transport.Packet
	for p := (transport.Packet{}); r.Say(12*us, &p); p = (transport.Packet{}) {
		p.EV = 0
		got = append(got, p)
	}
	want := transport.Packet{Kind: transport.Ack, PSN: 3, EchoEV: 7003, Expect: 1, Late: 2,
		Bits: [2]uint64{0b1101, 4096}, Bytes: 300, Sent: 8 * us, Flags: transport.Stamped}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if count(r, transport.CounterDuplicates) != 3 || count(r, transport.CounterReordered) != 2 {
		t.Errorf("%d twice, %d out of order", count(r, transport.CounterDuplicates), count(r, transport.CounterReordered))
	}
}

// TestWhatIsNotTaken: invalid packets are counted and not answered. NACKs give the reason for a packet beyond the
// window, of a broken connection, or with more immediates than announced.
func TestWhatIsNotTaken(t *testing.T) {
	for name, c := range map[string]struct {
		p         transport.Packet
		malformed int64
		nack      roce.NackReason
		placed    bool
	}{
		"a full one":              {transport.Packet{Payload: 1024, Bytes: 1024}, 0, 0, true},
		"longer than the MTU":     {transport.Packet{Payload: 1025, Bytes: 2000}, 1, 0, false},
		"the largest message":     {transport.Packet{Payload: 4, Bytes: 1 << 31, Offset: 1<<31 - 4}, 0, 0, true},
		"beyond it":               {transport.Packet{Payload: 4, Bytes: 1<<31 + 1}, 1, 0, false},
		"beyond its message":      {transport.Packet{Payload: 5, Bytes: 100, Offset: 96}, 1, 0, false},
		"far beyond its message":  {transport.Packet{Payload: 5, Bytes: 100, Offset: 101}, 1, 0, false},
		"by a plane that is none": {transport.Packet{Payload: 4, Bytes: 4, Plane: 1}, 1, 0, false},
		"the last in the window":  {transport.Packet{Payload: 4, Bytes: 4, PSN: 4095}, 0, 0, true},
		"beyond the window":       {transport.Packet{Payload: 4, Bytes: 4, PSN: 4096}, 0, roce.NackOutOfWindow, false},
		"cut":                     {transport.Packet{Bytes: 4, Flags: transport.Trimmed}, 0, roce.NackTrimmed, false},
		"cut at the last hop": {transport.Packet{Bytes: 4, Flags: transport.Trimmed | transport.LastHop}, 0,
			roce.NackTrimmedLastHop, false},
	} {
		_, r, _ := pairOf(1, nil)
		c.p.Kind = transport.Data
		if placed := r.Take(us, &c.p); placed != c.placed || count(r, "malformed") != c.malformed ||
			(count(r, transport.CounterPlaced) > 0) != c.placed {
			t.Errorf("%s: placed %v, %d malformed", name, placed, count(r, "malformed"))
		}
		var p transport.Packet
		if said := r.Say(us, &p); said != (c.nack != 0) || said && (p.Kind != transport.Nack ||
			roce.NackReason(p.Code) != c.nack || p.PSN != c.p.PSN) {
			t.Errorf("%s: answered with %+v", name, p)
		}
	}
	_, r, _ := pairOf(1, param.Values{"immediates": 1})
	tells := func(psn uint32) bool {
		return r.Take(us, &transport.Packet{Kind: transport.Data, PSN: psn, Payload: 1, Bytes: 1,
			Flags: transport.Last | transport.Tells})
	}
	if !tells(1) || tells(2) || r.Take(us, &transport.Packet{Kind: transport.Data, Payload: 1, Bytes: 1}) {
		t.Error("more immediates than were announced are placed, or what follows")
	}
}
