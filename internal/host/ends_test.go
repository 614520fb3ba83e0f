package host

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// newPlanes is NICs with a port to each of n switches, which use a plain protocol. The second service is RC.
func newPlanes(t *testing.T, m *plain, planes, nics int, change func(c *Config, s *queue.Spec)) *lab {
	t.Helper()
	spec := queue.Default()
	l := &lab{t: t, cfg: Config{Latency: latency, RC: rc.Config{MTU: 4096, AckEvery: 16, Window: 64,
		Timeout: rc.LocalAckTimeout(8), Retries: 2, AlwaysReady: true}}}
	l.cfg.Services = []Service{
		{DSCP: 24, Class: 3, CNPDSCP: 48, CNPClass: 7, Protocol: m, AcksFirst: true},
		{DSCP: 24, Class: 3, CNPDSCP: 48, CNPClass: 7}}
	if m.mtu = 4096; change != nil {
		change(&l.cfg, &spec)
	}
	b := fabric.Build(8)
	var switches []int32
	var tables []*route.Table
	for range planes {
		switches = append(switches, b.AddSwitch(fabric.SwitchConfig{Name: "s", Spec: &spec}))
		table := route.NewTable(1)
		table.SetAttached(0)
		tables = append(tables, table)
	}
	ports := make([][]int32, nics)
	for i := range ports {
		h := b.AddHost()
		for k, sw := range switches {
			link := fabric.Link{Rate: rate, Prop: cable, Response: unit.Nanosecond}
			near, there := b.Connect(h, sw, link)
			ports[i] = append(ports[i], near)
			tables[k].Attach(int32(i), there)
		}
	}
	net, err := b.Finish(func(int32) string { return "s" })
	if err != nil {
		t.Fatal(err)
	}
	for k, sw := range switches {
		net.SetRoutes(sw, tables[k], route.ECMP.Make(nil, route.Site{Seed: 1}))
	}
	l.Hosts = New(net, &l.cfg)
	for i := range ports {
		l.AddNIC(ports[i], 0)
	}
	l.OnDeliver = func(m int32) { l.ends = append(l.ends, m) }
	l.OnFail = func(_ int32, s rc.Status) { l.lost = append(l.lost, s) }
	return l
}

func (l *lab) receiver(c int32) *plainReceiver { return l.carried[c].recv.(*plainReceiver) }

// A message over four planes takes a quarter of the time over one. Its packets leave by all ports at once, equally
// many by each. If the window limits the rate, Held reports that.
func TestPlanesTogether(t *testing.T) {
	const packets = 400
	for _, planes := range []int{1, 2, 4} {
		m := &plain{window: 64 * planes, timeout: unit.Millisecond}
		l := newPlanes(t, m, planes, 2, nil)
		c := l.connect(0, 1, 0)
		msg := l.Send(c, packets*4096, 7)
		l.run(unit.Millisecond)
		each := unit.Serialize(unit.Bytes(roce.DataLen(roce.WriteOnly, 4096)+roce.PreambleIFG), rate)
		want := 2*latency + unit.Time(packets/planes+1)*each + 2*cable
		if got := l.Messages[msg].Done; got != want {
			t.Errorf("over %d planes it is done at %v, want %v", planes, got, want)
		}
		if got := l.Placed(c); got != packets*4096 || l.Count.DataPackets != packets || l.Net.InUse() != 0 {
			t.Errorf("%v placed by %d packets, %d still there", got, l.Count.DataPackets, l.Net.InUse())
		}
		for k, n := range l.receiver(c).planes[:planes] {
			if n != packets/planes {
				t.Errorf("%d packets came in by plane %d of %d", n, k, planes)
			}
		}
		ser := 2*each + 2*unit.Serialize(roce.AckLen+roce.PreambleIFG, rate) + 4*cable
		if path := (cc.Path{Line: unit.Rate(planes) * rate, MTU: 4096, RTT: ser, Hops: 1}); m.path != path {
			t.Errorf("the protocol is told %+v, want %+v", m.path, path)
		}
		if l.Held(c).Window != 0 || l.Line(c) != unit.Rate(planes)*rate {
			t.Errorf("held for %v at a line rate of %v", l.Held(c), l.Line(c))
		}
	}
}

// A message above the largest of IBTA 9.7.1 is posted in pieces. It is delivered once, when the last piece has
// arrived.
func TestMessageInPieces(t *testing.T) {
	l := newPlanes(t, &plain{window: 64, timeout: unit.Second}, 1, 2, nil)
	c := l.connect(0, 1, 0)
	const bytes = rc.MaxMessage + 4096
	m := l.Send(c, bytes, 7)
	l.run(unit.Second)
	if l.Placed(c) != bytes || len(l.ends) != 1 || l.ends[0] != m || len(l.carried[c].posted) != 2 || len(l.lost) > 0 {
		t.Errorf("%v placed in %d pieces, ends %v, failures %v", l.Placed(c), len(l.carried[c].posted), l.ends, l.lost)
	}
}

