package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/unit"
)

// divide books what messages took beside to causes.
func (m *model) divide() {
	r := m.b.r
	m.queues()
	for x := range m.extra {
		msg, e := &r.seen.Messages[x], &m.extra[x]
		if msg.Done == 0 {
			continue
		}
		lost := max(0, msg.Done-m.b.share.latency(int32(x))-e.fluid)
		m.divideOne(int32(x), e, lost)
	}
}

// divideOne books what a message lost, and notes what is behind its resends.
func (m *model) divideOne(x int32, e *excess, lost unit.Time) {
	b, r := m.b, m.b.r
	msg, met := &r.seen.Messages[x], r.trouble(x)
	add := func(id cause.ID, d unit.Time, reaction bool, behind cause.ID) {
		if d = min(d, lost); d > 0 {
			part := excessPart{id: id, reaction: reaction, behind: behind, time: d}
			if lost -= d; id == cause.SprayImbalance {
				part.last = m.arriving(msg.Conn)
			}
			e.of = append(e.of, part)
		}
	}
	if at := m.place(x, &met, lost); at != met.Port {
		met.Port, met.Sampled, met.Earlier = at, true, false
	}
	if met.Trimmed > 0 {
		if at := m.overflowed(msg.Conn); at >= 0 {
			met.Port = at
		}
	}
	queue := m.queueCause(x, &met)
	if wait, port := m.back(msg.Conn); queue == cause.Recovering && port >= 0 && wait > 0 && m.windowed(msg.Conn) {
		if id := m.portCause(port); id != cause.LineRate {
			queue = id // round trips are longer by what acknowledgements wait
		}
	}
	add(b.again(), met.Late, false, m.behind(msg.Conn, b.again(), queue))
	if n := len(e.of); n > 0 && 2*e.of[n-1].time > met.Late { // otherwise the message went on behind it
		e.of[n-1].beside = met.Late - e.of[n-1].time
	}
	if e.again = cause.LineRate; met.Again > met.Trimmed {
		e.again = m.behind(msg.Conn, b.resent(&met), queue)
	}
	if lost <= 0 {
		return
	}
	add(cause.HostCores, m.ways[msg.Conn].hosts, false, cause.LineRate)
	w := &window{e.began, msg.Done}
	paused, at := b.paused(msg.Conn, w)
	add(cause.Pause, paused, false, m.behindPause(msg.Conn, at, w))
	if all, left := met.Held+met.Window+met.Credit, lost; all > 0 {
		part := func(d unit.Time) unit.Time {
			if all > left {
				d = unit.Time(float64(d) * (float64(left) / float64(all)))
			}
			return d
		}
		trigger := queue
		if resent := b.resent(&met); met.Again > 0 && m.windowed(msg.Conn) &&
			(queue == cause.Recovering || resent == cause.Reordering ||
				resent == cause.Retransmission && 2*m.waited(x) < 1 && m.behind(msg.Conn, resent, queue) != queue) {
			trigger = resent
		} else if id := m.acknowledged(x, &met); id != cause.LineRate {
			trigger = id
		}
		if trigger == cause.Recovering {
			trigger = m.earlierQueue(x, met)
		}
		ungranted := cause.ID(cause.LineRate)
		if queue != cause.Recovering {
			ungranted = queue // the receiver grants no more while packets that it has granted are under way
		}
		add(cause.Credit, part(met.Credit), false, ungranted)
		window, own := part(met.Window), 1.0
		if paused, at := m.pausedBack(msg.Conn, w); at >= 0 && window > 0 {
			paused = min(paused, window)
			add(cause.Pause, paused, false, m.behindPause(msg.Conn, at, w))
			window -= paused
		}
		root := cause.ID(cause.LineRate)
		switch trigger {
		case cause.Reordering, cause.Retransmission, cause.Trimmed:
			root = m.behind(msg.Conn, trigger, queue)
		}
		if trigger != cause.Recovering {
			own = 1 - m.filled(x, &met)
			full := unit.Time(float64(window) * (1 - own))
			add(trigger, full, true, root)
			window -= full
		}
		late, behind := m.unanswered(x, e)
		late = min(late, window)
		add(cause.Window, late, false, behind)
		add(cause.Window, window-late, false, cause.LineRate)
		// A window that costs less than a quarter of the time that it was full, and less than the waits of packets in
		// queues of that, was full because of the links. The quarter was found with the scenarios of seeds 6001
		// to 6006.
		links := 0.25
		if way := &m.ways[msg.Conn]; way.cores < 0 && len(way.pcie) == 0 { // waits in hosts are not known
			links = min(links, m.waited(x))
		}
		if n := len(e.of); window > late && n > 0 && e.of[n-1].id == cause.Window &&
			float64(e.of[n-1].time) > links*float64(met.Window) {
			e.of[n-1].beside = max(0, unit.Time(own*float64(met.Window))-e.of[n-1].time)
		}
		add(trigger, part(met.Held), trigger != cause.Recovering, root)
	}
	if slices.ContainsFunc(e.of, func(p excessPart) bool { return p.reaction && p.id == cause.Pause }) {
		e.stays = m.crowded(msg.Conn, met.Port)
		m.crowds = m.crowds || e.stays
	}
	rest := m.rest(x, &met, w)
	add(rest, lost, false, m.behind(msg.Conn, rest, queue))
	// A trimmed packet or one ahead of others is answered at once: what that costs are round trips.
	if n := len(e.of); n > 0 && (rest == cause.Trimmed || rest == cause.Reordering) && e.of[n-1].id == rest {
		e.of[n-1].trips, e.of[n-1].waits = true, m.waited(x)
	}
	if met.Trimmed > 0 && !m.windowed(msg.Conn) {
		m.again(e, msg.Conn, m.behind(msg.Conn, cause.Trimmed, queue))
	}
}

