package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// lost returns the message that lost most to a cause, its loss and the port; message -1 for none. This is the place of
// a cause in a message, a collective and the step.
func (b *blamer) lost(id cause.ID, messages []int32) (most unit.Time, worst, port int32) {
	lost := b.acc.m.lostTo
	if c := id.Get(); c.Outside() {
		lost = func(x int32, _ cause.ID) (unit.Time, int32) { return b.acc.outside.of(c, x) }
	}
	most, worst, port = -1, -1, -1
	for _, x := range messages {
		if d, at := lost(x, id); d > most {
			most, worst, port = d, x, at
		}
	}
	if id == cause.Incast && port >= 0 && b.r.peer(port).Role != topo.Host { // no flow ends there
		_, dst := b.r.seen.peers(b.r.seen.Messages[worst].Conn)
		port = b.cableOf(dst)
	}
	return most, worst, port
}

// locate returns the place of the leading cause of a row's account, in messages on its critical path: the port, the
// number of flows there, and the start. It reports whether they have such a loss there.
func (b *blamer) locate(row *result.CollectiveRow, messages []int32) (there bool) {
	b.earlier, b.shared, b.late, b.timeouts, b.failed = false, 0, 0, 0, ""
	for _, x := range messages {
		met := b.r.trouble(x)
		b.late, b.timeouts = b.late+met.Late, b.timeouts+met.Timeouts
	}
	top, is := row.Lost.Leading(0)
	if row.Leading = ""; is {
		row.Leading = top.Get().Key
	}
	most, worst, port := b.lost(top, messages)
	if worst >= 0 {
		row.Port = port
		row.At, b.earlier = int64(b.acc.m.extra[worst].began), b.r.trouble(worst).Earlier
		b.shared = b.acc.m.flowsAt(row.Port, worst)
	}
	b.worst = worst
	b.failed = b.failing(worst, row.Port, unit.Time(row.Start), unit.Time(row.End))
	row.Why = b.explain(row)
	return most > 0 && (top != cause.Incast || b.shared > 0)
}

// messagesOf returns the messages of a collective that have arrived.
func (b *blamer) messagesOf(c int32) (all []int32) {
	for op := b.ops[c][0]; op < b.ops[c][1]; op++ {
		for x := b.first[op]; x >= 0 && b.r.dag.Ops[op].Coll == c; x = b.next[x] {
			if b.r.seen.Messages[x].Done > 0 {
				all = append(all, x)
			}
		}
	}
	return all
}

// lostTo returns how long a message lost to a cause, and at which port.
func (m *model) lostTo(x int32, id cause.ID) (sum unit.Time, port int32) {
	e, conn, met := &m.extra[x], m.b.r.seen.Messages[x].Conn, m.b.r.trouble(x)
	switch port = met.Port; {
	case id == cause.Incast:
		port = m.portsOf(m.ways[conn].ingress)[0]
	case port < 0 || id == cause.PCIe:
		port = m.b.r.nicPort(conn)
	}
	for _, p := range e.of {
		if p.id == id || id == cause.Recovering && p.reaction {
			sum += p.time
		}
	}
	if id == cause.Pause && sum > 0 {
		w := &window{e.began, m.b.r.seen.Messages[x].Done}
		if _, at := m.b.paused(conn, w); at >= 0 {
			port = at
		}
		return sum, port
	}
	all, of := unit.Time(0), unit.Time(0)
	at, longest := int32(-1), unit.Time(0)
	for _, l := range m.limits[x] {
		if all += l.Time; m.linkCause(conn, l.Link) != id {
			continue
		}
		if of += l.Time; l.Time > longest {
			at, longest = l.Link, l.Time
		}
	}
	if at < 0 && (id == cause.Collision || id == cause.Oversubscription) {
		at = m.longestInside(x, conn) // one link limits through both, one after the other
		of = 0
	}
	if at < 0 {
		return sum, port
	}
	ports := m.portsOf(at)
	if len(ports) > 0 {
		port = ports[0]
		for _, p := range ports { // a slow one of several
			if id == cause.SlowLink && m.slow(p) {
				port = p
			}
		}
	}
	line := unit.Time(m.bytes(x, without{}) / bytesPer(m.b.r.nicRate(m.b.r.seen.Conns[conn].From)))
	return sum + max(0, of*max(0, e.fluid-e.began-line)/max(1, all)), port
}

// longestInside is the link between switches that limited a message longest for want of room; -1: none did.
func (m *model) longestInside(x, conn int32) int32 {
	at, longest := int32(-1), unit.Time(0)
	for _, l := range m.limits[x] {
		switch m.linkCause(conn, l.Link) {
		case cause.Collision, cause.Oversubscription, cause.FailedCapacity:
			if l.Time > longest {
				at, longest = l.Link, l.Time
			}
		}
	}
	return at
}

// linkCause is the cause of a message's being no faster than one of its links.
func (m *model) linkCause(conn, link int32) cause.ID {
	w := &m.ways[conn]
	ports := m.portsOf(link)
	switch {
	case link == w.window:
		return cause.Window
	case link == w.cores:
		return cause.HostCores
	case link == w.one:
		return cause.SharedNIC
	case link == w.grant:
		return cause.Credit
	case len(ports) == 0:
		return cause.PCIe
	case m.slow(ports[0]) && len(ports) == 1:
		return cause.SlowLink
	case link == w.egress || link == w.egressAll:
		return cause.SharedNIC
	case link == w.ingress || link == w.ingressAll:
		return cause.Incast
	}
	if slices.ContainsFunc(ports, func(p int32) bool { return m.slow(p) }) {
		return cause.SlowLink
	}
	return m.fabricCause(conn, ports[0])
}

// flowsAt counts the queue pairs that sent over a port while a message was in flight.
func (m *model) flowsAt(port, x int32) (n int) {
	if port < 0 {
		return 0
	}
	s, msg := m.b.share, &m.b.r.seen.Messages[x]
	w := &window{m.extra[x].began, msg.Done}
	var conns []int32
	switch p := &m.b.r.seen.Ports[port]; {
	case m.b.r.graph.Nodes[p.Node].Role == topo.Host:
		src, _ := m.b.r.seen.peers(msg.Conn)
		conns = s.bySender[src]
	case m.b.r.peer(port).Role == topo.Host:
		_, dst := m.b.r.seen.peers(msg.Conn)
		conns = s.byReceiver[dst]
	default:
		conns = s.carried[port].qps
		if before := m.hadBefore(port, w); len(before) > 0 {
			conns = append(slices.Clone(conns), before...)
			slices.Sort(conns)
			conns = slices.Compact(conns)
		}
	}
	for _, c := range conns {
		if s.sent(c, w) && c != msg.Conn {
			n++
		}
	}
	return n + 1
}
