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

// queued is what all packets that were looked at waited at a port.
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

// place is the port where packets of a message queued longest, -1 for none. What was looked at of a message says so
// where that waited for a good part of what the message lost, or is many packets. Otherwise others of its packets,
// which may have taken any port of its paths, waited as others did there.
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

// back is how long acknowledgements of a connection wait in queues on their way to the sender, and the port where they
// wait longest; -1: nowhere. They wait as data does that goes the same way.
func (m *model) back(conn int32) (wait unit.Time, port int32) {
	r := m.b.r
	if port = -1; r.seen.Packets == nil || !r.seen.Rules.Hashed {
		return 0, port
	}
	most := unit.Time(0)
	for _, p := range r.seen.Ways.Back(conn) {
		q := &m.queued[p]
		mean := unit.Time(float64(sampledOf*q.total) / float64(max(1, r.seen.Ports[p].Packets.Frames)))
		if wait += mean; mean > most {
			most, port = mean, p
		}
	}
	return wait, port
}

// portCause is why bytes queue at a port, whoever asks; LineRate where nobody else is to blame.
func (m *model) portCause(port int32) cause.ID {
	b := m.b
	tight := func(s int32) bool { return m.tight[s] }
	switch {
	case m.slow(port):
		return cause.SlowLink
	case b.flows[port] < 2:
		return cause.LineRate
	case b.r.peer(port).Role == topo.Host:
		return m.receiving(port)
	case tight(port) || slices.ContainsFunc(m.in[port], tight):
		return cause.Oversubscription
	}
	return cause.Collision
}

// receiving is why bytes queue at a port to a NIC: PCIe behind it takes less than senders' PCIe gives, or several NICs
// send to it; LineRate where one does.
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

// shareOf is the share of a connection's bytes that one of the ports has where its packets were seen: of ports that it
// had a choice of they make up the whole.
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
