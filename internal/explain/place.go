package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/topo"
	"railyard/unit"
)

// Of a message's packets one in sampledOf is looked at; fewer than enough of them may all have missed one of four
// paths, in a tenth of the cases.
const (
	sampledOf = 16
	enough    = 8
)

// queued is the total queueing time of all sampled packets at a port.
type queued struct {
	total   unit.Time
	samples int32
}

// queues adds up what packets waited at each port.
func (m *model) queues() {
	m.queued = make([]queued, len(m.b.r.seen.Ports))
	m.b.r.eachWait(func(w Wait) {
		q := &m.queued[w.Port]
		q.total, q.samples = q.total+w.Total, q.samples+w.Samples
	})
}

// place is the port where packets of a message queued longest, -1 for none. A message's own samples are sufficient if
// they were queued for a good part of its loss, or are many packets. Otherwise its other packets, on any port of its
// paths, were queued as other flows' packets were there.
func (m *model) place(x int32, met *Trouble, lost unit.Time) int32 {
	r := m.b.r
	msg := &r.seen.Messages[x]
	if r.seen.Packets == nil || int64(msg.Bytes) >= enough*sampledOf*int64(r.seen.Rules.MTU) {
		return met.Port
	}
	own := unit.Time(0)
	r.waitsOf(msg.Conn, func(w Wait) {
		if w.Port == met.Port {
			own = w.Total
		}
	})
	if 2*own >= lost {
		return met.Port
	}
	top, most := met.Port, float64(own)
	m.crosses(msg.Conn, func(p int32) {
		q := &m.queued[p]
		if mean := float64(q.total) / float64(max(1, q.samples)); mean > most {
			top, most = p, mean
		}
	})
	return top
}

// overflowed is the port that trimmed or dropped most packets of those that a connection may cross, -1 for none.
func (m *model) overflowed(conn int32) int32 {
	top, most := int32(-1), int64(0)
	m.crosses(conn, func(p int32) {
		c := &m.b.r.seen.Ports[p].Packets
		if n := c.Trims + c.Drops; n > most {
			top, most = p, n
		}
	})
	return top
}

// crosses calls f for the ports of switches that a connection's packets may cross, in order.
func (m *model) crosses(conn int32, f func(port int32)) {
	w := &m.ways[conn]
	for _, u := range w.ports {
		f(u.Link)
	}
	if len(w.ports) == 0 {
		for _, s := range w.sets {
			for _, p := range m.portsOf(s) {
				f(p)
			}
		}
	}
	for _, p := range m.portsOf(w.ingress) {
		f(p)
	}
}

// back returns the queueing time of a connection's acknowledgements, and the port with most of it; -1: none.
// Acknowledgements are queued as data on the same path are.
func (m *model) back(conn int32) (wait unit.Time, port int32) {
	r := m.b.r
	if r.seen.Packets == nil {
		return 0, -1
	}
	if q, known := m.backs[conn]; known {
		return q.wait, q.port
	}
	port = -1
	most := unit.Time(0)
	m.backBy(conn, func(ports []int32) {
		total, frames, top := unit.Time(0), int64(0), ports[0]
		for _, p := range ports {
			total, frames = total+m.queued[p].total, frames+r.seen.Ports[p].Packets.Frames
			if m.queued[p].total > m.queued[top].total {
				top = p
			}
		}
		mean := unit.Time(float64(sampledOf*total) / float64(max(1, frames)))
		if wait += mean; mean > most {
			most, port = mean, top
		}
	})
	m.backs[conn] = wayBack{wait, port}
	return wait, port
}

// arriving returns the share at the receiver's ports of what packets of a connection wait in queues, where they choose
// among several: faster links between switches do not divide packets among these.
func (m *model) arriving(conn int32) float64 {
	if len(m.portsOf(m.ways[conn].ingress)) < 2 {
		return 0
	}
	last, all := unit.Time(0), unit.Time(0)
	m.b.r.waitsOf(conn, func(w Wait) {
		if all += w.Total; m.b.leadsTo(m.b.r.seen.Conns[conn].To, w.Port) {
			last += w.Total
		}
	})
	return float64(last) / float64(max(1, all))
}

