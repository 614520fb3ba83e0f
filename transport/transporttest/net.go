package transporttest

import (
	"container/heap"
	"fmt"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/param"
	"railyard/transport"
	"railyard/unit"
)

// Path is one path through the network, in one direction.
type Path struct {
	Delay  unit.Time // delay of a packet in addition to its time on the sender's port
	Jitter unit.Time // maximum of an additional random delay, with which packets overtake one another
	Dead   bool      // it loses all

	// Probabilities of what happens to a packet. A trimmed packet continues as its header alone.
	Loss, Mark, Trim, Repeat float64
}

// Setup is a network of two NICs, and what runs between them. Zero values have the default in brackets.
type Setup struct {
	Protocol *transport.Protocol
	Values   param.Values // [the protocol's defaults]
	Planes   int          // [1]
	Paths    int          // paths per plane, selected by the packet's entropy value [1]
	Line     unit.Rate    // line rate of all planes together [100 Gbit/s]
	MTU      unit.Bytes   // [1024]
	Delay    unit.Time    // initial delay of every path [5 us]
	Conns    int          // connections, all from the first NIC to the second [1]
	Seed     uint64
	// Carry changes a packet as its wire format does: values without a field are lost.
	Carry func(p *transport.Packet)
}

func (s *Setup) fill() {
	if s.Values == nil {
		s.Values = s.Protocol.Defaults
	}
	s.Planes, s.Paths, s.Conns = max(1, s.Planes), max(1, s.Paths), max(1, s.Conns)
	if s.Line == 0 {
		s.Line = 100 * unit.Gbps
	}
	if s.MTU == 0 {
		s.MTU = 1024
	}
	if s.Delay == 0 {
		s.Delay = 5 * unit.Microsecond
	}
}

// There and Back are the two directions, and the NICs that send in them.
const (
	There = 0
	Back  = 1
)

// Net is the network with the ends of its connections. All random numbers follow from its seed.
type Net struct {
	Now   unit.Time
	Paths [2][][]Path // by direction, plane and number; the network's user changes them
	Fault string      // the first promise that an end broke
	Sent  [2]int64    // packets, by direction
	Again int64       // retransmitted data packets
	Sum   uint64      // hash of all packets and their times
	// Saw is called with every sent packet; may be nil.
	Saw func(dir, conn int, p *transport.Packet)

	set    Setup
	maker  transport.Maker
	conns  []*conn
	free   [2][]unit.Time // end of the current transmission of each port
	up     [2][]bool
	turn   int
	events events
	copies [mostCopies]event // copies of the latest packets, one for each
	seq    uint64
	random rng.Stream
}

// mostCopies is the number of packets of which copies reach closed ends.
const mostCopies = 64

// close closes all ends, which must be done, and delivers copies of packets to them.
func (n *Net) close() {
	for _, c := range n.conns {
		for _, e := range [2]transport.End{c.sender, c.receiver} {
			if x, ok := e.(transport.Closer); ok {
				x.Close()
			}
		}
	}
	for _, e := range n.copies {
		if e.at > 0 {
			e.at, e.seq = n.Now, n.sequence()
			heap.Push(&n.events, e)
		}
	}
}

