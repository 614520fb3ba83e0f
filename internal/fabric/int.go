package fabric

import (
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// In-band telemetry is in its own slab, parallel to Packets. A Packet fills its cache line, and most runs have no
// telemetry. Switches write into packets with FlagINT when the frame starts at an egress port. A flag of the port
// makes such packets skip the fast path.

// Told is the telemetry of a packet: HPCC's header, or congestion signaling's tag. An acknowledgement carries the
// telemetry of the packet that it acknowledges.
type Told struct {
	roce.INT
	Tag   roce.CSIG
	Kind  roce.Telemetry
	Stack *Stack // IFA's metadata; no two packets share one
}

// Stack is the metadata that switches have written into a packet, the oldest first.
type Stack struct {
	n   int
	hop [roce.IFAHops]roce.IFAHop
}

// Hops returns the metadata.
func (s *Stack) Hops() []roce.IFAHop { return s.hop[:s.n] }

// Len returns the bytes of a packet's telemetry.
func (t *Told) Len() int {
	if t.Kind == roce.TelemetryIFA {
		return roce.IFALen + roce.IFAHopLen*t.Stack.n
	}
	return t.Kind.Len()
}

// Copied returns telemetry that shares nothing with the original.
func (t *Told) Copied() Told {
	c := *t
	if t.Stack != nil {
		s := *t.Stack
		c.Stack = &s
	}
	return c
}

// usage is the bytes that a port has sent since the last sample, for the available bandwidth.
type usage struct {
	from unit.Time
	sent int64
	free float64 // share of its rate, in the interval before
}

// StampAll makes every switch write telemetry. interval is the period over which available bandwidth is measured.
func (n *Net) StampAll(interval unit.Time) {
	n.told = make([]Told, len(n.Packets), cap(n.Packets))
	n.usage, n.interval = make([]usage, len(n.Ports)), interval
	n.codes = make([]uint8, len(n.Ports))
	for i := range n.Ports {
		n.usage[i].free = 1
		n.encode(int32(i))
		if n.Sw[n.Ports[i].Node].Spec != nil {
			n.Ports[i].Flags |= flagStamp
		}
	}
}

// encode stores the code of a port's rate, which each of its stamps contains.
func (n *Net) encode(port int32) {
	if n.codes != nil {
		n.codes[port], _ = roce.StampRate(n.Ports[port].Rate)
	}
}

// Ask gives a packet empty telemetry: a header, or a tag for one signal.
func (n *Net) Ask(pi int32, kind roce.Telemetry, signal roce.Signal) {
	n.Packets[pi].Flags |= FlagINT
	t := Told{Kind: kind}
	switch kind {
	case roce.TelemetryINT:
	case roce.TelemetryIFA:
		if t.Stack = n.told[pi].Stack; t.Stack == nil {
			t.Stack = new(Stack)
		}
		t.Stack.n = 0
	default:
		t.Tag = roce.NewCSIG(kind == roce.TelemetryCSIGWide, signal)
	}
	n.told[pi] = t
}

// Echo copies the telemetry of a packet to its acknowledgement.
func (n *Net) Echo(pi, of int32) {
	if n.told[of].Stack != nil {
		n.told[pi] = n.told[of].Copied()
		return
	}
	n.told[pi] = n.told[of]
}

// Told returns the current telemetry of a packet with FlagINT.
func (n *Net) Told(pi int32) *Told { return &n.told[pi] }

// Carried is the telemetry of the packet that Tap is called for; nil: it has none.
func (n *Net) Carried() *Told {
	if n.told == nil || n.Packets[n.tapped].Flags&FlagINT == 0 {
		return nil
	}
	return &n.told[n.tapped]
}

// told reports whether switches write into a packet: it has telemetry and payload.
func (p *Packet) told() bool { return p.Flags&FlagINT != 0 && p.Payload != 0 }

// stamp fills a packet's next entry, or replaces its tag, when its frame starts. A stamp excludes this frame from
// the bytes sent and queued, as HPCC's switches do (switch-node.cc 220 to 226). Bytes sent are bytes on the wire,
// with preamble and gap, so that a busy port's equal its rate. It returns the extra time of the frame for the bytes
// that the switch adds.
func (n *Net) stamp(port int32, tx *route.Port, pi int32, p *Packet) (longer unit.Time) {
	now, t := n.Q.Now(), &n.told[pi]
	sent := tx.TxBytes - int64(p.Size) - roce.PreambleIFG
	if t.Kind == roce.TelemetryINT {
		t.Add(uint32(port), roce.NewStamp(n.codes[port], now, sent, int64(tx.Queued)))
		return 0
	}
	if t.Kind == roce.TelemetryIFA {
		longer = n.push(now, port, tx, p, t.Stack, sent)
		p.enq = 0
		return longer
	}
	switch t.Tag.Type {
	case roce.SignalDelay:
		if p.enq != 0 { // queued here: the mark is removed when it leaves
			t.Tag.Replace(float64(unit.Time(uint32(now>>10)-p.enq)<<10), uint32(port))
		}
	case roce.SignalABWC:
		t.Tag.Replace(n.available(now, port, tx, sent), uint32(port))
	case roce.SignalABW:
		t.Tag.Replace(n.available(now, port, tx, sent)*float64(tx.Rate), uint32(port))
	}
	p.enq = 0
	return 0
}

// push adds IFA's metadata of an egress port to a packet, which lengthens the frame. It stops at the number of
// switches that the sender requested. The switch has received the packet when its last bit has arrived or, at a
// port that cuts through, its header. The pipeline, and a wait in the queue, follow.
func (n *Net) push(now unit.Time, port int32, tx *route.Port, p *Packet, s *Stack, sent int64) (longer unit.Time) {
	if s.n == len(s.hop) {
		return 0
	}
	from := n.Ports[p.In].Peer
	stayed := n.Ports[from].Flight - n.cfg[from].prop
	if p.enq != 0 {
		stayed += unit.Time(uint32(now>>10)-p.enq) << 10
	}
	stayed /= unit.Nanosecond
	s.hop[s.n] = roce.IFAHop{LNS: 1, Device: uint32(tx.Node), TTL: topTTL - p.Hops + 1, Rate: roce.IFARate(tx.Rate),
		ECN: p.TOS & 3, Queue: p.Class, Egress: uint16(n.cfg[port].place) + 1, Ingress: uint16(n.cfg[p.In].place) + 1,
		Received: (now/unit.Nanosecond - stayed) * unit.Nanosecond, Residence: uint32(stayed),
		Sent: uint32(sent), Cells: uint16(min(tx.Queued/roce.IFACell, 1<<16-1))}
	s.n++
	before := n.wire(tx, p.Size)
	p.Size += roce.IFAHopLen
	longer = n.wire(tx, p.Size) - before
	tx.BusyUntil += longer
	tx.TxBytes += roce.IFAHopLen
	return longer
}

// topTTL is the TTL of a packet that no switch has forwarded.
const topTTL = 64

// available returns the unused share of a port's rate in the previous interval. The first tag after the end of an
// interval updates it.
func (n *Net) available(now unit.Time, port int32, tx *route.Port, sent int64) float64 {
	u := &n.usage[port]
	if gone := now - u.from; gone >= n.interval {
		used := float64(sent-u.sent) * 8 / (float64(tx.Rate) * gone.Seconds())
		*u = usage{now, sent, min(1, max(0, 1-used))}
	}
	return u.free
}