// crowded reports whether NICs send at least twice what a port carries, and congestion control of a connection halves
// rates for CNPs. Without pauses it does so for the port's queue, in which more bytes are then.
func (m *model) crowded(conn, port int32) bool {
	if port < 0 || m.b.r.plan.Services[m.b.r.seen.Conns[conn].Service].CC.CNPGap == nil {
		return false
	}
	return slices.ContainsFunc(append(slices.Clone(m.in[port]), port), func(link int32) bool {
		return m.offered[link] >= 2*m.rate(link, 0, without{})
	})
}

// again notes that trimmed packets of a message go again a round trip later, of which the fluid hides a part for as
// long as it takes.
func (m *model) again(e *excess, conn int32, behind cause.ID) {
	last := len(e.of) - 1
	if last < 0 || e.of[last].id != cause.Trimmed || e.of[last].reaction {
		e.of, last = append(e.of, excessPart{id: cause.Trimmed, behind: behind}), last+1
	}
	e.of[last].beside = max(0, 2*m.ways[conn].latency-e.of[last].time)
}

// behind is why packets were lost or trimmed: the queue that had no room, where that is why.
func (m *model) behind(conn int32, id, queue cause.ID) cause.ID {
	c := &m.b.r.seen.Counted
	full := c.Drops - c.DropsCorrupt - c.DropsDown - c.DropsNoRoute - c.DropsStorm + c.Trims
	switch {
	case id == cause.Retransmission && m.b.down():
		return cause.FailedCapacity
	case id == cause.Reordering:
		return m.before(conn, -1) // paths are as long as one another but for their queues
	case queue == cause.Recovering || queue == id:
	case id == cause.Retransmission && !m.lost: // what came late was taken for lost
		return queue
	case id == cause.ReorderMemory: // whatever queues packets came from
	case id == cause.Trimmed, id == cause.Reordering, id == cause.Retransmission && full > c.Drops/2:
		return queue
	}
	return cause.LineRate
}

