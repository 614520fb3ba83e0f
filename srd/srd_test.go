package srd

import (
	"maps"
	"testing"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/param"
	"railyard/rc"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

const us = unit.Microsecond

var path100 = cc.Path{Line: 100 * unit.Gbps, MTU: 1000, RTT: 10 * us, Hops: 3}

// TestConforms runs the tests of package transporttest.
func TestConforms(t *testing.T) { transporttest.Run(t, transporttest.Suite{Protocol: &Protocol}) }

func with(changes param.Values) param.Values {
	v := maps.Clone(Protocol.Defaults)
	maps.Copy(v, changes)
	return v
}

func counter(t *testing.T, n *transporttest.Net, name string) int64 {
	t.Helper()
	c, ok := n.Sender(0).Counter(name)
	if !ok {
		t.Fatalf("there is no counter %q", name)
	}
	return c
}

// finish lets all messages complete, to a microsecond.
func finish(t *testing.T, n *transporttest.Net) {
	t.Helper()
	for end := n.Now + unit.Second; !n.Done() && n.Fault == "" && n.Now < end; {
		n.Until(n.Now + us)
	}
	if n.Fault != "" || !n.Done() {
		t.Fatalf("messages are not there after a second: %s", n.Fault)
	}
}

// TestSpray: packets of one connection use all 64 paths about equally often.
func TestSpray(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 64})
	seen := map[uint32]int{}
	n.Saw = func(_, _ int, p *transport.Packet) {
		if p.Kind == transport.Data {
			seen[p.EV]++
		}
	}
	n.Post(0, 6400<<10, false)
	finish(t, n)
	if len(seen) != 64 {
		t.Fatalf("%d paths are used of 64", len(seen))
	}
	for ev, packets := range seen {
		if packets < 95 || packets > 105 {
			t.Errorf("path %d has %d packets of 6400 on 64 equal paths", ev, packets)
		}
	}
}

// TestSharesShift: a path that is five times as slow soon gets an eighth of the others' share. It gets its share
// back when it is as fast as they are.
func TestSharesShift(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 64})
	slow := int(rng.Mix64(7<<8) % 64) // where path 7 leads, perhaps not alone
	n.Paths[transporttest.There][0][slow].Delay = 50 * us
	var on7, all int
	n.Saw = func(_, _ int, p *transport.Packet) {
		if p.Kind == transport.Data {
			if all++; p.EV == 7 {
				on7++
			}
		}
	}
	post := func() float64 {
		on7, all = 0, 0
		n.Post(0, 16<<20, false)
		finish(t, n)
		return float64(on7) * 64 / float64(all)
	}
	post()
	if share := post(); share > 0.2 {
		t.Errorf("the slow path has %.2f of a fair share", share)
	}
	n.Paths[transporttest.There][0][slow].Delay = 5 * us
	post()
	post()
	if share := post(); share < 0.9 {
		t.Errorf("a path that is fast again has %.2f of a fair share", share)
	}
	if counter(t, n, "shifts") == 0 {
		t.Error("no shift was counted")
	}
}

// TestRetransmission: all packets are lost. One is retransmitted after the time-out, and the others a round trip
// later. If a later packet of the same path arrives, it reveals the loss sooner.
func TestRetransmission(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 4})
	for i := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][i].Loss = 1
	}
	n.Post(0, 4096, false)
	n.Until(us)
	for i := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][i].Loss = 0
	}
	finish(t, n)
	if lost := counter(t, n, "timeouts") + counter(t, n, "early"); n.Now > 75*us || lost != 4 {
		t.Errorf("four lost packets are there after %v, %d taken for lost", n.Now, lost)
	}
	n = transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 4, Seed: 9,
		Values: with(param.Values{"timeout": unit.Second})})
	for i := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][i].Loss = 0.01
	}
	n.Post(0, 4<<20, false)
	n.Until(2 * unit.Millisecond)
	if early := counter(t, n, "early"); early < 20 {
		t.Errorf("%d of about 40 lost packets were found out by later ones", early)
	}
}

// TestUnordered: a short message after a long one arrives first if the long one waits for a lost packet.
func TestUnordered(t *testing.T) {
	m := Protocol.New(Protocol.Defaults, transport.Common{MTU: 1000, Planes: 1})
	path := path100
	s, r := m.Peer(path, 1).Sender(1), m.Receiver(path, 1)
	s.Post(0, transport.Request{ID: 1, Bytes: 3000})
	s.Post(0, transport.Request{ID: 2, Bytes: 10})
	var p [4]transport.Packet
	for i := range p {
		if !s.Next(0, 0, &p[i]) {
			t.Fatal("no packet")
		}
	}
	var arrived []uint32
	for _, i := range []int{0, 3, 2, 1} {
		r.Take(0, &p[i])
		for m, ok := r.Arrived(); ok; m, ok = r.Arrived() {
			arrived = append(arrived, m)
		}
	}
	if len(arrived) != 2 || arrived[0] != 1 || arrived[1] != 0 {
		t.Errorf("messages arrive as %v, want 1 before 0", arrived)
	}
}

