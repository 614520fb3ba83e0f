package fabric

import (
	"railyard/internal/route"
	"railyard/roce"
)

// In-band telemetry lies beside the packets, in a slab of its own with the same indices: a Packet fills
// its cache line, and most runs have none. Switches write into what asks for it (FlagINT) as its frame
// starts at an egress port, which leaves the fast path for that by a flag of its own.

// StampAll makes every switch write into the packets that ask for it.
func (n *Net) StampAll() {
	n.ints = make([]roce.INT, len(n.Packets), cap(n.Packets))
	for i := range n.Ports {
		if n.Sw[n.Ports[i].Node].Spec != nil {
			n.Ports[i].Flags |= flagStamp
		}
	}
}

// ClearINT gives a packet a telemetry header with nothing in it.
func (n *Net) ClearINT(pi int32) {
	n.Packets[pi].Flags |= FlagINT
	n.ints[pi] = roce.INT{}
}

// EchoINT lets an acknowledgement carry what the packet that it answers came in with.
func (n *Net) EchoINT(pi, of int32) { n.ints[pi] = n.ints[of] }

// INT returns the telemetry header of a packet that has one, as it is now.
func (n *Net) INT(pi int32) *roce.INT { return &n.ints[pi] }

// Carried is the telemetry header of the packet that Tap is called for; nil: it has none.
func (n *Net) Carried() *roce.INT {
	if n.ints == nil || n.Packets[n.tapped].Flags&FlagINT == 0 {
		return nil
	}
	return &n.ints[n.tapped]
}

// stamp fills a packet's next place as its frame starts. What the port has sent is counted without this
// frame, and what waits without it, as HPCC's switches do (switch-node.cc 220 to 226); bytes sent are those
// of the wire, preamble and gap included, so that a busy port's are its rate.
func (n *Net) stamp(port int32, tx *route.Port, pi int32, p *Packet) {
	if p.Flags&FlagINT == 0 || p.Payload == 0 {
		return
	}
	code, _ := roce.StampRate(tx.Rate)
	sent := tx.TxBytes - int64(p.Size) - roce.PreambleIFG
	n.ints[pi].Add(uint32(port), roce.NewStamp(code, n.Q.Now(), sent, int64(tx.Queued)))
}
