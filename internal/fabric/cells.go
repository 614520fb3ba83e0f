package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/unit"
)

// A burst is the cells of one packet that share a link. It is a copy of the packet in which some fields have
// another meaning. In is the packet's position in its VOQ's byte stream and next the interface node that sent it.
// Final is the number of cells.

// linksTo returns the links for a node's cells and messages to a locator, and the group's index; none if there is
// no path.
func (n *Net) linksTo(node int32, loc uint16) (links []int32, at int32) {
	f := &n.forward[node]
	code := n.tables.fwd[f.fwd+int32(loc)]
	if code < 0 {
		return nil, 0
	}
	at = f.groups + int32(code)
	g := n.tables.groups[at]
	return n.tables.members[g.start : g.start+g.n], at
}

// sendCells makes VOQs with credit send in turn, one packet at a time, while the next link in turn has fewer bytes
// queued than that packet. No link is therefore idle while others get more cells.
func (n *Net) sendCells(now unit.Time, node int32, f *iface) {
	for f.ready.head >= 0 {
		v := &f.voqs[f.ready.head]
		links, _ := n.linksTo(node, v.loc)
		turn := f.turnTo(v.loc)
		if len(links) > 0 {
			if due := n.due(&n.Ports[links[*turn%uint32(len(links))]], v.q.head); due > now {
				f.sends = true
				n.clock(node, due, turnCells, 0)
				return
			}
		}
		next := func(i int32) *int32 { return &f.voqs[i].nextReady }
		i := f.ready.pop(next)
		from := v.sent
		out := n.Sw[node].ports[0] // any port: there is no path
		if len(links) > 0 {
			out = links[*turn%uint32(len(links))]
		}
		pi, p := n.take(now, node, out, f, v)
		if v.q.bytes > 0 && v.granted > v.sent {
			f.ready.push(i, next)
		} else {
			v.ready = false
		}
		if len(links) == 0 { // routes have changed
			n.NoRoute++
			n.lose(p.In, pi, p)
			continue
		}
		p.next, p.In = f.number, int32(uint32(from))
		n.spray(now, pi, links, turn)
	}
}

// turnTo returns the link that is next in turn towards a locator. Each locator has its own turn, so cells from many
// nodes to one node are also spread evenly. Nodes begin at different links.
func (f *iface) turnTo(loc uint16) *uint32 {
	for i := len(f.turns); i <= int(loc); i++ {
		f.turns = append(f.turns, route.Hash(uint32(i), uint32(f.number)))
	}
	return &f.turns[loc]
}

// due returns the earliest time at which a packet can follow the packets in flight on a link.
func (n *Net) due(tx *route.Port, pi int32) unit.Time {
	return tx.BusyUntil - unit.Serialize(n.sched.Wire(unit.Bytes(n.Packets[pi].Size)), tx.Rate)
}

// spray sends a packet's cells over links in turn.
func (n *Net) spray(now unit.Time, pi int32, links []int32, turn *uint32) {
	cells, k := n.sched.Cells(unit.Bytes(n.Packets[pi].Size)), int64(len(links))
	if n.Packets[pi].Payload != 0 {
		n.DataPacketHops++
	}
	each, more, from := cells/k, cells%k, int64(*turn%uint32(k))
	*turn = uint32((from + more) % k)
	last := min(cells, k) - 1
	for i := range last {
		burst := n.Alloc() // moves the slab
		n.Packets[burst] = n.Packets[pi]
		n.beside(burst, pi) // the first of them becomes the packet again
		size := each
		if i < more {
			size++
		}
		n.Packets[burst].Final = uint16(size)
		n.sendBurst(now, links[(from+i)%k], burst)
	}
	n.Packets[pi].Final = uint16(each)
	if last < more {
		n.Packets[pi].Final++
	}
	n.sendBurst(now, links[(from+last)%k], pi)
}

// relay forwards a burst whose first cell has arrived at a fabric node, or receives it at an interface node.
func (n *Net) relay(in, pi int32) {
	now, node := n.Q.Now(), n.node[in]
	if f := n.sched.at[node]; f != nil {
		n.gather(now, node, f, pi)
		return
	}
	p := &n.Packets[pi]
	links, at := n.linksTo(node, p.Loc)
	if len(links) == 0 {
		n.NoRoute++
		n.loseBurst(in, pi, p)
		return
	}
	k := n.sched.fewest(n.tables.groups[at], n.sched.turn[at])
	out := links[k]
	tx := &n.Ports[out]
	if tx.Rate > n.Ports[in].Rate && p.Final > 1 && p.Flags&FlagTail == 0 { // no gap may open between cells
		p.Flags |= FlagTail
		each := unit.Serialize(n.sched.Cell, n.Ports[in].Rate) - unit.Serialize(n.sched.Cell, tx.Rate)
		n.Q.Push(engine.Node(node), now+unit.Time(p.Final-1)*each, KindCells, in, pi)
		return
	}
	p.Flags &^= FlagTail
	n.sched.turn[at] = uint32(k + 1)
	n.sched.load[n.tables.groups[at].start+k] += int64(p.Final)
	if ahead := int64(unit.InTime(tx.Rate, max(0, tx.BusyUntil-now))); ahead > n.sched.share[node] {
		n.loseBurst(out, pi, p)
		return
	}
	n.sendBurst(now, out, pi)
}