// down reports whether most of what was lost was lost on links that were down: of a fidelity without packets, all.
func (b *blamer) down() bool {
	if b.r.seen.Packets == nil {
		return true
	}
	c := &b.r.seen.Counted
	return c.DropsDown+c.DropsNoRoute > c.Drops/2
}

// behindPause is why the roots of a port's pauses held bytes: what most of the pauses are due to.
func (m *model) behindPause(conn, port int32, w *window) cause.ID {
	if port < 0 {
		return cause.LineRate
	}
	b := m.b
	var sums [cause.Max]float64
	for _, s := range b.pauses.within(port, w.from, w.to) {
		long := float64(min(s.to, w.to) - max(s.from, w.from))
		for _, root := range s.roots {
			id := cause.ID(cause.LineRate)
			switch {
			case root.kind == receiver && m.narrow(root.port):
				id = cause.PCIe
			case root.kind != egress:
			case m.slow(root.port):
				id = cause.SlowLink
			case b.r.peer(root.port).Role == topo.Host:
				id = m.receiving(root.port)
			case b.r.peer(root.port).Role != topo.Host:
				id = m.fabricCause(conn, root.port)
			}
			sums[id] += float64(long * root.share)
		}
	}
	top := cause.ID(cause.LineRate)
	for id := range sums {
		if sums[id] > sums[top] {
			top = cause.ID(id)
		}
	}
	return top
}

// queueCause is why packets of a message queued where they waited longest; Recovering where they did not, or nobody
// else is to blame.
func (m *model) queueCause(x int32, met *Trouble) cause.ID {
	b := m.b
	conn := b.r.seen.Messages[x].Conn
	_, dst := b.r.seen.peers(conn)
	switch {
	case met.Port < 0:
		return cause.Recovering
	case b.r.peer(met.Port).Role != topo.Host:
		if id := m.fabricCause(conn, met.Port); id != b.r.hashing() || b.flows[met.Port] > 1 {
			return id
		}
		if src, _ := b.r.seen.peers(conn); b.r.rate(met.Port) < b.r.nicRate(src) {
			return cause.Oversubscription // one NIC alone sends faster
		}
		return cause.Recovering
	case m.slow(met.Port):
		return cause.SlowLink
	case b.flows[met.Port] < 2:
		local := b.r.plan.NICs.Reorder.Placement == rc.ThroughNIC // the NIC's memory may delay them
		if id := m.before(conn, met.Port); id == cause.SprayImbalance && !local {
			return id // they come in bunches
		}
		return cause.Recovering
	case b.leadsTo(dst, met.Port) && m.receiving(met.Port) != cause.LineRate:
		return m.receiving(met.Port)
	case b.leadsTo(dst, met.Port) && m.ways[conn].ingress != m.ways[conn].ingressAll:
		return cause.Collision // at one of the receiver's ports
	}
	return cause.Recovering
}

// windowed reports whether a connection's congestion control follows losses and delays with a window.
func (m *model) windowed(conn int32) bool {
	s := &m.b.r.plan.Services[m.b.r.seen.Conns[conn].Service]
	return s.Carried != nil || s.CC.Name != "none" && s.CC.Name != "dcqcn"
}

// filled is the share of the time for which a window was full that queues are to blame for: all of it where congestion
// control has made it smaller, and where switches have trimmed packets, which fill it until they go again; else what
// packets waited in queues of the time that they were under way.
func (m *model) filled(x int32, met *Trouble) float64 {
	k := &m.b.r.seen.Conns[m.b.r.seen.Messages[x].Conn]
	s := &m.b.r.plan.Services[k.Service]
	if k.Cuts > 0 || met.Trimmed > 0 || k.Marked > 0 && (s.Carried != nil || s.CC.Marks) {
		return 1
	}
	return m.waited(x)
}

