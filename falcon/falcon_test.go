package falcon

import (
	"maps"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/param"
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

// run posts one message and returns when it is done.
func run(t *testing.T, set transporttest.Setup, bytes int64,
	begin func(n *transporttest.Net)) *transporttest.Net {
	t.Helper()
	set.Protocol = &Protocol
	n := transporttest.New(set)
	if begin != nil {
		begin(n)
	}
	n.Post(0, bytes, false)
	finish(t, n)
	return n
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

func counter(t *testing.T, n *transporttest.Net, name string) int64 {
	t.Helper()
	c, ok := n.Sender(0).Counter(name)
	if !ok {
		t.Fatalf("there is no counter %q", name)
	}
	return c
}

// TestLineRate: on an idle path a message takes its time on the wire plus the one-way delay.
func TestLineRate(t *testing.T) {
	const bytes = 32 << 20
	n := run(t, transporttest.Setup{}, bytes, nil)
	m := Protocol.New(Protocol.Defaults, transport.Common{MTU: 1024})
	wire := m.Wire(&transport.Packet{Payload: 1024})
	least := unit.Serialize(unit.Bytes(bytes/1024*(wire+20)), 100*unit.Gbps) + 5*us
	if last := lastData(n); last < least || last > least+least/20 {
		t.Errorf("%d bytes are there at %v, a line alone takes %v", bytes, last, least)
	}
	if n.Again != 0 {
		t.Errorf("%d packets went twice and none was lost", n.Again)
	}
}

// lastData is about when the last packet came: Done stops the network a round trip later.
func lastData(n *transporttest.Net) unit.Time { return n.Now - 5*us }

// TestLossIsNoCongestion: one packet in a hundred is lost. RACK retransmits it before a time-out, and windows stay
// open.
func TestLossIsNoCongestion(t *testing.T) {
	clean := run(t, transporttest.Setup{Paths: 4}, 8<<20, nil)
	n := run(t, transporttest.Setup{Paths: 4, Seed: 3}, 8<<20, func(n *transporttest.Net) {
		for i := range n.Paths[transporttest.There][0] {
			n.Paths[transporttest.There][0][i].Loss = 0.01
		}
	})
	if rack, late := counter(t, n, "rack"), counter(t, n, "timeouts"); rack < 40 || late > 2 {
		t.Errorf("RACK found %d of about 80 lost packets, %d time-outs", rack, late)
	}
	if n.Now > 3*clean.Now/2 {
		t.Errorf("with one packet in a hundred lost a message takes %v, with none %v", n.Now, clean.Now)
	}
}

// TestLostWindow: a whole window is lost on all paths. The answer to a probe reports one packet and delays the
// time-out. Packets that left a time-out before an arrived one are lost, on any path.
func TestLostWindow(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Paths: 4})
	n.Post(0, 1<<20, false) // round trips are known then
	n.Until(unit.Millisecond)
	n.Post(0, 64<<10, false)
	lose := func(share float64) {
		for i := range n.Paths[transporttest.There][0] {
			n.Paths[transporttest.There][0][i].Loss = share
		}
	}
	begin := n.Now
	lose(1)
	n.Until(begin + 12*us)
	lose(0)
	if finish(t, n); n.Now > begin+500*us {
		t.Errorf("64 packets, all lost at first, are there after %v: %d probes, %d time-outs", n.Now-begin,
			counter(t, n, "probes"), counter(t, n, "timeouts"))
	}
}

// TestTailLoss: the last packets of a message are lost. A probe detects it after a round trip, long before the
// time-out.
func TestTailLoss(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol})
	n.Post(0, 1<<20, false) // round trips are known then
	n.Until(unit.Millisecond)
	n.Post(0, 4096, false)
	n.Paths[transporttest.There][0][0].Loss = 1
	begin := n.Now
	n.Until(begin + 8*us)
	n.Paths[transporttest.There][0][0].Loss = 0
	finish(t, n)
	if n.Now > begin+150*us {
		t.Errorf("a lost tail is there %v later", n.Now-begin)
	}
	if counter(t, n, "probes") == 0 || counter(t, n, "timeouts") != 0 {
		t.Errorf("%d probes, %d time-outs", counter(t, n, "probes"), counter(t, n, "timeouts"))
	}
}

