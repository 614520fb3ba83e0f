package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/unit"
)

// Switches with route.Crediting choosers count how much of the data they sent is still in each neighbour's buffer.
// Credit-based flow control has the same account (UEC 1.0, CBFC; InfiniBand). A switch returns credit in steps; the
// few bytes that an update takes are not counted. Traffic to NICs, which return no such credit, and classes without
// PFC count as zero.

// KindCredit is an event: A port, B bytes of it that the neighbour holds.
const KindCredit = KindTold + 1

// creditStep is the maximum error of a neighbour's value: two packets.
const creditStep = 8192

// credits are by port.
type credits struct {
	held  []int32 // bytes of the neighbour in this switch's buffer
	told  []int32 // the part of it that was reported to the neighbour
	known []int32 // last value reported by the neighbour

	broke []unit.Time // time of the last failure of the link, 0: never; packets in flight then were lost
}

// credit gives a chooser its switch's credits.
func (n *Net) credit(c route.Crediting) {
	if n.credits == nil {
		ports := len(n.Ports)
		n.credits = &credits{make([]int32, ports), make([]int32, ports), make([]int32, ports), make([]unit.Time, ports)}
	}
	c.Credit(n.credits.known)
}

// owe counts bytes that enter or leave the buffer of a port's switch through that port.
func (n *Net) owe(port, bytes int32) {
	c := n.credits
	c.held[port] += bytes
	now := c.held[port]
	if off := now - c.told[port]; off == 0 || off < creditStep && off > -creditStep && now > 0 {
		return
	}
	n.update(port)
}

// update returns credit: it reports to a port's neighbour the neighbour's bytes in this buffer.
func (n *Net) update(port int32) {
	c, tx := n.credits, &n.Ports[port]
	now := c.held[port]
	if tx.Flags&flagDown != 0 || n.Sw[n.node[tx.Peer]].Spec == nil {
		return
	}
	c.told[port] = now
	if at := n.Q.Now() + tx.Flight; tx.Flags&flagLeaves != 0 {
		n.send(Letter{event: n.Q.Elsewhere(engine.Node(tx.Node), at, KindCredit, tx.Peer, now)})
	} else {
		n.Q.Push(engine.Node(tx.Node), at, KindCredit, tx.Peer, now)
	}
}

// credited stores the bytes that a port's neighbour holds, unless the link broke while the report was in flight.
func (n *Net) credited(port, bytes int32) {
	tx := &n.Ports[port]
	if sent := n.Q.Now() - n.Ports[tx.Peer].Flight; tx.Flags&flagDown == 0 && sent >= n.credits.broke[port] {
		n.credits.known[port] = bytes
	}
}

// uncredit clears both ends' credits of a broken link.
func (n *Net) uncredit(port int32) {
	if c := n.credits; c != nil {
		c.told[port], c.known[port], c.broke[port] = 0, 0, n.Q.Now()
	}
}

// creditAgain reports the bytes of a port's neighbour again after its link is repaired.
func (n *Net) creditAgain(port int32) {
	if n.credits != nil && n.credits.held[port] != 0 {
		n.update(port)
	}
}
