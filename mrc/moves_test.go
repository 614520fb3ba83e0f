package mrc

import (
	"testing"

	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// fabric is two planes of eight paths each, with a long transfer for a while.
func fabric(t *testing.T, v param.Values) *transporttest.Net {
	t.Helper()
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Values: with(v), Planes: 2, Paths: 8,
		MTU: 4096, Seed: 3})
	n.Post(0, 64<<20, false)
	n.Until(200 * unit.Microsecond)
	return n
}

// finish runs until the transfer is complete.
func finish(t *testing.T, n *transporttest.Net) {
	t.Helper()
	for !n.Done() && n.Fault == "" && n.Now < unit.Second {
		n.Until(n.Now + 100*unit.Microsecond)
	}
	if n.Fault != "" || !n.Done() {
		t.Fatalf("at %v: %s", n.Now, n.Fault)
	}
}

func count(e transport.End, name string) int64 {
	n, _ := e.Counter(name)
	return n
}

// How long data use a path that has just failed, under load and without rerouting. If the NIC's own port is down,
// not at all; if the far one is, for half a round trip. If a path fails, each of its values must lose a packet.
func TestTimeToMove(t *testing.T) {
	const rtt = 11 * unit.Microsecond
	for _, c := range []struct {
		what   string
		breaks func(n *transporttest.Net)
		gone   func(n *transporttest.Net, p *transport.Packet) bool // a packet on the failed path
		within unit.Time
	}{
		{"own port", func(n *transporttest.Net) { n.PlaneIs(transporttest.There, 1, false) },
			func(_ *transporttest.Net, p *transport.Packet) bool { return p.Plane == 1 }, 0},
		{"far port", func(n *transporttest.Net) { n.PlaneIs(transporttest.Back, 1, false) },
			func(_ *transporttest.Net, p *transport.Packet) bool { return p.Plane == 1 }, rtt},
		{"path", func(n *transporttest.Net) { n.Paths[transporttest.There][1][0].Dead = true },
			func(n *transporttest.Net, p *transport.Packet) bool {
				return p.Plane == 1 && n.PathOf(p) == 0
			}, 100 * unit.Microsecond},
	} {
		n := fabric(t, nil)
		began, last, before := n.Now, n.Now, n.Again
		n.Saw = func(dir, _ int, p *transport.Packet) {
			if dir == transporttest.There && p.Kind == transport.Data && c.gone(n, p) {
				last = n.Now
			}
		}
		c.breaks(n)
		n.Until(began + unit.Millisecond)
		t.Logf("%s: data leave it after %v, %d packets go again", c.what, last-began, n.Again-before)
		if last-began > c.within {
			t.Errorf("%s: data went by it for %v, want %v at most", c.what, last-began, c.within)
		}
		finish(t, n)
	}
}

// A failed path is left, and its values are probed. They return when the path does, and not before.
func TestPathComesBack(t *testing.T) {
	n := fabric(t, nil)
	s := n.Sender(0)
	dead := &n.Paths[transporttest.There][0][1]
	dead.Dead = true
	n.Until(n.Now + unit.Millisecond)
	bad, back := count(s, "ev_bad"), count(s, "ev_restored")
	if bad == 0 || back > 0 || count(s, "probes") == 0 || count(s, "ev_replaced") == 0 {
		t.Errorf("%d values bad, %d back, %d probes, %d replaced", bad, back, count(s, "probes"),
			count(s, "ev_replaced"))
	}
	dead.Dead = false
	n.Until(n.Now + 2*unit.Millisecond)
	if now := count(s, "ev_restored"); now < bad {
		t.Errorf("%d values of %d are back", now, bad)
	}
	finish(t, n)
}

// If answers stop, the failed path is unknown. No value is withdrawn and nothing is retransmitted before a probe is
// answered.
func TestSilence(t *testing.T) {
	n := fabric(t, nil)
	s := n.Sender(0)
	for plane := range 2 {
		for i := range 8 {
			n.Paths[transporttest.Back][plane][i].Dead = true
		}
	}
	before := n.Again
	n.Until(n.Now + 200*unit.Microsecond)
	if n.Again > before || count(s, "ev_bad") > 0 || count(s, "probes") == 0 {
		t.Errorf("%d packets go again, %d values are bad, %d probes", n.Again-before, count(s, "ev_bad"),
			count(s, "probes"))
	}
	for plane := range 2 {
		for i := range 8 {
			n.Paths[transporttest.Back][plane][i].Dead = false
		}
	}
	finish(t, n)
}

