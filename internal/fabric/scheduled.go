package fabric

import (
	"fmt"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/unit"
)

// A scheduled fabric is one switch in many boxes (queue.Scheduled). Switches with hosts are interface nodes, all
// other switches fabric nodes. A packet from a NIC waits at its interface node in the VOQ of its egress port and
// class (voq.go). The VOQ requests credit from the egress port's interface node, which grants it round-robin
// (granter.go). Granted packets leave as cells over all links in turn (cells.go). They are reassembled and
// reordered at the other side (reassembly.go). Requests and grants are messages on the fabric's links, so nodes
// interact over cables only. Within an interface node they are function calls.
//
// The model is coarser than a real fabric: the cells of one packet on one link are one event, a burst. Bursts do
// not interleave on a link, and a fabric node forwards a burst on one link. With as many links as a packet has
// cells, a burst is a cell. A fabric node forwards a burst's first cell as soon as it has arrived. Messages precede
// cells, and wait for one at most.
//
// Other fabrics have no cost from this, because the kind of a port's arrival events is set when the network is
// built.

// Events of a scheduled fabric.
const (
	KindVOQ     engine.Kind = KindPoll + 1 + iota // A port, B packet: a packet has arrived from a NIC
	KindEgress                                    // A port: it is free to send to its NIC
	KindCells                                     // A port, B burst: its first cell is in, or all
	KindMessage                                   // A port, B message: a request or a grant
	KindTurn                                      // A node, B index << 3 | what: see below
)

// Operands of KindTurn: the timers of an interface node.
const (
	turnGrant  = iota // an egress port may grant again
	turnShared        // the node's fabric links have capacity for a further grant
	turnCells         // fabric links are free for the next packet
	turnAsk           // the node's fabric links have capacity for a further request
	turnRetry         // a VOQ has waited long for a grant
	turnGiveUp        // a flow has waited long for cells
)

// scheduled is the state of a scheduled fabric in a Net; nil in other fabrics.
type scheduled struct {
	queue.Scheduled
	at     []*iface // by node; nil: not an interface node
	nodes  []int32  // by number of interface node
	turn   []uint32 // by index in tables.groups: the next link in turn
	talk   []uint32 // likewise for messages
	load   []int64  // by index in tables.members: cells that a fabric node sent on the link as a member of a group
	share  []int64  // by node: limit of bytes queued at a port of a fabric node
	grants []int32  // by port to a NIC: number of its granter at its node
	edges
}

// iface is an interface node.
type iface struct {
	number int32     // among interface nodes
	loc    uint16    // the locator that leads to it alone
	seed   uint32    // seed of the hash that picks egress ports of NICs that have several
	up     unit.Rate // sum over its working fabric links
	loop   unit.Time // maximum backlog of grants that is made up: the time for which its fastest port has credit
	InterfaceStats

	turns  []uint32 // by locator
	voqs   []voq
	voqAt  []int32 // by NIC: its first VOQ + 1
	ready  ring    // VOQs with credit and packets
	asking ring    // VOQs that may send a request from askAt on
	askAt  unit.Time
	sends  bool // turnCells is pending
	asks   bool // turnAsk

	granters []granter
	flows    []flow
	flowAt   [][]int32 // by the sender's number and granter: its first flow + 1
	shared   ring      // granters that may grant from sharedAt on
	sharedAt unit.Time
	shares   bool // turnShared is pending
}

// InterfaceStats is the occupancy of an interface node, and its peak.
type InterfaceStats struct {
	VOQs                      int   // number of VOQs ever used
	Held, HeldPeak            int64 // bytes in all VOQs
	VOQPeak                   int64 // maximum bytes in one VOQ
	Egress, EgressPeak        int64 // bytes that wait for cells, for earlier packets, or for their NIC
	PortPeak                  int64 // maximum bytes at one egress port and class, in complete packets
	Requests, Grants, Repeats int64
	Granted                   int64 // bytes
	GaveUp                    int64 // packets, or gaps, that were never completed
	Left                      int64 // packets that have left VOQs, and their queueing time
	Waited, WaitMost          unit.Time
}

// ring is a list whose entries take turns: VOQs, flows or granters of one node.
type ring struct{ head, tail int32 }

const noone = int32(-1)

// Interface returns the state of a node of a scheduled fabric; ok is false for other nodes.
func (n *Net) Interface(node int32) (s InterfaceStats, ok bool) {
	if n.sched == nil || n.sched.at[node] == nil {
		return s, false
	}
	s = n.sched.at[node].InterfaceStats
	s.VOQs = len(n.sched.at[node].voqs)
	return s, true
}

// Scheduled makes the network's switches one scheduled fabric.
func (b *Builder) Scheduled(s queue.Scheduled) { b.scheduled = &s }