// fewest returns the link of a group that has had the fewest cells, among equals the next in turn. Counting is
// needed because bursts differ in size.
func (s *scheduled) fewest(g group, turn uint32) int32 {
	load, best := s.load[g.start:g.start+g.n], int32(-1)
	for i := range g.n {
		if k := int32((turn + uint32(i)) % uint32(g.n)); best < 0 || load[k] < load[best] {
			best = k
		}
	}
	return best
}

// sendBurst sends a burst on a link after the packets in flight. A fabric node receives it with the first cell, an
// interface node with the last.
func (n *Net) sendBurst(now unit.Time, port, pi int32) {
	p, tx := &n.Packets[pi], &n.Ports[port]
	size := unit.Bytes(p.Final) * n.sched.Cell
	start, ser := max(now, tx.BusyUntil), unit.Serialize(size, tx.Rate)
	tx.BusyUntil = start + ser
	tx.TxBytes += int64(size)
	tx.TxFrames += int64(p.Final)
	n.PacketHops++
	n.Cells += int64(p.Final)
	n.classes[n.slot(port, int(p.Class))].peak = max(n.classes[n.slot(port, int(p.Class))].peak,
		int32(min(1<<30, unit.InTime(tx.Rate, start-now))))
	delay := start - now + tx.Flight
	if peer := n.Ports[tx.Peer].Node; n.sched.at[peer] != nil {
		delay += ser
	} else {
		delay += unit.Serialize(n.sched.Cell, tx.Rate)
	}
	if tx.Flags != 0 && n.lostOnLink(port, tx, int64(size)) {
		n.loseBurst(port, pi, p)
		return
	}
	n.pass(tx, KindCells, delay, pi)
}

// pass schedules the arrival of a burst or a message at the other end of a link.
func (n *Net) pass(tx *route.Port, kind engine.Kind, delay unit.Time, pi int32) {
	if tx.Flags&flagLeaves != 0 {
		n.leave(tx, kind, delay, pi)
		return
	}
	n.Q.PushAfter(engine.Node(tx.Node), delay, kind, tx.Peer, pi)
}

// lostOnLink reports whether a broken link or a bit error destroys the burst.
func (n *Net) lostOnLink(port int32, tx *route.Port, bytes int64) bool {
	if tx.Flags&flagDown != 0 {
		return true
	}
	if tx.Flags&flagErrors == 0 {
		return false
	}
	c := &n.cfg[port]
	if c.bitsLeft -= float64(bytes) * 8; c.bitsLeft > 0 {
		return false
	}
	c.bitsLeft = exponential(&c.stream) / c.ber
	return true
}

// loseBurst counts the cells of a lost burst; the packet is lost at reassembly.
func (n *Net) loseBurst(port, pi int32, p *Packet) {
	n.CellsLost += int64(p.Final)
	n.Stats[port].Lost++
	n.Free(pi)
}

// sendMessage sends a request or a grant towards a locator. It overtakes queued cells and waits for at most one
// cell.
func (n *Net) sendMessage(now unit.Time, node int32, m Packet) {
	links, at := n.linksTo(node, m.Loc)
	if len(links) == 0 {
		return // a retry uses a path if one exists then
	}
	turn := &n.sched.talk[at]
	port := links[*turn%uint32(len(links))]
	*turn = (*turn + 1) % uint32(len(links))
	tx := &n.Ports[port]
	ser := unit.Serialize(n.sched.Message, tx.Rate)
	wait := min(max(0, tx.BusyUntil-now), unit.Serialize(n.sched.Cell, tx.Rate))
	tx.BusyUntil = max(tx.BusyUntil, now) + ser
	tx.TxBytes += int64(n.sched.Message)
	tx.TxFrames++
	n.PacketHops++
	if tx.Flags != 0 && n.lostOnLink(port, tx, int64(n.sched.Message)) {
		n.Stats[port].Lost++
		return
	}
	pi := n.Alloc()
	n.Packets[pi] = m
	n.pass(tx, KindMessage, wait+ser+tx.Flight, pi)
}

// message processes a message at a node.
func (n *Net) message(in, pi int32) {
	now, node := n.Q.Now(), n.node[in]
	m := n.Packets[pi]
	n.Free(pi)
	f := n.sched.at[node]
	switch {
	case f == nil:
		n.sendMessage(now, node, m)
	case m.Loc != f.loc: // no other path is left, because interface nodes do not forward
	case m.Flags&FlagGrant != 0:
		n.granted(now, node, f, &m)
	default:
		n.requested(now, node, f, &m)
	}
}

// FlagGrant is a message's: not a request.
const FlagGrant = FlagAckReq

// crossing returns the time of a frame from its VOQ to its egress port over equivalent links without other traffic:
// request, grant and cells.
func (n *Net) crossing(links []int32, size int) (t unit.Time) {
	s, first := n.sched, &n.Ports[links[0]]
	side := max(1, int64(s.at[first.Node].up/first.Rate)) // number of cells in parallel
	for i, port := range links {
		tx := &n.Ports[port]
		t += 2*unit.Serialize(s.Message, tx.Rate) + 2*tx.Flight + n.Ports[tx.Peer].Flight
		cells := int64(1)
		if i == len(links)-1 {
			cells = (s.Cells(unit.Bytes(size)) + side - 1) / side
		}
		t += unit.Serialize(unit.Bytes(cells)*s.Cell, tx.Rate)
	}
	return t
}
