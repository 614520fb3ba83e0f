package host

import (
	"slices"
	"testing"

	"railyard/cc"
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

const (
	rate    = 100 * unit.Gbps
	cable   = 500 * unit.Nanosecond
	latency = 300 * unit.Nanosecond
)

// lab is a switch and NICs, each with n cables of 100 Gbit/s.
type lab struct {
	*Hosts
	t    *testing.T
	cfg  Config
	ends []int32 // messages in the order of their completion
	lost []rc.Status
}

func newLab(t *testing.T, change func(c *Config, s *queue.Spec), cables ...int) *lab {
	t.Helper()
	spec := queue.Default()
	l := &lab{t: t, cfg: Config{Latency: latency,
		Services: []Service{{DSCP: 24, Class: 3, CNPGap: 50 * unit.Microsecond, CNPDSCP: 48, CNPClass: 7}},
		RC: rc.Config{MTU: 4096, AckEvery: 16, Timeout: rc.LocalAckTimeout(8), Retries: 2,
			AlwaysReady: true}}}
	if change != nil {
		change(&l.cfg, &spec)
	}
	b := fabric.Build(8)
	sw := b.AddSwitch(fabric.SwitchConfig{Name: "s", Spec: &spec})
	ports, far := make([][]int32, len(cables)), make([]int32, len(cables))
	for i, n := range cables {
		h := b.AddHost()
		for range n {
			near, there := b.Connect(h, sw, fabric.Link{Rate: rate, Prop: cable, Response: unit.Nanosecond})
			ports[i], far[i] = append(ports[i], near), there
		}
	}
	net, err := b.Finish(func(int32) string { return "s" })
	if err != nil {
		t.Fatal(err)
	}
	table := route.NewTable(1)
	table.SetAttached(0)
	l.Hosts = New(net, &l.cfg)
	for i := range cables {
		table.Attach(int32(i), far[i])
		if got := l.AddNIC(ports[i], 0); got != int32(i) {
			t.Fatalf("NIC %d has address %d", i, got)
		}
	}
	net.SetRoutes(sw, table, route.ECMP.Make(nil, route.Site{Seed: 1}))
	l.OnDeliver = func(m int32) { l.ends = append(l.ends, m) }
	l.OnFail = func(_ int32, s rc.Status) { l.lost = append(l.lost, s) }
	return l
}

// connect connects two NICs by the sender's own ports.
func (l *lab) connect(src, dst, tag int32) int32 {
	return l.Connect(0, src, dst, l.nics[src].ports, tag, uint32(tag)*2654435761, 100)
}

// run runs until a time.
func (l *lab) run(until unit.Time) {
	l.t.Helper()
	const stop engine.Kind = 31
	l.Net.Q.Push(engine.OfRun, until, stop, 0, 0)
	for {
		e, ok := l.Net.Q.Pop()
		switch {
		case !ok || e.Kind() == stop:
			if err := l.Net.Audit(); err != nil {
				l.t.Error(err)
			}
			return
		case e.Kind() < fabric.KindHost:
			l.Net.Handle(&e)
		default:
			l.Handle(&e)
		}
	}
}

// packet is how long a full packet occupies a cable.
var packet = unit.Serialize(unit.Bytes(roce.DataLen(roce.WriteMiddle, 4096)+roce.PreambleIFG), rate)

// A lone message takes the sum of its parts: from work request to NIC, its packets one after another, the last
// packet once more after the switch, two cables, and from NIC to GPU.
func TestOneMessage(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	c := l.connect(0, 1, 0)
	m := l.Send(c, 10*4096, 7)
	l.run(unit.Millisecond)
	reth := unit.Serialize(roce.RETHLen, rate) // the first packet is longer, on both cables
	want := 2*latency + 2*reth + 11*packet + 2*cable
	if got := l.Messages[m]; got.Done != want || got.Tag != 7 || l.Placed(c) != 10*4096 {
		t.Errorf("done at %v, want %v; %v placed", got.Done, want, l.Placed(c))
	}
	if l.Count.DataPackets != 10 || l.Count.Retransmissions != 0 || l.Net.InUse() != 0 {
		t.Errorf("%d packets sent, %d still there", l.Count.DataPackets, l.Net.InUse())
	}
}

// Queue pairs on one port take turns packet by packet. Four equal messages end together, and take as long as one of
// their total size.
func TestTurns(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	for tag := range int32(4) {
		l.Send(l.connect(0, 1, tag), 100*4096, 0)
	}
	l.run(unit.Millisecond)
	if len(l.ends) != 4 {
		t.Fatalf("%d of 4 messages ended", len(l.ends))
	}
	first, last := l.Messages[l.ends[0]].Done, l.Messages[l.ends[3]].Done
	if last-first > 4*packet || last < 400*packet || last > 405*packet+2*latency+2*cable {
		t.Errorf("they end from %v to %v; 400 packets take %v", first, last, 400*packet)
	}
}

// A NIC with two ports: by hash a queue pair stays on the port of its 5-tuple, and by affinity queue pairs take
// ports in turn. Sprayed packets use both ports at once.
func TestBond(t *testing.T) {
	for mode, uses := range map[Bond]func(c, port int) bool{
		BondAffinity: func(c, port int) bool { return port == c%2 },
		BondHash:     func(c, port int) bool { return port == int(uint32(c)*2654435761>>7)%2 },
		BondSpray:    func(int, int) bool { return true },
	} {
		l := newLab(t, func(c *Config, _ *queue.Spec) { c.Bond = mode }, 2, 1)
		for c := range 4 {
			ports := l.nics[0].ports
			before := [2]int64{int64(l.Net.Ports[ports[0]].TxBytes), int64(l.Net.Ports[ports[1]].TxBytes)}
			l.Send(l.connect(0, 1, int32(c)), 20*4096, 0)
			l.run(l.Net.Q.Now() + unit.Millisecond)
			for i, p := range ports {
				if sent := int64(l.Net.Ports[p].TxBytes) > before[i]; sent != uses(c, i) {
					t.Errorf("mode %d: queue pair %d sends by port %d: %v", mode, c, i, sent)
				}
			}
		}
		if want := map[bool]unit.Rate{true: 2 * rate, false: rate}[mode == BondSpray]; l.Line(0) != want {
			t.Errorf("mode %d: a queue pair has %v, want %v", mode, l.Line(0), want)
		}
	}
}

// A bundle that no longer reaches a peer by all of its ports stops spraying for all of its queue pairs, and each
// stays on one port.
func TestSprayEndsWithAPort(t *testing.T) {
	l := newLab(t, func(c *Config, _ *queue.Spec) { c.Bond = BondSpray }, 2, 1, 1)
	near, far := l.connect(0, 1, 0), l.connect(0, 2, 1)
	ports := l.nics[0].ports
	l.Rebond(func(_, dst int32) []int32 {
		if dst == 2 {
			return ports[1:]
		}
		return ports
	})
	if l.Port(far) != ports[1] || len(l.Path(near)) != 2 || l.senders[near].sprayed ||
		l.senders[far].sprayed {
		t.Errorf("the queue pairs send by %v and %v", l.Path(near), l.Path(far))
	}
	l.Send(near, 40*4096, 0)
	l.Send(far, 40*4096, 0)
	l.run(unit.Millisecond)
	if len(l.ends) != 2 || l.Count.OutOfOrder != 0 {
		t.Errorf("%d of 2 messages ended, %d packets out of order", len(l.ends), l.Count.OutOfOrder)
	}
}

// The notification point sends one CNP per flow and interval, however many packets are marked, and the reaction
// point reduces its rate. Its port is then free, and Held reports pacing. (SIGCOMM 2015, section 3.1: N is 50 us.)
func TestMarksBecomeCNPs(t *testing.T) {
	paper := cc.DCQCNPaper(rate)
	l := newLab(t, func(c *Config, s *queue.Spec) {
		c.Services[0].CNPs = true
		c.Services[0].CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
		s.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: true}
	}, 1, 1, 1)
	a, b := l.connect(0, 2, 0), l.connect(1, 2, 0)
	rates := map[int32]unit.Rate{}
	l.OnRate = func(c int32, r unit.Rate) { rates[c] = r }
	l.Send(a, 2*unit.MB, 0)
	l.Send(b, 2*unit.MB, 0)
	const end = 240 * unit.Microsecond
	l.run(end)
	marks, most := l.CEMarks(a)+l.CEMarks(b), int64(2*(end/l.cfg.Services[0].CNPGap+1))
	if marks <= most || l.Count.CNPs < 2 || l.Count.CNPs > most {
		t.Errorf("%d marked packets made %d CNPs in %v, at most %d are due", marks, l.Count.CNPs,
			unit.Time(end), most)
	}
	if rates[a] == 0 || rates[a] >= rate || l.Held(a).Pace == 0 || l.Held(a).Sum() > end {
		t.Errorf("the sender is at %v and was held for %v", rates[a], l.Held(a))
	}
}