// acknowledged returns the cause of long round trips where acknowledgements wait longer on their return path than
// packets wait on theirs; LineRate where they do not, or packets were trimmed, which their own queue did.
func (m *model) acknowledged(x int32, met *Trouble) cause.ID {
	conn := m.b.r.seen.Messages[x].Conn
	wait, port := m.back(conn)
	if met.Trimmed > 0 || port < 0 || wait <= m.onWay(conn) || !m.windowed(conn) {
		return cause.LineRate
	}
	return m.portCause(port)
}

// unanswered is how long a window of a message was full because acknowledgements waited on their way back, and why they
// did. A window moves once a round trip: without a part of that the message takes as much less.
func (m *model) unanswered(x int32, e *excess) (late unit.Time, behind cause.ID) {
	conn := m.b.r.seen.Messages[x].Conn
	wait, port := m.back(conn)
	if port < 0 {
		return 0, cause.LineRate
	}
	forward := m.waited(x)
	trip := float64(2*m.ways[conn].latency)/max(1e-3, 1-forward) + float64(wait)
	return unit.Time(float64(e.took) * float64(wait) / max(1, trip)), m.portCause(port)
}

// waited is what packets of a message's connection waited in queues, of their round trip.
func (m *model) waited(x int32) float64 {
	conn := m.b.r.seen.Messages[x].Conn
	wait := m.onWay(conn)
	return float64(wait) / float64(max(1, wait+2*m.ways[conn].latency))
}

// onWay is how long packets of a connection wait in queues on their way to the receiver.
func (m *model) onWay(conn int32) (wait unit.Time) {
	most := int32(1)
	m.b.r.waitsOf(conn, func(w Wait) { wait, most = wait+w.Total, max(most, w.Samples) })
	return wait / unit.Time(most)
}

// rest is what neither links nor pauses nor paces explain.
func (m *model) rest(x int32, met *Trouble, w *window) cause.ID {
	b := m.b
	conn := b.r.seen.Messages[x].Conn
	top := met.Port
	if top < 0 && !met.Sampled {
		if w := b.r.worstQueue(conn); w != nil {
			top = w.Port
		}
	}
	switch {
	case met.Again > 0 && (m.lost || b.overtaken()):
		return b.resent(met)
	case top >= 0 && b.r.peer(top).Role != topo.Host && b.r.plan.Scheduled == nil &&
		(b.flows[top] > 1 || m.fabricCause(conn, top) != b.r.hashing()):
		return m.fabricCause(conn, top)
	case top < 0 || b.flows[top] < 2:
		port := b.r.nicPort(conn)
		for _, s := range b.pauses.within(port, w.from, w.to) {
			if 4*(min(s.to, w.to)-max(s.from, w.from)) > w.to-w.from {
				if id := m.behindPause(conn, port, w); id != cause.LineRate {
					return id
				}
			}
		}
		if c := b.r.plan.Services[b.r.seen.Conns[conn].Service].Carried; c != nil && c.Free != nil {
			return cause.HostCores
		}
		if top >= 0 && m.before(conn, top) == cause.SprayImbalance {
			return cause.SprayImbalance // they come in bunches
		}
		return cause.Latency
	case m.slow(top):
		return cause.SlowLink
	case b.r.peer(top).Role == topo.Host && m.receiving(top) != cause.LineRate:
		return m.receiving(top)
	case b.leadsTo(b.r.seen.Conns[conn].To, top) && m.ways[conn].ingress != m.ways[conn].ingressAll:
		return cause.Collision // at one of the receiver's ports
	case b.r.peer(top).Role == topo.Host:
		return m.before(conn, top)
	}
	return cause.Credit // of a scheduled fabric
}

// before is why packets came to a receiver's port faster than it takes them though one NIC sent them: the queue in the
// fabric where they waited longest.
func (m *model) before(conn, last int32) cause.ID {
	top, most := int32(-1), unit.Time(0)
	m.b.r.waitsOf(conn, func(w Wait) {
		if w.Port != last && w.Total > most && m.b.flows[w.Port] > 1 && m.b.r.peer(w.Port).Role != topo.Host {
			top, most = w.Port, w.Total
		}
	})
	if top < 0 {
		return cause.SharedNIC
	}
	return m.fabricCause(conn, top)
}