// TestReorderingIsNoLoss: paths that differ by four round trips reorder packets; each alone keeps order.
func TestReorderingIsNoLoss(t *testing.T) {
	n := run(t, transporttest.Setup{Paths: 4}, 4<<20, func(n *transporttest.Net) {
		for i := range n.Paths[transporttest.There][0] {
			n.Paths[transporttest.There][0][i].Delay += unit.Time(i) * 10 * us
		}
	})
	if rack := counter(t, n, "rack"); rack != 0 {
		t.Errorf("RACK sent %d packets again that were late on another path", rack)
	}
}

// TestCongestedPathIsLeft: with PLB a connection leaves a path whose delay stays above its target. Without PLB it
// stays on the path.
func TestCongestedPathIsLeft(t *testing.T) {
	for _, plb := range []bool{true, false} {
		set := transporttest.Setup{Paths: 64, Values: with(param.Values{"paths": 1, "plb": plb})}
		var first, last uint32
		n := run(t, set, 256<<10, func(n *transporttest.Net) {
			n.Saw = func(dir, _ int, p *transport.Packet) {
				if dir != transporttest.There || p.Kind != transport.Data {
					return
				}
				if first == 0 {
					first = p.EV
					n.Paths[dir][0][rng.Mix64(uint64(p.EV)<<8)%64].Delay = 100 * us
				}
				last = p.EV
			}
		})
		if left := last != first; left != plb || counter(t, n, "repaths") > 0 != plb {
			t.Errorf("plb %v: path %#x at first, %#x at last, %d changes", plb, first, last,
				counter(t, n, "repaths"))
		}
	}
}

// TestTurns: with weighted turns and one of two paths slower, the weights follow the windows, and neither path is
// starved.
func TestTurns(t *testing.T) {
	s := newSender(&[]settings{settingsOf(with(param.Values{"paths": 2, "weighted": true}),
		transport.Common{MTU: 1000, Planes: 1})}[0], path100, 1)
	s.flows[0].window, s.flows[1].window = 30_000, 10_000
	var sent [2]int
	for range 4000 {
		id := s.pick(0, 0)
		sent[id]++
		s.charge(0, id, 0)
	}
	if sent[0] != 3000 || sent[1] != 1000 {
		t.Errorf("windows of 30 and 10 packets send %d and %d of 4000", sent[0], sent[1])
	}
}

// TestBadValues: impossible values are rejected before the run.
func TestBadValues(t *testing.T) {
	for _, c := range []struct {
		change param.Values
		planes int
		name   string
		says   string
	}{
		{param.Values{"window": 100}, 1, "window", "not a power of two"},
		{param.Values{"paths": 2}, 4, "paths", "2 do not reach the 4 planes"},
		{nil, 4, "", ""},
		{nil, 8, "paths", "at most 4, distinguished by 2 bits of the flow label (Isekai"},
	} {
		name, fault := Protocol.Check(with(c.change), transport.Common{Planes: c.planes})
		if name != c.name || (name == "") != (fault == "") || !strings.Contains(fault, c.says) {
			t.Errorf("%v with %d planes: %q %q", c.change, c.planes, name, fault)
		}
	}
}

// TestWire: the bytes of a packet beyond its payload are the sum of Isekai's headers for an RDMA WRITE.
func TestWire(t *testing.T) {
	m := Protocol.New(Protocol.Defaults, transport.Common{MTU: 4096})
	if n := m.Wire(&transport.Packet{Payload: 4096}); n-4096 != 170 {
		t.Errorf("headers of %d bytes, want 170", n-4096)
	}
	plain := Protocol.New(with(param.Values{"psp": false}), transport.Common{MTU: 4096})
	if n := plain.Wire(&transport.Packet{Payload: 4096}); n-4096 != 130 {
		t.Errorf("headers of %d bytes without encryption, want 130", n-4096)
	}
	ack := &transport.Packet{Kind: transport.Ack}
	if short := m.Wire(ack); short >= m.Wire(&transport.Packet{Kind: transport.Ack, Bits: [2]uint64{1}}) {
		t.Error("an ACK with a bitmap is no longer than one without")
	}
}