// Marks skip values for the remainder of a round. Trims do so too, and the packet is retransmitted without a
// timeout. A trim at the last hop affects no path.
func TestVerdicts(t *testing.T) {
	n := fabric(t, nil)
	s := n.Sender(0)
	n.Paths[transporttest.There][0][0].Mark = 1
	n.Until(n.Now + 500*unit.Microsecond)
	if count(s, "skip_once") == 0 || count(s, "ev_skips") == 0 || count(s, "ev_bad") > 0 {
		t.Errorf("%d SACKs with a mark, %d values skipped, %d bad", count(s, "skip_once"),
			count(s, "ev_skips"), count(s, "ev_bad"))
	}
	n.Paths[transporttest.There][0][0] = transporttest.Path{Delay: 5 * unit.Microsecond, Trim: 0.05}
	n.Until(n.Now + 500*unit.Microsecond)
	if count(s, "nack_trimmed") == 0 || count(s, "nack_trimmed_lasthop") == 0 || n.Again == 0 {
		t.Errorf("%d NACKs of trims, %d at the last hop, %d packets again", count(s, "nack_trimmed"),
			count(s, "nack_trimmed_lasthop"), n.Again)
	}
	finish(t, n)
}

// A receiver whose last hop trims requests smaller windows: 64 of 128 halves them for a round trip.
func TestPenalty(t *testing.T) {
	p := newPeer(newMaker(with(param.Values{"penalty": 64}), transport.Common{MTU: 4096, Planes: 1}),
		testPath, 1)
	whole := p.window(0)
	p.penalty, p.until = 64, 10
	if got := p.window(5); got != whole/2 || p.window(10) != whole {
		t.Errorf("the window is %v of %v, and %v afterwards", got, whole, p.window(10))
	}
	n := fabric(t, param.Values{"penalty": 64})
	for plane := range 2 {
		n.Paths[transporttest.There][plane][0].Trim = 0.1
	}
	finish(t, n)
	if count(n.Sender(0), "penalties") == 0 {
		t.Error("no penalty was asked for")
	}
}

// More WRITEs with immediate than announced end the connection; Railyard's sender respects the number.
func TestImmediates(t *testing.T) {
	m := newMaker(with(param.Values{"immediates": 2}), transport.Common{MTU: 1024, Planes: 1})
	s := newSender(newPeer(m, testPath, 1), 1)
	for range 3 {
		if err := s.Post(0, transport.Request{Bytes: 10, Tells: true}); err != nil {
			t.Fatal(err)
		}
	}
	r := newReceiver(m, testPath, 1)
	var p transport.Packet
	for i := range 3 {
		if p = (transport.Packet{}); s.Next(unit.Time(i), 0, &p) != (i < 2) {
			t.Errorf("WRITE %d with immediate: %+v", i, p)
		}
	}
	last := transport.Last | transport.Tells
	for psn := uint32(1); psn <= 3; psn++ { // the first is missing
		r.Take(1, &transport.Packet{Kind: transport.Data, PSN: psn, Flags: last, Payload: 1, Bytes: 1})
	}
	for p = (transport.Packet{}); r.Say(1, &p); p = (transport.Packet{}) {
		if p.Kind == transport.Nack && p.Code == uint8(roce.NackUnexpected) {
			s.Take(2, &p)
		}
	}
	if c, ok := s.Completed(); !ok || c.Status == 0 || s.Post(3, transport.Request{}) == nil {
		t.Errorf("completion %+v, %v; the connection takes more", c, ok)
	}
}

// Round trips that grow under load to four times the idle ones do not make a receiver replace return paths. It
// sends no more probes on them than answers.
func TestAnswersUnderLoad(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Values: with(nil), Planes: 2, Paths: 8,
		MTU: 4096, Seed: 3})
	for dir := range n.Paths {
		for plane := range 2 {
			for i := range 8 {
				n.Paths[dir][plane][i].Delay = 20 * unit.Microsecond
			}
		}
	}
	n.Post(0, 4<<20, false)
	finish(t, n)
	r := n.Receiver(0)
	asked, sacks := count(r, "reverse_probes"), count(r, "sacks")
	if changes := count(r, "reverse_changes"); changes > 0 || asked == 0 || asked > sacks+8 {
		t.Errorf("%d ways of answers changed, %d questions beside %d SACKs", changes, asked, sacks)
	}
}