// fabricCause is why a port between switches has less room than its flows ask for.
func (m *model) fabricCause(conn, port int32) cause.ID {
	if m.slow(port) {
		return cause.SlowLink
	}
	w, choice := &m.ways[conn], 1
	for _, s := range w.sets {
		if s != port && !slices.Contains(m.in[port], s) {
			continue
		}
		if choice = len(m.portsOf(s)); m.tight[s] {
			if m.fell(w) {
				return cause.FailedCapacity
			}
			return m.tightCause(s)
		}
	}
	if spans := m.b.pauses[port]; len(spans) > 0 &&
		(choice == 1 || 16*m.b.r.seen.Ports[port].Packets.Paused > m.b.r.seen.At) {
		_, dst := m.b.r.seen.peers(conn)
		if root := spans[0].roots[0]; root.kind == egress && m.b.leadsTo(dst, root.port) {
			return cause.Incast
		}
		return cause.Pause
	}
	return m.b.r.meeting()
}

// tightCause returns the cause of a set of ports that is full however bytes are spread over it: a slow link where
// packets are and the set has room at the rate of its kind, incast where all its flows end at a NIC that takes as much.
func (m *model) tightCause(set int32) cause.ID {
	slow, whole := false, unit.Rate(0)
	for _, p := range m.portsOf(set) {
		slow, whole = slow || m.slow(p), whole+m.kind[p]
	}
	switch {
	case slow && m.b.r.seen.Rules.Spreads && m.offered[set] <= bytesPer(whole):
		return cause.SlowLink
	case m.funnels[set]:
		return cause.Incast
	}
	return cause.Oversubscription
}

// meeting is the cause of flows that meet on a link: imbalance where their packets are sprayed.
func (r *reading) meeting() cause.ID {
	if rules := &r.seen.Rules; r.routing() == "" && rules.Spreads && !rules.Detours && !rules.Entropy {
		return cause.SprayImbalance
	}
	return r.hashing()
}

// hashing is the cause of flows that are given one link: a collision where hashing does so, and oversubscription where
// routing leaves them no other.
func (r *reading) hashing() cause.ID {
	if r.routing() != "" {
		return cause.Oversubscription
	}
	return cause.Collision
}

// routing names routing that gives each destination one path; "": there is a choice.
func (r *reading) routing() string {
	switch {
	case r.seen.Rules.Direct:
		return "minimal routing"
	case r.plan.LB.Name == "dimension-order":
		return "dimension-order routing"
	}
	return ""
}

// slow reports that a port runs below the rate of its kind at some time.
func (m *model) slow(port int32) bool {
	if m.b.r.graph.Links[port/2].Rate < m.kind[port] {
		return true
	}
	for i := range m.b.r.lives[int(port/2)] {
		e := &m.b.r.lives[int(port/2)][i]
		if e.Up && sends(port, e) < m.kind[port] {
			return true
		}
	}
	return false
}

// fell reports that broken links leave a connection less capacity.
func (m *model) fell(w *wayOf) bool {
	if m.b.r.phased() {
		return false
	}
	for i, s := range w.full {
		if i >= len(w.sets) || len(m.portsOf(w.sets[i])) < len(m.portsOf(s)) {
			return true
		}
	}
	return false
}

// phased reports whether circuits move by phases of the job: they are dark meanwhile, and have not failed.
func (r *reading) phased() bool { return len(r.plan.Phases) > 0 }

// leadsTo reports whether a port leads to a NIC.
func (b *blamer) leadsTo(nic, port int32) bool {
	return b.r.peer(port).Role == topo.Host && slices.Contains(b.r.graph.NICs[nic].Links, int(port/2))
}
