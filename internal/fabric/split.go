package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/transport"
	"railyard/unit"
)

// A network can be run in parts: each part is a Net of its own, built alike from the same plan, and
// runs the events of the nodes it owns. The other nodes stand there as configuration. What a node
// sends to another part's goes there as a letter, and because that takes a cable's delay, all parts
// can go on for as long as the shortest such cable (Lookahead) before they exchange letters. What
// the run itself does (posting messages, breaking links) happens in every part at the same time:
// its executor runs in all of them alike, for which each must hear what ends anywhere (Announce).

// Letter is a packet or a PFC frame on its way to another part, or an announcement to all others.
type Letter struct {
	event  engine.Event
	packet Packet
	told   Told // its telemetry, if it carries any
	header transport.Packet
	all    bool
}

// To returns the port at which a letter arrives, or that it is for all other parts.
func (l *Letter) To() (port int32, all bool) { return l.event.A, l.all }

// Split makes the network one part; send is given what goes to others' nodes.
func (n *Net) Split(mine func(node int32) bool, send func(Letter)) {
	n.foreign, n.send = make([]bool, len(n.Sw)), send
	for node := range n.foreign {
		n.foreign[node] = !mine(int32(node))
	}
	for i := range n.Ports {
		p := &n.Ports[i]
		if p.Flags &^= flagLeaves; n.Owns(p.Node) && !n.Owns(n.Ports[p.Peer].Node) {
			p.Flags |= flagLeaves
		}
	}
}

// Owns reports whether a node's events run here.
func (n *Net) Owns(node int32) bool { return n.foreign == nil || !n.foreign[node] }

// Lookahead returns the least time in flight of anything that leaves the part: unit.Never when nothing can leave.
func (n *Net) Lookahead() unit.Time {
	least := unit.Never
	for i := range n.Ports {
		if p := &n.Ports[i]; p.Flags&flagLeaves != 0 {
			least = min(least, p.Flight, n.cfg[i].prop+n.cfg[i].response)
		}
	}
	return least
}

// leave sends a packet to another part, where it arrives a delay from now.
func (n *Net) leave(tx *route.Port, kind engine.Kind, delay unit.Time, pi int32) {
	e := n.Q.Elsewhere(engine.Node(tx.Node), n.Q.Now()+delay, kind, tx.Peer, 0)
	l := Letter{event: e, packet: n.Packets[pi]}
	if l.packet.Flags&FlagINT != 0 {
		l.told = n.told[pi]
	}
	if n.headers != nil {
		l.header = n.headers[pi].Packet
	}
	n.send(l)
	n.Free(pi)
}

// Announce schedules an event of an element in all parts: something for the run to hear. How much
// later it must be is for the run to see to.
func (n *Net) Announce(from engine.Element, at unit.Time, kind engine.Kind, a int32) {
	if n.send == nil {
		n.Q.Push(from, at, kind, a, 0)
		return
	}
	e := n.Q.Elsewhere(from, at, kind, a, 0)
	n.Q.Insert(e)
	n.send(Letter{event: e, all: true})
}

// Receive takes a letter of another part. Letters may come in any order.
func (n *Net) Receive(l *Letter) {
	e := l.event
	if e.Kind() != KindPFC && e.Kind() != KindTold && e.Kind() != KindCredit && !l.all {
		e.B = n.Alloc()
		if n.Packets[e.B] = l.packet; l.packet.Flags&FlagINT != 0 {
			n.told[e.B] = l.told
		}
		if n.headers != nil {
			n.headers[e.B].Packet = l.header
		}
	}
	n.Q.Insert(e)
}