// TestRateFollowsDelay: delay above the minimum reduces the rate in proportion. Without queues the rate rises
// again, to the line rate.
func TestRateFollowsDelay(t *testing.T) {
	set := settingsOf(Protocol.Defaults, transport.Common{MTU: 4096})
	r := newRate(&set, 400*unit.Gbps, 10*us)
	now := unit.Time(0)
	step := func(rtt unit.Time, rounds int) { // two packets, a round trip apart
		for range rounds {
			r.full = true
			left := now
			r.heard(left+rtt, left, rtt)
			now = left + 2*rtt
			r.heard(now, left+rtt, rtt)
		}
	}
	step(40*us, 1)
	if r.now != 200*unit.Gbps { // a reduction is at most a half: the excess is half of the delay
		t.Errorf("at four times the least round trip the rate is %v, want half the line", r.now)
	}
	r.heard(now+us, now-us, 300*us) // left before the reduction
	if r.cuts != 1 || r.samples != 0 {
		t.Errorf("what left before a cut counts: %d cuts, %d samples", r.cuts, r.samples)
	}
	began := r.cutAt + us
	r.heard(began, began-2*us, 20*us) // left before the reduction: it begins the round and is not a sample
	if r.heard(began+29*us, began+9*us, 20*us); r.cuts != 1 || r.samples != 0 {
		t.Errorf("twice the least round trip is not an excess: %d cuts, %d samples", r.cuts, r.samples)
	}
	now = began + 29*us
	step(21*us, 1)
	if got := float64(r.now) / 1e9; got < 180 || got > 195 { // 1/21 of the delay is above 20 us
		t.Errorf("just above the threshold it is %.1f Gbit/s", got)
	}
	step(12*us, 60)
	if r.now != 400*unit.Gbps || r.cuts != 2 {
		t.Errorf("without queues it is %v after %d cuts", r.now, r.cuts)
	}
}

// TestRateFollowsArrivals: if round trips have grown and a sixteenth of the line rate arrives, that is the new
// rate, and the limit in flight follows. A sender without more data to send does not learn from it.
func TestRateFollowsArrivals(t *testing.T) {
	for _, full := range []bool{true, false} {
		set := settingsOf(Protocol.Defaults, transport.Common{MTU: 4096})
		r := newRate(&set, 400*unit.Gbps, 10*us)
		if got := r.limit(); got != 500_000+4*4096 {
			t.Fatalf("before the first answer %v may be in flight, want a product of 500 KB and what an "+
				"acknowledgement waits for", got)
		}
		packet := unit.Serialize(4096, 25*unit.Gbps)
		for now := 12 * us; r.cuts == 0; now += packet {
			r.full = full
			r.came(4096)
			r.heard(now, 1, now)
		}
		if full && (r.now < 24*unit.Gbps || r.now > 26*unit.Gbps || r.limit() > 70_000) {
			t.Errorf("25 Gbit/s arrive: the rate is %v, %v in flight", r.now, r.limit())
		}
		if !full && r.now < 200*unit.Gbps {
			t.Errorf("a sender that had no more goes down to %v", r.now)
		}
	}
}

// TestSlowAnswers: while acknowledgements take thirty times the path's round trip, packets in flight are not
// mistaken for lost. One probe and the first acknowledgement show that delay.
func TestSlowAnswers(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 64})
	for i := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][i].Delay = 300 * us
	}
	n.Post(0, 1<<20, false)
	finish(t, n)
	if lost := counter(t, n, "timeouts") + counter(t, n, "early"); lost == 0 || lost > 8 {
		t.Errorf("%d of 1024 packets were taken for lost", lost)
	}
}

// TestUnresponsive: a far NIC that never answers fails the message.
func TestUnresponsive(t *testing.T) {
	m := Protocol.New(with(param.Values{"retries": 3}), transport.Common{MTU: 1000, Planes: 1})
	s := m.Peer(path100, 1).Sender(1)
	s.Post(0, transport.Request{ID: 5, Bytes: 10})
	var p transport.Packet
	for now := unit.Time(0); now < unit.Second; now = s.At() {
		s.Tick(now)
		for s.Next(now, 0, &p) {
		}
	}
	if c, ok := s.Completed(); !ok || c.ID != 5 || c.Status != rc.RetryExceeded || s.InFlight() != 0 {
		t.Errorf("completion %v %v with %v under way", c, ok, s.InFlight())
	}
}
