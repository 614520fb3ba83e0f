package fabric

import (
	"slices"

	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// Switches with route.Informed choosers report the grades of their ports to neighbours, once per interval, while
// packets arrive or a grade is not the best. One frame per neighbour has the changes.

// Events of these.
const (
	KindGrade engine.Kind = KindTurn + 1 + iota // A switch: grade the ports
	KindTold                                    // A port, B place << 3 | grade of a port of its neighbour
)

// gradeFrame is the minimum size of such a frame and the bytes per grade: the port's place and the grade.
const (
	gradeFrame = roce.PFCLen
	gradeBytes = 2
)

// informed is a switch's state for it.
type informed struct {
	route.Informed
	due  bool
	told []uint8 // by place of a port: grade last reported to neighbors
	room []uint8
}

// beyond is the known state of a neighbour.
type beyond struct {
	grades []uint8 // by index of the switch's ports
	best   []uint8 // by its groups; nil: unknown for these routes
}

// inform has a switch take part.
func (n *Net) inform(node int32, c route.Informed) {
	if n.informed == nil {
		n.informed, n.beyond = make([]*informed, len(n.Sw)), make([]*beyond, len(n.Ports))
	}
	if n.informed[node] == nil {
		n.informed[node] = &informed{Informed: c, told: make([]uint8, len(n.Sw[node].ports))}
		for _, port := range n.Sw[node].ports {
			if far := n.node[n.Ports[port].Peer]; n.Sw[far].Spec != nil {
				n.beyond[port] = &beyond{grades: make([]uint8, len(n.Sw[far].ports))}
			}
		}
		n.forward[node].slow |= slowInformed
	}
	for _, port := range n.Sw[node].ports { // the neighbours belong to its other groups
		if b := n.beyond[n.Ports[port].Peer]; b != nil {
			b.best = nil
		}
	}
}

// consider picks a packet's port with the known grades of the next switches.
func (n *Net) consider(now unit.Time, f *forward, node, out int32, p *Packet) int32 {
	s := n.informed[node]
	if !s.due {
		s.due = true
		n.Q.PushAfter(engine.Node(node), s.Every(), KindGrade, node, 0)
	}
	code := n.tables.fwd[f.fwd+int32(p.Loc)]
	if code < 0 {
		return out
	}
	g := n.tables.groups[f.groups+int32(code)]
	if g.n == 1 {
		return out
	}
	members := n.tables.members[g.start : g.start+g.n]
	s.room = s.room[:0]
	for _, port := range members {
		s.room = append(s.room, n.behind(port, p.Loc))
	}
	return s.PickBeyond(now, members, s.room, n.Ports)
}

// behind returns the best grade of the next switch's ports to a locator, as seen from the port that leads there.
func (n *Net) behind(port int32, loc uint16) uint8 {
	b, far := n.beyond[port], n.node[n.Ports[port].Peer]
	if b == nil {
		return 0
	}
	f := &n.forward[far]
	code := n.tables.fwd[f.fwd+int32(loc)]
	if code < 0 {
		return 0
	}
	if b.best == nil {
		n.summarise(b, far)
	}
	return b.best[code]
}

// summarise computes the best grade of each group of a neighbour.
func (n *Net) summarise(b *beyond, far int32) {
	sw, f := &n.Sw[far], &n.forward[far]
	b.best = make([]uint8, f.groupsOf)
	for code := range b.best {
		g := n.tables.groups[f.groups+int32(code)]
		best := uint8(route.Bands - 1)
		for _, port := range n.tables.members[g.start : g.start+g.n] {
			place, _ := slices.BinarySearch(sw.ports, port)
			best = min(best, b.grades[place])
		}
		b.best[code] = best
	}
}

// grade grades a switch's ports to other switches and reports changes to its neighbours.
func (n *Net) grade(node int32) {
	now, s, sw := n.Q.Now(), n.informed[node], &n.Sw[node]
	s.due = false
	var changed []int32
	for place, port := range sw.ports {
		if n.beyond[port] == nil {
			continue
		}
		band := s.Band(now, port, n.Ports)
		if band > 0 && !s.due {
			s.due = true
			n.Q.PushAfter(engine.Node(node), s.Every(), KindGrade, node, 0)
		}
		if band != s.told[place] {
			s.told[place] = band
			changed = append(changed, int32(place)<<3|int32(band))
		}
	}
	if len(changed) == 0 {
		return
	}
	for _, port := range sw.ports {
		if n.beyond[port] != nil && n.Ports[port].Flags&flagDown == 0 {
			n.sendGrades(now, port, changed)
		}
	}
}

// sendGrades sends grades after the current frame, ahead of all queues.
func (n *Net) sendGrades(now unit.Time, port int32, grades []int32) {
	tx := &n.Ports[port]
	size := uint16(gradeFrame + gradeBytes*len(grades))
	tx.BusyUntil = max(now, tx.BusyUntil) + n.wire(tx, size)
	tx.TxBytes += int64(size) + roce.PreambleIFG
	for _, g := range grades {
		if at := tx.BusyUntil + tx.Flight; tx.Flags&flagLeaves != 0 {
			n.send(Letter{event: n.Q.Elsewhere(engine.Node(tx.Node), at, KindTold, tx.Peer, g)})
		} else {
			n.Q.Push(engine.Node(tx.Node), at, KindTold, tx.Peer, g)
		}
	}
}

// hear stores a grade of the port's neighbour, unless the link broke while the report was in flight.
func (n *Net) hear(port, grade int32) {
	if b := n.beyond[port]; n.Ports[port].Flags&flagDown == 0 {
		b.grades[grade>>3] = uint8(grade & 7)
		b.best = nil
	}
}

// gradeAgain sends a switch's grades on a repaired link. It sends all that are not the best, because the neighbour
// has discarded them.
func (n *Net) gradeAgain(port int32) {
	if n.beyond == nil || n.beyond[port] == nil {
		return
	}
	b := n.beyond[port]
	clear(b.grades)
	b.best = nil
	if s := n.informed[n.node[port]]; s != nil {
		var all []int32
		for place, grade := range s.told {
			if grade > 0 {
				all = append(all, int32(place)<<3|int32(grade))
			}
		}
		if len(all) > 0 {
			n.sendGrades(n.Q.Now(), port, all)
		}
	}
}