// schedule sets the event kinds of ports and creates the state of interface nodes.
func (b *Builder) schedule() {
	n := b.net
	s := &scheduled{Scheduled: *b.scheduled, at: make([]*iface, len(n.Sw)), share: make([]int64, len(n.Sw)),
		grants: make([]int32, len(n.Ports))}
	n.sched = s
	for i := range n.Ports {
		p := &n.Ports[i]
		from, to := b.nodes[p.Node].host, b.nodes[n.Ports[p.Peer].Node].host
		switch {
		case from && !to:
			p.Arrive = uint8(KindVOQ)
		case to && !from:
			p.Service = uint8(KindEgress)
			s.grants[i] = s.interfaceNode(p.Node).addGranter(int32(i))
		case !from:
			p.Arrive = uint8(KindCells)
		}
	}
	for node := range n.Sw {
		if sw := &n.Sw[node]; sw.Spec != nil && s.at[node] == nil {
			s.share[node] = int64(sw.Spec.Buffer) / int64(max(1, len(sw.ports)))
		}
		if f := s.at[node]; f != nil {
			b.bundled(int32(node), f)
			n.uplinks(int32(node), f)
		}
	}
}

func (s *scheduled) interfaceNode(node int32) *iface {
	if s.at[node] == nil {
		s.at[node] = &iface{number: int32(len(s.nodes)), ready: ring{noone, noone},
			asking: ring{noone, noone}, shared: ring{noone, noone}}
		s.nodes = append(s.nodes, node)
	}
	return s.at[node]
}

// uplinks returns the total rate of an interface node's working fabric links. That keeps its inputs and outputs
// balanced after failures: it requests and grants at most this rate.
func (n *Net) uplinks(node int32, f *iface) {
	f.up = 0
	line := unit.Rate(1)
	for _, p := range n.Sw[node].ports {
		if tx := &n.Ports[p]; !tx.Down && engine.Kind(tx.Arrive) == KindCells {
			f.up += tx.Rate
		} else {
			line = max(line, tx.Rate)
		}
	}
	f.loop = unit.Serialize(n.sched.Egress, line)
}

// reserved returns the memory that an interface node reserves for granted packets: the space of each egress port
// for each class that packets use.
func (b *Builder) reserved(node int32) (bytes int64) {
	sw := &b.net.Sw[node]
	var used [queue.Classes]bool
	for _, c := range sw.Spec.DSCP {
		used[c] = true
	}
	for _, p := range sw.ports {
		for c := range used {
			if used[c] && b.nodes[b.net.Ports[b.net.Ports[p].Peer].Node].host {
				bytes += int64(b.scheduled.Egress)
			}
		}
	}
	return bytes
}

// routed processes a switch's new table. Its groups start their turns at different positions, and packets for a
// broken link are dropped.
func (s *scheduled) routed(n *Net, node int32) {
	for len(s.turn) < len(n.tables.groups) {
		from := route.Hash(uint32(len(s.turn)), uint32(node))
		s.turn, s.talk = append(s.turn, from), append(s.talk, from)
	}
	for len(s.load) < len(n.tables.members) {
		s.load = append(s.load, 0)
	}
	if f := s.at[node]; f != nil {
		n.strandOwn(node, f)
	}
}

// clock sets one of an interface node's own clocks.
func (n *Net) clock(node int32, at unit.Time, what, index int32) {
	n.Q.Push(engine.Node(node), at, KindTurn, node, index<<3|what)
}

// turned runs one.
func (n *Net) turned(node int32, b int32) {
	f, now := n.sched.at[node], n.Q.Now()
	switch i := b >> 3; b & 7 {
	case turnGrant:
		f.granters[i].armed = false
		n.grant(now, node, f, i)
	case turnShared:
		n.shareGrants(now, node, f)
	case turnCells:
		f.sends = false
		n.sendCells(now, node, f)
	case turnAsk:
		f.asks = false
		n.askInTurn(now, node, f)
	case turnRetry:
		n.retry(now, node, f, i)
	case turnGiveUp:
		n.giveUp(now, node, f, i)
	}
}

// auditInterface checks an interface node's sums, and returns the bytes of its VOQs in lossy classes.
func (n *Net) auditInterface(node int32) (lossy int64, err error) {
	f := n.sched.at[node]
	if f == nil {
		return 0, nil
	}
	held, egress := int64(0), int64(0)
	for i := range f.voqs {
		v := &f.voqs[i]
		held += int64(v.q.bytes)
		if n.Sw[node].lossless&(1<<v.class) == 0 {
			lossy += int64(v.q.bytes)
		}
		if v.enqueued != v.sent+int64(v.q.bytes) || v.requested > v.enqueued || v.granted > v.requested {
			return 0, fmt.Errorf("node %d, VOQ %d: %+v", node, i, *v)
		}
	}
	if f.ready.head >= 0 && !f.sends || f.asking.head >= 0 && !f.asks || f.shared.head >= 0 && !f.shares {
		return 0, fmt.Errorf("node %d: an event needs a clock that is not set", node)
	}
	due := make([][queue.Classes]int64, len(f.granters))
	for i := range f.flows {
		w := &f.flows[i]
		due[w.granter][w.class] += w.due()
		for k := w.head; k >= 0; k = n.Packets[k].next {
			egress += int64(n.Packets[k].Size)
		}
	}
	for i := range f.granters {
		g := &f.granters[i]
		egress += int64(n.Ports[g.port].Queued)
		if due[i] != g.due {
			return 0, fmt.Errorf("node %d, egress port %d: %v is due, by its flows %v", node, g.port, g.due, due[i])
		}
	}
	if held != f.Held || egress != f.Egress {
		return 0, fmt.Errorf("node %d: VOQs hold %d, counted %d; its egress %d, counted %d", node, held,
			f.Held, egress, f.Egress)
	}
	return lossy, nil
}