// With a window of one packet each packet takes one round trip, by the planes in turn, and Held reports the reason
// for the remaining time.
func TestWindowOfOne(t *testing.T) {
	m := &plain{window: 1, timeout: unit.Millisecond}
	l := newPlanes(t, m, 4, 2, nil)
	c := l.connect(0, 1, 0)
	msg := l.Send(c, 8*4096, 7)
	before := l.Net.Q.Popped()
	l.run(unit.Millisecond)
	last := unit.Serialize(roce.AckLen+roce.PreambleIFG, rate)*2 + 2*cable // its answer
	if got, want := l.Messages[msg].Done, 2*latency+8*m.path.RTT-last; got != want {
		t.Errorf("done at %v, want %v", got, want)
	}
	if got := l.receiver(c).planes; got != [8]int{2, 2, 2, 2} {
		t.Errorf("packets came by planes %v", got)
	}
	if got := l.Held(c).Window; got != 7*m.path.RTT {
		t.Errorf("held by its window for %v, want %v", got, 7*m.path.RTT)
	}
	// Per packet: port, switch, NIC, switch back and NIC; plus events for posting, timers and the end.
	if events := l.Net.Q.Popped() - before; events > 8*5+6 {
		t.Errorf("%d events for 8 packets: idle ports are woken in vain", events)
	}
}

// Queue pairs of RC and a protocol's connections share a port packet by packet, and both are done.
func TestProtocolBesideRC(t *testing.T) {
	l := newPlanes(t, &plain{window: 1000, timeout: unit.Millisecond}, 1, 2, nil)
	a := l.connect(0, 1, 0)
	b := l.Connect(1, 0, 1, l.nics[0].ports, 1, 99, 100)
	c := l.connect(0, 1, 2)
	l.Send(a, 100*4096, 0)
	l.Send(b, 200*4096, 0)
	l.Send(c, 100*4096, 0)
	l.run(unit.Millisecond)
	if len(l.ends) != 3 {
		t.Fatalf("%d of 3 messages ended", len(l.ends))
	}
	if first, last := l.Messages[l.ends[0]].Done, l.Messages[l.ends[2]].Done; last-first > 5*packet {
		t.Errorf("they end from %v to %v", first, last)
	}
	if l.Retransmitted(a) != 0 || l.Retransmitted(b) != 0 {
		t.Errorf("%d and %d packets went again", l.Retransmitted(a), l.Retransmitted(b))
	}
}

// The receiver learns of marks, and of a switch that trimmed the packet, at the last hop or before. Trimmed packets
// are retransmitted.
func TestMarksAndTrims(t *testing.T) {
	m := &plain{window: 64, timeout: unit.Millisecond, retries: 3}
	l := newPlanes(t, m, 2, 2, nil)
	n := 0
	l.Net.Fault = func(_ int32, p *fabric.Packet) (f fabric.Fate) {
		if p.Payload > 0 {
			n++
			f.Marks, f.Cut, f.Last = n%4 == 1, n%4 == 2, n%8 == 2
		}
		return f
	}
	for _, p := range l.nics[1].ports {
		l.Net.FaultPort(l.Net.Ports[p].Peer)
	}
	c := l.connect(0, 1, 0)
	l.Send(c, 30*4096, 0)
	l.run(unit.Millisecond)
	l.Finish()
	if len(l.ends) != 1 || l.Placed(c) != 30*4096 {
		t.Fatalf("%v are placed", l.Placed(c))
	}
	if l.CEMarks(c) != 10 || l.Trimmed(c) != 10 || l.Count.Trimmed != 10 || l.receiver(c).lastHop != 5 ||
		l.Count.Retransmissions != 10 || l.Count.Naks != 10 || l.Count.Acks != 40 {
		t.Errorf("%d marked, %d cut, %d at the last hop: %+v", l.CEMarks(c), l.Trimmed(c),
			l.receiver(c).lastHop, l.Count)
	}
}

// A NIC that loses a port uses the others, and uses it again after its repair. Packets in flight are retransmitted
// by the others.
func TestPlaneIsLost(t *testing.T) {
	m := &plain{window: 64, timeout: 20 * unit.Microsecond, retries: 7}
	l := newPlanes(t, m, 4, 2, nil)
	c := l.connect(0, 1, 0)
	msg := l.Send(c, 4000*4096, 0)
	cut := l.nics[0].ports[2]
	set := func(up bool) {
		l.Net.SetLink(cut, fabric.LinkState{Up: up, Rate: rate})
		l.PortIs(cut, up)
	}
	l.run(40 * unit.Microsecond)
	set(false)
	before := l.receiver(c).planes[2]
	l.run(100 * unit.Microsecond)
	if during := l.receiver(c).planes[2] - before; during > 6 { // packets in flight and in the switch
		t.Errorf("%d packets came by a plane that is lost", during)
	}
	set(true)
	l.run(unit.Millisecond)
	l.Finish()
	if l.receiver(c).planes[2] < before+600 {
		t.Errorf("%d packets came by the plane in the end, %d before it broke", l.receiver(c).planes[2],
			before)
	}
	at := l.Messages[msg].Done
	if most := unit.Time(1000+80)*packet + 20*unit.Microsecond; at == 0 || at > most {
		t.Errorf("done at %v, want at most %v", at, most)
	}
	if l.Count.Failed != 0 || l.Count.Retransmissions == 0 || l.Count.Timeouts != l.Count.Retransmissions {
		t.Errorf("%+v", l.Count)
	}
	down := newPlanes(t, m, 2, 2, nil)
	down.Net.SetLink(down.nics[1].ports[0], fabric.LinkState{Rate: rate})
	down.Net.SetLink(down.nics[0].ports[0], fabric.LinkState{Rate: rate})
	c = down.connect(0, 1, 0)
	down.Send(c, 10*4096, 0)
	down.run(unit.Millisecond)
	if got := down.receiver(c).planes; got != [8]int{0, 10} || m.path.RTT == 0 {
		t.Errorf("with a port that never worked packets came by %v, in a round trip of %v", got, m.path.RTT)
	}
}

