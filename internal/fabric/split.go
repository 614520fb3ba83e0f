package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/transport"
	"railyard/unit"
)

// A network can run in parts. Each part is a Net built from the same plan, and runs the events of its own nodes.
// The other nodes exist there as configuration only. A frame to another part's node is passed as a Letter. Because
// a letter takes a link's delay, all parts can run for the shortest such delay (Lookahead) before they exchange
// letters. Actions of the run itself (posting messages, breaking links) happen in every part at the same time. An
// identical executor runs in each, so each part must be notified of every completion (Announce).

// Letter is a packet or a PFC frame in flight to another part, or an announcement to all others.
type Letter struct {
	event  engine.Event
	packet Packet
	told   Told // telemetry of the packet, if any
	header transport.Packet
	all    bool
}

// To returns the port at which a letter arrives, or that it is for all other parts.
func (l *Letter) To() (port int32, all bool) { return l.event.A, l.all }

// At returns when a letter arrives.
func (l *Letter) At() unit.Time { return l.event.At }

// Extra reports whether an event that fires here belongs to another part and also fires there. It is a timer of a
// node that this part has only as configuration.
func (n *Net) Extra(e *engine.Event) bool {
	switch e.Kind() {
	// KindHost: host.KindRx
	case KindArrive, KindPFC, KindTold, KindCredit, KindVOQ, KindCells, KindMessage, KindHost:
		return false // those arrive as letters
	case KindService, KindRefresh, KindExpire, KindHost + 1: // events of ports that have packets
		return false
	}
	return e.From() != engine.OfRun && !n.Owns(int32(e.From())-1)
}

// Carries reports whether a letter is a packet.
func (l *Letter) Carries() bool {
	k := l.event.Kind()
	return !l.all && k != KindPFC && k != KindTold && k != KindCredit
}

// Split makes the network one part. send is called with frames to other parts' nodes.
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

// Moment returns the firing order of the last event that Queue.Before returned.
func (n *Net) Moment() Moment { return Moment{n.Q.Now(), n.Q.Place()} }

// Parted makes a part record the order of its events, so that records of several parts can be merged.
func (n *Net) Parted() {
	if n.Waits != nil {
		n.Waits.born = n.Moment
	}
}

// Adopts prepares a network that has not run for Adopt.
func (n *Net) Adopts() {
	n.Totals, n.inUse = Totals{}, 0
	if n.Waits != nil {
		n.Waits = NewWaitTable()
	}
}

// Adopt merges the state of a part's nodes into the whole network's counters and peaks. Packets in flight there are
// only counted.
func (n *Net) Adopt(o *Net) {
	for node := range n.Sw {
		if o.Owns(int32(node)) {
			n.Sw[node] = o.Sw[node]
		}
	}
	for p := range n.Ports {
		if !o.Owns(n.Ports[p].Node) {
			continue
		}
		n.Ports[p], n.Stats[p], n.cfg[p] = o.Ports[p], o.Stats[p], o.cfg[p]
		for c := range queue.Classes {
			slot := n.slot(int32(p), c)
			n.classes[slot], n.ing[slot], n.causes[slot] = o.classes[slot], o.ing[slot], o.causes[slot]
			if n.storms != nil {
				n.storms[slot] = o.storms[slot]
			}
			if o.peaks[c] == nil {
				continue
			}
			if n.peaks[c] == nil {
				n.peaks[c] = make([]int32, len(n.Ports))
			}
			n.peaks[c][p] = o.peaks[c][p]
		}
	}
	n.Totals.add(&o.Totals)
	n.inUse += o.inUse
	if n.Waits != nil {
		n.Waits.adopt(o.Waits)
	}
}

// add sums up two parts' totals.
func (t *Totals) add(o *Totals) {
	for _, x := range [][2]*int64{{&t.PacketHops, &o.PacketHops}, {&t.DataPacketHops, &o.DataPacketHops},
		{&t.Injected, &o.Injected}, {&t.Marks, &o.Marks}, {&t.Drops, &o.Drops}, {&t.CorruptDrops, &o.CorruptDrops},
		{&t.DownDrops, &o.DownDrops}, {&t.NoRoute, &o.NoRoute}, {&t.PauseFrames, &o.PauseFrames},
		{&t.FullPauses, &o.FullPauses},
		{&t.Pauses, &o.Pauses}, {&t.Storms, &o.Storms}, {&t.StormDrops, &o.StormDrops}, {&t.WREDDrops, &o.WREDDrops},
		{&t.Trims, &o.Trims}, {&t.TrimmedBytes, &o.TrimmedBytes}, {&t.TrimDrops, &o.TrimDrops},
		{&t.Cells, &o.Cells}, {&t.CellsLost, &o.CellsLost}, {&t.Requests, &o.Requests}, {&t.Grants, &o.Grants}} {
		*x[0] += *x[1]
	}
}

// Owns reports whether a node's events run here.
func (n *Net) Owns(node int32) bool { return n.foreign == nil || !n.foreign[node] }

// Lookahead returns the minimum time in flight of packets and PFC frames that leave the part; unit.Never if none
// can leave.
func (n *Net) Lookahead() unit.Time {
	return n.flight(func(p *route.Port) bool { return p.Flags&flagLeaves != 0 })
}

// Apart is the least time in flight of packets and PFC frames between nodes with different owners.
func (n *Net) Apart(owner []int32) unit.Time {
	return n.flight(func(p *route.Port) bool { return owner[p.Node] != owner[n.Ports[p.Peer].Node] })
}

func (n *Net) flight(of func(*route.Port) bool) unit.Time {
	least := unit.Never
	for i := range n.Ports {
		if p := &n.Ports[i]; of(p) {
			least = min(least, p.Flight, n.cfg[i].prop+n.cfg[i].response)
		}
	}
	return least
}

// leave sends a packet to another part, where it arrives after the link's delay.
func (n *Net) leave(tx *route.Port, kind engine.Kind, delay unit.Time, pi int32) {
	e := n.Q.Elsewhere(engine.Node(tx.Node), n.Q.Now()+delay, kind, tx.Peer, 0)
	l := Letter{event: e, packet: n.Packets[pi]}
	if l.packet.Flags&FlagINT != 0 {
		l.told = n.told[pi]
		n.told[pi].Stack = nil // the letter's from now on
	}
	if n.headers != nil {
		l.header = n.headers[pi].Packet
	}
	n.send(l)
	n.Free(pi)
}

// Announce schedules an event of an element in all parts, to notify each part's executor. How much later it must be is
// for the run to see to.
func (n *Net) Announce(from engine.Element, at unit.Time, kind engine.Kind, a int32) {
	if n.send == nil {
		n.Q.Push(from, at, kind, a, 0)
		return
	}
	e := n.Q.Elsewhere(from, at, kind, a, 0)
	n.Q.Insert(e)
	n.send(Letter{event: e, all: true})
}

// Receive takes a letter of another part. Letters may arrive in any order.
func (n *Net) Receive(l *Letter) {
	e := l.event
	if l.Carries() {
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