// event is a packet that arrives, or a port that is free.
type event struct {
	at   unit.Time
	seq  uint64
	dir  int8
	conn int16 // below zero: a port
	p    transport.Packet
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// New builds a network and its connections.
func New(set Setup) *Net {
	set.fill()
	n := &Net{set: set, random: rng.New(set.Seed, "network")}
	n.maker = set.Protocol.New(set.Values, transport.Common{MTU: set.MTU, Planes: set.Planes})
	for dir := range n.Paths {
		n.free[dir], n.up[dir] = make([]unit.Time, set.Planes), make([]bool, set.Planes)
		for plane := range set.Planes {
			n.up[dir][plane] = true
			n.Paths[dir] = append(n.Paths[dir], make([]Path, set.Paths))
			for i := range set.Paths {
				n.Paths[dir][plane][i].Delay = set.Delay
			}
		}
	}
	path := cc.Path{Line: set.Line, MTU: set.MTU, Hops: 1, RTT: 2*set.Delay + n.takes(int(set.MTU)+64)}
	peer := n.maker.Peer(path, set.Seed)
	for i := range set.Conns {
		n.conns = append(n.conns, &conn{net: n, number: i, sender: peer.Sender(set.Seed + uint64(i)),
			receiver: n.maker.Receiver(path, set.Seed+uint64(i))})
	}
	return n
}

// takes returns how long a port sends a frame.
func (n *Net) takes(wire int) unit.Time {
	return unit.Serialize(unit.Bytes(wire+20), n.set.Line/unit.Rate(n.set.Planes))
}

// fail notes a broken promise.
func (n *Net) fail(format string, args ...any) {
	if n.Fault == "" {
		n.Fault = fmt.Sprintf("at %v: ", n.Now) + fmt.Sprintf(format, args...)
	}
}

// Sender and Receiver return a connection's ends.
func (n *Net) Sender(conn int) transport.Sender     { return n.conns[conn].sender }
func (n *Net) Receiver(conn int) transport.Receiver { return n.conns[conn].receiver }

// Post posts a message on a connection, now.
func (n *Net) Post(conn int, bytes int64, tells bool) {
	c := n.conns[conn]
	id := uint64(len(c.messages) + 1)
	if err := c.sender.Post(n.Now, transport.Request{ID: id, Bytes: bytes, Tells: tells}); err != nil {
		n.fail("Post of %d bytes: %v", bytes, err)
		return
	}
	c.messages = append(c.messages, message{bytes: bytes, have: make([]uint64, bytes/64+1)})
	n.drain(c)
	n.pump()
}

// PlaneIs takes a NIC's port to a plane down, or up again. Its ends are notified immediately; the far ends are not.
func (n *Net) PlaneIs(nic, plane int, up bool) {
	n.up[nic][plane] = up
	for _, c := range n.conns {
		if nic == There {
			c.sender.PlaneIs(n.Now, plane, up)
		} else {
			c.receiver.PlaneIs(n.Now, plane, up)
		}
		n.drain(c)
	}
	n.pump()
}

// Done reports that every message is complete, and known to be at both ends.
func (n *Net) Done() bool {
	for _, c := range n.conns {
		if c.open > 0 || c.completed < len(c.messages) || c.arrived < len(c.messages) {
			return false
		}
	}
	return true
}

// Until runs until a time, or until no event is left (false).
func (n *Net) Until(end unit.Time) bool {
	for n.Fault == "" {
		at := n.next()
		if at > end {
			n.Now = max(n.Now, end)
			return at != unit.Never
		}
		n.Now = max(n.Now, at)
		n.moment()
	}
	return true
}

// next returns the time of the next event.
func (n *Net) next() unit.Time {
	at := unit.Time(unit.Never)
	if len(n.events) > 0 {
		at = n.events[0].at
	}
	for _, c := range n.conns {
		at = min(at, c.sender.At(), c.receiver.At())
	}
	return at
}

// moment lets everything happen that is due now.
func (n *Net) moment() {
	for len(n.events) > 0 && n.events[0].at <= n.Now && n.Fault == "" {
		e := heap.Pop(&n.events).(event)
		if e.conn >= 0 {
			n.arrive(&e)
		}
	}
	for _, c := range n.conns {
		n.tick(c.sender, func() { n.drain(c) })
		n.tick(c.receiver, func() { n.drain(c) })
	}
	n.pump()
}

// mostTicks is the maximum number of Ticks of an end at one time: one for each of many packets.
const mostTicks = 10_000

// tick runs the timers of an end, and calls drain for its control packets after each.
func (n *Net) tick(e transport.End, drain func()) {
	for i := 0; e.At() <= n.Now && n.Fault == ""; i++ {
		if i == mostTicks {
			n.fail("At stays at %v after %d ticks", e.At(), i)
		}
		e.Tick(n.Now)
		drain()
	}
}

// arrive passes a packet to its end.
func (n *Net) arrive(e *event) {
	c := n.conns[e.conn]
	if !n.up[There][e.p.Plane] || !n.up[Back][e.p.Plane] {
		return
	}
	if e.dir == Back {
		if c.sender.Take(n.Now, &e.p) {
			n.fail("a sender places what arrives: %+v", e.p)
		}
	} else {
		p := e.p // the end must not keep or change the packet, so it gets a copy
		c.took(&e.p, c.receiver.Take(n.Now, &p))
	}
	n.drain(c)
}

// mostSays is the maximum number of control packets that an end may send at one time.
const mostSays = 10_000

// drain processes the control packets and completions of both ends of a connection.
func (n *Net) drain(c *conn) {
	var p transport.Packet
	for dir, e := range [2]transport.End{c.sender, c.receiver} {
		for i := 0; n.Fault == ""; i++ {
			if p = (transport.Packet{}); !e.Say(n.Now, &p) {
				break
			}
			if i == mostSays {
				n.fail("Say has %d packets in a row, and more", i)
			}
			if p.Kind == transport.Data {
				n.fail("Say makes a data packet")
			}
			n.send(dir, c, &p)
		}
	}
	c.collect()
}

// pump makes free ports send data, the connections in turn.
func (n *Net) pump() {
	var p transport.Packet
	for plane := range n.set.Planes {
		for i := 0; i < len(n.conns) && n.free[There][plane] <= n.Now && n.up[There][plane] && n.Fault == ""; i++ {
			c := n.conns[(n.turn+i)%len(n.conns)]
			ready := c.sender.Ready(n.Now, plane)
			p = transport.Packet{}
			switch made := c.sender.Next(n.Now, plane, &p); {
			case made != ready:
				n.fail("Ready says %v and Next %v", ready, made)
			case made:
				c.checkData(&p, plane)
				n.send(There, c, &p)
				n.turn, i = n.turn+1, -1
				heap.Push(&n.events, event{at: n.free[There][plane], seq: n.sequence(), conn: -1})
				n.drain(c)
			}
		}
	}
}

func (n *Net) sequence() uint64 { n.seq++; return n.seq }

func (n *Net) chance(share float64) bool { return share > 0 && n.random.Float64() < share }

// PathOf returns which path of its plane a packet takes.
func (n *Net) PathOf(p *transport.Packet) int {
	return int(rng.Mix64(uint64(p.EV)<<8|uint64(p.Plane)) % uint64(n.set.Paths))
}

// send puts a packet on the wire.
func (n *Net) send(dir int, c *conn, p *transport.Packet) {
	plane, wire := int(p.Plane), n.maker.Wire(p)
	if plane >= n.set.Planes || wire < int(p.Payload) && p.Kind == transport.Data || wire <= 0 {
		n.fail("a packet of %d bytes on plane %d: %+v", wire, plane, *p)
		return
	}
	n.Sent[dir]++
	n.note(dir, p)
	if n.Saw != nil {
		n.Saw(dir, c.number, p)
	}
	leaves := max(n.Now, n.free[dir][plane]) + n.takes(wire)
	n.free[dir][plane] = leaves
	way := &n.Paths[dir][plane][n.PathOf(p)]
	if way.Dead || !n.up[There][plane] || !n.up[Back][plane] || n.chance(way.Loss) {
		return
	}
	e := event{at: leaves + way.Delay, dir: int8(dir), conn: int16(c.number), p: *p}
	if n.chance(way.Mark) {
		e.p.Flags |= transport.Marked
	}
	if p.Kind == transport.Data && n.chance(way.Trim) {
		e.p.Flags |= transport.Trimmed
		if n.random.Intn(3) == 0 {
			e.p.Flags |= transport.LastHop
		}
	}
	if n.set.Carry != nil {
		n.set.Carry(&e.p)
	}
	if e.p.Flags&transport.Stamped == 0 {
		e.p.Sent = 0
	}
	n.copies[n.Sent[dir]%mostCopies] = e
	n.fly(e, way)
	if n.chance(way.Repeat) {
		e.at += unit.Time(n.random.Intn(int(4 * way.Delay)))
		n.fly(e, way)
	}
}

func (n *Net) fly(e event, way *Path) {
	if way.Jitter > 0 {
		e.at += unit.Time(n.random.Intn(int(way.Jitter)))
	}
	e.seq = n.sequence()
	heap.Push(&n.events, e)
}

// note adds a packet to the sum.
func (n *Net) note(dir int, p *transport.Packet) {
	for _, x := range [...]uint64{uint64(n.Now), uint64(dir)<<32 | uint64(p.EV), uint64(p.PSN)<<32 |
		uint64(p.Message), p.Offset, p.Bits[0], uint64(p.Kind)<<16 | uint64(p.Flags)<<8 | uint64(p.Plane)} {
		n.Sum = rng.Mix64(n.Sum ^ x)
	}
	if p.Kind == transport.Data && p.Flags&transport.Again != 0 {
		n.Again++
	}
}