// wayBack is the cached result of back for a connection.
type wayBack struct {
	wait unit.Time
	port int32
}

// pausedBack returns the delay of a connection's acknowledgements by a paused port on their path, and the port that was
// paused longest; -1: none. Of ports that they choose among they take each as often.
func (m *model) pausedBack(conn int32, w *window) (most unit.Time, port int32) {
	port = -1
	if len(m.b.pauses) == 0 {
		return 0, port
	}
	nobody := func(int32) bool { return false }
	m.backBy(conn, func(ports []int32) {
		sum, longest, top := unit.Time(0), unit.Time(0), ports[0]
		for _, p := range ports {
			d := m.b.pauses.elsewhere(p, w.from, w.to, nobody)
			if sum += d; d > longest {
				longest, top = d, p
			}
		}
		if mean := sum / unit.Time(len(ports)); mean > most {
			most, port = mean, top
		}
	})
	return most, port
}

// backBy calls f for each hop of acknowledgements between switches and to the sender, with the ports that they may
// take there: of packets that take detours nothing is known.
func (m *model) backBy(conn int32, f func(ports []int32)) {
	r := m.b.r
	if r.seen.Rules.Hashed {
		for _, p := range r.seen.Ways.Back(conn) {
			f([]int32{p})
		}
		return
	}
	if r.seen.Rules.Detours {
		return
	}
	src, dst := r.seen.peers(conn)
	over := spreadOver{routes: r.seen.Routes}
	m.hops(m.b.share.nicPorts(dst, true), src, over, func(hop *topo.Hop) { f(m.portsOver(hop)) })
	f(m.b.share.nicPorts(src, false))
}

// portCause returns the cause of the queue at a port, independent of the message; LineRate if no other traffic causes
// it.
func (m *model) portCause(port int32) cause.ID {
	b := m.b
	switch {
	case m.slow(port):
		return cause.SlowLink
	case b.flows[port] < 2:
		return cause.LineRate
	case b.r.peer(port).Role == topo.Host:
		return m.receiving(port)
	}
	for _, s := range append(slices.Clone(m.in[port]), port) {
		if m.tight[s] {
			return m.tightCause(s)
		}
	}
	return b.r.meeting()
}

// receiving returns the cause of the queue at a port to a NIC: its PCIe is slower than the senders', or several NICs
// send to it; LineRate if only one does.
func (m *model) receiving(port int32) cause.ID {
	switch {
	case m.narrow(port):
		return cause.PCIe
	case len(m.b.senders[port]) > 1:
		return cause.Incast
	}
	return cause.LineRate
}

// narrow reports whether PCIe of the NIC at a port takes less than PCIe of one that sends to it gives.
func (m *model) narrow(port int32) bool {
	to, ok := m.nicAt[port]
	if !ok || m.memory[to] >= m.b.r.nicRate(to) {
		return false
	}
	for from := range m.b.senders[port] {
		if m.memory[from] > m.memory[to] {
			return true
		}
	}
	return false
}

// shareOf returns the share of a connection's bytes on one of the ports where its packets were seen; the shares of
// alternative ports add up to 1.
func (m *model) shareOf(w *wayOf, path *pathOfQP, at int) float64 {
	port, sum := path.ports[at], 0.0
	for _, s := range w.sets {
		if s == port {
			return 1
		}
		if !slices.Contains(m.portsOf(s), port) {
			continue
		}
		for i, p := range path.ports {
			if slices.Contains(m.portsOf(s), p) {
				sum += path.shares[i]
			}
		}
	}
	if share := path.shares[at]; share < 1 && sum > 0 {
		return share / sum
	}
	return path.shares[at]
}
