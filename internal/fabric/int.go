package fabric

import (
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// In-band telemetry lies beside the packets, in a slab of its own with the same indices: a Packet fills
// its cache line, and most runs have none. Switches write into what asks for it (FlagINT) as its frame
// starts at an egress port, which leaves the fast path for that by a flag of its own.

// Told is the telemetry that a packet carries: HPCC's header, or congestion signaling's tag. An
// acknowledgement has what the packet that it answers came in with.
type Told struct {
	roce.INT
	Tag  roce.CSIG
	Kind roce.Telemetry
}

// usage is the bytes that a port has sent since the last look, for the bandwidth that is available.
type usage struct {
	from unit.Time
	sent int64
	free float64 // share of its rate, in the interval before
}

// StampAll makes every switch write into the packets that ask for it. interval is over how long available
// bandwidth is measured.
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

// encode keeps the code of a port's rate, which each of its stamps says.
func (n *Net) encode(port int32) {
	if n.codes != nil {
		n.codes[port], _ = roce.StampRate(n.Ports[port].Rate)
	}
}

// Ask gives a packet telemetry with nothing in it: a header, or a tag that asks for a signal.
func (n *Net) Ask(pi int32, kind roce.Telemetry, signal roce.Signal) {
	n.Packets[pi].Flags |= FlagINT
	t := Told{Kind: kind}
	if kind != roce.TelemetryINT {
		t.Tag = roce.NewCSIG(kind == roce.TelemetryCSIGWide, signal)
	}
	n.told[pi] = t
}

// Echo lets an acknowledgement carry what the packet that it answers came in with.
func (n *Net) Echo(pi, of int32) { n.told[pi] = n.told[of] }

// Told returns what a packet with FlagINT carries, as it is now.
func (n *Net) Told(pi int32) *Told { return &n.told[pi] }

// Carried is the telemetry of the packet that Tap is called for; nil: it has none.
func (n *Net) Carried() *Told {
	if n.told == nil || n.Packets[n.tapped].Flags&FlagINT == 0 {
		return nil
	}
	return &n.told[n.tapped]
}

// told reports that switches write into a packet: it has telemetry, and payload.
func (p *Packet) told() bool { return p.Flags&FlagINT != 0 && p.Payload != 0 }

// stamp fills a packet's next place, or replaces its tag, as its frame starts. What the port has sent is
// counted without this frame, and what waits without it, as HPCC's switches do (switch-node.cc 220 to 226);
// bytes sent are those of the wire, preamble and gap included, so that a busy port's are its rate.
func (n *Net) stamp(port int32, tx *route.Port, pi int32, p *Packet) {
	now, t := n.Q.Now(), &n.told[pi]
	sent := tx.TxBytes - int64(p.Size) - roce.PreambleIFG
	if t.Kind == roce.TelemetryINT {
		t.Add(uint32(port), roce.NewStamp(n.codes[port], now, sent, int64(tx.Queued)))
		return
	}
	switch t.Tag.Type {
	case roce.SignalDelay:
		if p.enq != 0 { // queued here: the mark is taken away as it leaves
			t.Tag.Replace(float64(unit.Time(uint32(now>>10)-p.enq)<<10), uint32(port))
		}
	case roce.SignalABWC:
		t.Tag.Replace(n.available(now, port, tx, sent), uint32(port))
	case roce.SignalABW:
		t.Tag.Replace(n.available(now, port, tx, sent)*float64(tx.Rate), uint32(port))
	}
	p.enq = 0
}

// available is the share of a port's rate that nobody used in the interval before: counted anew by the first
// tag that leaves after an interval has passed.
func (n *Net) available(now unit.Time, port int32, tx *route.Port, sent int64) float64 {
	u := &n.usage[port]
	if gone := now - u.from; gone >= n.interval {
		used := float64(sent-u.sent) * 8 / (float64(tx.Rate) * gone.Seconds())
		*u = usage{now, sent, min(1, max(0, 1-used))}
	}
	return u.free
}