// PCIe has half the link's rate. Arriving data wait in the NIC, which pauses its switch before its buffer
// overflows. Nothing is lost, and the GPU has the message when PCIe has carried it.
func TestSlowPCIePauses(t *testing.T) {
	l := newLab(t, func(c *Config, _ *queue.Spec) { c.RxXOff, c.RxXOn = 100*unit.KB, 50*unit.KB }, 1, 1)
	l.Share(Bus{rate / 2, []int32{1}}) // the receiver's alone
	m := l.Send(l.connect(0, 1, 0), 2*unit.MB, 0)
	l.run(unit.Millisecond)
	into := l.Net.Ports[l.nics[1].ports[0]].Peer
	took, least := l.Messages[m].Done, unit.Serialize(2*unit.MB, rate/2)
	if l.Net.PausedFor(into) == 0 || l.Net.Drops != 0 || took < least || took > least*11/10 {
		t.Errorf("took %v, PCIe alone takes %v; paused for %v, %d lost", took, least, l.Net.PausedFor(into),
			l.Net.Drops)
	}
}

// If a peer is gone, the queue pair retries up to its limit, then gives up and reports that once.
func TestDeadPeer(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	l.Net.SetLink(l.nics[1].ports[0], fabric.LinkState{Up: false, Rate: 100 * unit.Gbps})
	l.Send(l.connect(0, 1, 0), 4096, 0)
	l.run(100 * unit.Millisecond)
	l.Finish()
	if len(l.lost) != 1 || l.lost[0] != rc.RetryExceeded || l.Count.Failed != 1 || len(l.ends) != 0 {
		t.Errorf("%v, %d failed, %d delivered", l.lost, l.Count.Failed, len(l.ends))
	}
	if l.Count.Timeouts != 3 || l.Count.Retransmissions != 2 || l.Count.DataPackets != 3 {
		t.Errorf("%d timeouts, %d of %d packets retransmitted", l.Count.Timeouts, l.Count.Retransmissions,
			l.Count.DataPackets)
	}
}