// If a peer is gone the connection gives up and reports that once, however much was posted.
func TestProtocolGivesUp(t *testing.T) {
	l := newPlanes(t, &plain{window: 8, timeout: 10 * unit.Microsecond, retries: 2}, 1, 2, nil)
	l.Net.SetLink(l.nics[1].ports[0], fabric.LinkState{Rate: rate})
	c := l.connect(0, 1, 0)
	l.Send(c, 4096, 0)
	l.Send(c, 4096, 0)
	l.run(unit.Millisecond)
	l.Finish()
	l.Finish() // sums up anew
	if len(l.lost) != 1 || l.lost[0] != rc.RetryExceeded || l.Count.Failed != 1 || len(l.ends) != 0 {
		t.Errorf("%v, %d failed, %d delivered", l.lost, l.Count.Failed, len(l.ends))
	}
	if l.Count.Timeouts != 5 || l.Count.Retransmissions != 4 {
		t.Errorf("%d timeouts, %d packets retransmitted", l.Count.Timeouts, l.Count.Retransmissions)
	}
}

// All connections to a NIC share one peer.
func TestOnePeer(t *testing.T) {
	m := &plain{window: 8}
	l := newPlanes(t, m, 2, 3, nil)
	for tag := range int32(3) {
		l.connect(0, 1, tag)
		l.connect(0, 2, tag)
	}
	if m.peers != 2 {
		t.Errorf("%d peers are kept for two NICs", m.peers)
	}
}

// Ports fail and recover, PCIe is slow, and packets are lost. All messages end once, as a whole, and no packet is
// left over.
func TestProtocolAtRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		between := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, what) }
		planes, nics := between("planes", 1, 4), between("NICs", 2, 4)
		m := &plain{window: between("window", 1, 100), timeout: 30 * unit.Microsecond, retries: 100}
		l := newPlanes(t, m, planes, nics, func(c *Config, _ *queue.Spec) {
			if between("slow PCIe", 0, 2) == 0 {
				c.PCIe, c.RxXOff, c.RxXOn = rate/2, 100*unit.KB, 50*unit.KB
			}
			c.Services[0].AcksFirst = between("ACKs first", 0, 1) == 1
		})
		for i := range l.nics {
			for _, p := range l.nics[i].ports {
				l.Net.FaultPort(l.Net.Ports[p].Peer)
			}
		}
		lose, n := between("one is lost of", 5, 200), 0
		l.Net.Fault = func(int32, *fabric.Packet) fabric.Fate { n++; return fabric.Fate{Lost: n%lose == 0} }
		var total unit.Bytes
		var conns []int32
		for i := range between("connections", 1, 6) {
			src := int32(between("from", 0, nics-1))
			dst := (src + int32(between("to", 1, nics-1))) % int32(nics)
			conns = append(conns, l.connect(src, dst, int32(i)))
		}
		messages := between("messages", 1, 10)
		for range messages {
			bytes := unit.Bytes(between("bytes", 0, 300_000))
			l.Send(conns[between("connection", 0, len(conns)-1)], bytes, 0)
			total += bytes
		}
		for range between("breaks", 0, 4) {
			p := l.nics[between("NIC", 0, nics-1)].ports[between("plane", 0, planes-1)]
			for _, up := range []bool{false, true} {
				l.run(l.Net.Q.Now() + unit.Time(between("us", 0, 40))*unit.Microsecond)
				l.Net.SetLink(p, fabric.LinkState{Up: up, Rate: rate})
				l.PortIs(p, up)
			}
		}
		l.run(l.Net.Q.Now() + 20*unit.Millisecond)
		var placed unit.Bytes
		for _, c := range conns {
			placed += l.Placed(c)
		}
		if len(l.ends) != messages || placed != total || l.Net.InUse() != 0 || len(l.lost) != 0 {
			rt.Fatalf("%d of %d messages ended, %v of %v placed, %d packets are there, %v", len(l.ends),
				messages, placed, total, l.Net.InUse(), l.lost)
		}
	})
}
