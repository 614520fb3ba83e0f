package transporttest

import (
	"math/bits"

	"railyard/rc"
	"railyard/transport"
	"railyard/unit"
)

// conn is a connection with a ledger that checks its ends.
type conn struct {
	net      *Net
	number   int
	sender   transport.Sender
	receiver transport.Receiver

	messages  []message
	completed int // messages completed, as the sender reports
	arrived   int // messages arrived, as the receiver reports
	open      int // messages of which a part is in memory
	sent      int64
	died      bool
	held      transport.Held
}

// message is the state of one message.
type message struct {
	bytes, placed         int64
	have                  []uint64 // a bit for each byte in memory; of a message without any: its packet
	arrived, done, landed bool
}

func (m *message) whole() bool { return m.placed == m.bytes && (m.bytes > 0 || m.landed) }

// place marks [from, from+n) as written, and returns how many of these bytes were written before.
func (m *message) place(from, n int64) (there int64) {
	for i := from; i < from+n; {
		word, bit := i/64, uint(i%64)
		take := min(64-int64(bit), from+n-i)
		mask := (^uint64(0) >> uint(64-take)) << bit
		there += int64(bits.OnesCount64(m.have[word] & mask))
		m.have[word] |= mask
		i += take
	}
	return there
}

// checkData compares a data packet with the posted message.
func (c *conn) checkData(p *transport.Packet, plane int) {
	n := c.net
	switch {
	case p.Kind != transport.Data:
		n.fail("Next makes %v", p.Kind)
	case int(p.Plane) != plane:
		n.fail("Next was asked for plane %d and made a packet for %d", plane, p.Plane)
	case int(p.Message) >= len(c.messages):
		n.fail("a packet of message %d where %d are posted", p.Message, len(c.messages))
	case int64(p.Offset)+int64(p.Payload) > c.messages[p.Message].bytes:
		n.fail("a packet of bytes %d to %d of a message of %d", p.Offset, p.Offset+uint64(p.Payload),
			c.messages[p.Message].bytes)
	case unit.Bytes(p.Payload) > n.set.MTU:
		n.fail("a packet of %d bytes with an MTU of %v", p.Payload, n.set.MTU)
	case p.Expect != 0 || p.Base != 0 || p.Bits != [2]uint64{} || p.EchoEV != 0 || p.Late != 0:
		n.fail("a packet of data answers: %+v", *p)
	default:
		last := int64(p.Offset)+int64(p.Payload) == c.messages[p.Message].bytes
		if flag := p.Flags&transport.Last != 0; flag != last {
			n.fail("bytes %d to %d of %d: the flag of the last packet is %v", p.Offset,
				p.Offset+uint64(p.Payload), c.messages[p.Message].bytes, flag)
		}
		c.sent += int64(p.Payload)
	}
	c.bounded()
}

// bounded checks the limits of data in flight.
func (c *conn) bounded() {
	open := int64(0)
	for i := range c.messages {
		if !c.messages[i].done {
			open += c.messages[i].bytes
		}
	}
	if in := int64(c.sender.InFlight()); in < 0 || in > open {
		c.net.fail("%d bytes are in flight, and %d are posted and not complete", in, open)
	}
}

// took records the receiver's verdict on a packet.
func (c *conn) took(p *transport.Packet, place bool) {
	n := c.net
	if !place {
		return
	}
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 {
		n.fail("it places what has no payload: %v, flags %b", p.Kind, p.Flags)
		return
	}
	m := &c.messages[p.Message]
	before := m.placed > 0 || m.landed
	if m.place(int64(p.Offset), int64(p.Payload)) > 0 || m.whole() {
		n.fail("message %d: bytes %d to %d are placed twice", p.Message, p.Offset, p.Offset+uint64(p.Payload))
	}
	m.placed, m.landed = m.placed+int64(p.Payload), true
	if whole := m.whole(); whole && before {
		c.open--
	} else if !whole && !before {
		c.open++
	}
}

// collect reads the reports of both ends.
func (c *conn) collect() {
	n := c.net
	for n.Fault == "" {
		i, ok := c.receiver.Arrived()
		if !ok {
			break
		}
		c.hasArrived(int(i))
	}
	for n.Fault == "" {
		done, ok := c.sender.Completed()
		if !ok {
			break
		}
		c.hasCompleted(done)
	}
	h := c.sender.Held(n.Now)
	if h.Pace < c.held.Pace || h.Window < c.held.Window || h.Credit < c.held.Credit {
		n.fail("Held falls from %+v to %+v", c.held, h)
	}
	c.held = h
	if c.completed == len(c.messages) && !c.died && (c.sender.InFlight() != 0 || c.sender.Pending()) {
		n.fail("all is complete, and %v are in flight, pending %v", c.sender.InFlight(), c.sender.Pending())
	}
}

func (c *conn) hasArrived(i int) {
	n := c.net
	switch {
	case i >= len(c.messages):
		n.fail("message %d has arrived, and %d are posted", i, len(c.messages))
	case c.messages[i].arrived:
		n.fail("message %d arrives twice", i)
	case !c.messages[i].whole():
		n.fail("message %d is said to be in memory with %d of %d bytes", i, c.messages[i].placed, c.messages[i].bytes)
	case i != c.arrived && n.set.Protocol.Ordered:
		n.fail("message %d arrives before message %d", i, c.arrived)
	default:
		c.messages[i].arrived = true
		c.arrived++
	}
}

func (c *conn) hasCompleted(done transport.Completion) {
	n, i := c.net, int(done.ID)-1
	switch {
	case done.Status != rc.Success:
		n.fail("message %d ends with status %d", i, done.Status)
		c.died = true
	case i < 0 || i >= len(c.messages):
		n.fail("a completion of request %d, and %d are posted", done.ID, len(c.messages))
	case c.messages[i].done:
		n.fail("message %d completes twice", i)
	case !c.messages[i].whole():
		n.fail("message %d completes with %d of %d bytes in memory", i, c.messages[i].placed, c.messages[i].bytes)
	case i != c.completed && n.set.Protocol.Ordered:
		n.fail("message %d completes before message %d", i, c.completed)
	default:
		c.messages[i].done = true
		c.completed++
	}
}