// A message above the transport's 2 GiB (IBTA 9.7.1) is several for the queue pair and one for the GPU. It ends
// with the last piece.
func TestPiecesOfALargeMessage(t *testing.T) {
	for bytes, pieces := range map[unit.Bytes]int{0: 1, 1: 1, 2 * unit.GiB: 1, 2*unit.GiB + 1: 2,
		5 * unit.GiB: 3} {
		m := Message{Bytes: bytes}
		n := int32(1)
		for !m.endsWith(n) {
			n++
		}
		if int(n) != pieces {
			t.Errorf("%v end with piece %d, want %d", bytes, n, pieces)
		}
	}
}

// A receiver learns of messages by their packets. It still ends each once, in the order of posting, including
// messages posted after all earlier ones had ended.
func TestReceiversLearnByArrival(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(t, func(c *Config, _ *queue.Spec) {
			c.Latency *= unit.Time(rapid.IntRange(0, 1).Draw(rt,
				"latency"))
		}, 1, 1)
		conns := [2]int32{l.connect(0, 1, 0), l.connect(0, 1, 1)}
		var posted, ended [2][]int32
		for range rapid.IntRange(1, 12).Draw(rt, "messages") {
			i := rapid.IntRange(0, 1).Draw(rt, "connection")
			m := l.Send(conns[i], unit.Bytes(rapid.IntRange(0, 20_000).Draw(rt, "bytes")), 0)
			posted[i] = append(posted[i], m)
			l.run(l.Net.Q.Now() + unit.Time(rapid.IntRange(0, 5).Draw(rt, "wait"))*unit.Microsecond)
		}
		l.run(l.Net.Q.Now() + unit.Millisecond)
		for _, m := range l.ends {
			i := l.Messages[m].Conn
			ended[i] = append(ended[i], m)
		}
		for i := range posted {
			if !slices.Equal(posted[i], ended[i]) {
				rt.Fatalf("connection %d: posted %v, ended %v", i, posted[i], ended[i])
			}
		}
	})
}

// told is a controller that records its path and the round trips.
type told struct {
	cc.None
	path cc.Path
	rtts []unit.Time
}

func (*told) WantsAcks() bool                { return true }
func (c *told) OnAck(_ unit.Time, a *cc.Ack) { c.rtts = append(c.rtts, a.RTT) }

// A controller gets the round trip of a full packet and its acknowledgement on an idle path. The first packet of a
// message measures exactly that, and queues never make it shorter.
func TestPathOfAController(t *testing.T) {
	var ctl *told
	l := newLab(t, func(c *Config, _ *queue.Spec) {
		c.RC.WriteOnly, c.RC.AckEvery = true, 1
		c.Services[0].CC = func(p cc.Path) cc.Controller {
			ctl = &told{None: cc.None{Line: p.Line}, path: p}
			return ctl
		}
	}, 1, 1)
	c := l.connect(0, 1, 0)
	l.Send(c, 3*4096, 0)
	l.run(unit.Millisecond)
	ser := unit.Serialize(unit.Bytes(roce.DataLen(roce.WriteOnly, 4096)+roce.PreambleIFG), rate)
	want := 2*ser + 2*unit.Serialize(roce.AckLen+roce.PreambleIFG, rate) + 4*cable
	if ctl.path != (cc.Path{Line: rate, MTU: 4096, RTT: want, Hops: 1}) || len(ctl.rtts) != 3 ||
		ctl.rtts[0] != want {
		t.Errorf("it is told %+v and measures %v, want a round trip of %v", ctl.path, ctl.rtts, want)
	}
}
