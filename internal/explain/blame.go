package explain

import (
	"fmt"
	"railyard/internal/cause"
	"slices"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// ledger divides the time that a transfer lost among causes, piece by piece, and remembers the largest.
type ledger struct {
	to            *cause.Account
	lost, largest unit.Time
	port          int32
	flows         int
	trigger       cause.ID // the largest of those that congestion control reacts to; Recovering: none yet
	triggered     unit.Time
}

func newLedger(to *cause.Account, lost unit.Time) ledger {
	return ledger{to: to, lost: lost, trigger: cause.Recovering}
}

// book takes a time out of what is lost still.
func (l *ledger) book(id cause.ID, d unit.Time, port int32, flows int) {
	d = max(0, min(d, l.lost))
	l.to.Own[id] += int64(d)
	if l.lost -= d; d > l.largest {
		l.largest, l.port, l.flows = d, port, flows
	}
	if id.Get().Trigger && d > l.triggered {
		l.trigger, l.triggered = id, d
	}
}

// held books what congestion control kept back: each of its ways its share of what is left. A reduced rate is a
// reaction to its trigger.
func (l *ledger) held(trigger cause.ID, met *Trouble) {
	all, left := met.Held+met.Window+met.Credit, l.lost
	if all <= 0 {
		return
	}
	part := func(d unit.Time) unit.Time {
		if all > left {
			d = unit.Time(float64(d) * (float64(left) / float64(all)))
		}
		return d
	}
	l.book(cause.Credit, part(met.Credit), met.Port, 0)
	l.book(cause.Window, part(met.Window), met.Port, 0)
	before := *l.to
	l.book(cause.Recovering, part(met.Held), met.Port, 0)
	if d := l.to.Own[cause.Recovering] - before.Own[cause.Recovering]; trigger != cause.Recovering {
		l.to.Own[cause.Recovering] -= d
		l.to.Reaction[trigger] += d
	}
}

// split books what a transfer took beyond its own bytes and latency. First what its
// links had to carry in that time, each kind beyond the ones before, because a run with
// fair sharing and no other trouble would take that too: the NIC's other bytes (at line
// rate as long as they are the same collective's), the receiver's, what links between
// switches carry when load balancing is perfect, and what the link carries on which
// hashing put it; with each, what its links took longer because events had left them less than
// their best rate. Then what these carried twice, and what the busiest of them carried of
// others beyond a fair share. In the rest of the time its path had room: it was paused for
// the sake of a link elsewhere, or congestion control kept it back. What is
// left is the time of NAKs and timeouts, else the queue in which its packets waited, or
// latency where there was none. It returns what was lost beyond line rate.
func (b *blamer) split(row *result.CollectiveRow, p piece, own alone, lost unit.Time) (
	a ledger, beyond unit.Time) {
	msg, met := &b.r.seen.Messages[p.message], b.r.trouble(p.message)
	w := &window{from: p.from + own.relay, to: p.to, message: p.message, op: p.op,
		coll: b.r.dag.Ops[p.op].Coll,
		wire: b.r.wireBytes(msg.Bytes)}
	src, dst := b.r.seen.peers(msg.Conn)
	nic, others := b.share.atNIC(b.share.bySender[src], b.r.nicRate(src), b.r.nicPort(msg.Conn), w)
	whole := max(0, min(lost, b.spare, nic.fair-own.line, unit.Serialize(others.same, b.r.nicRate(src))))
	b.spare -= whole
	row.Lost.Own[cause.LineRate] += int64(whole)
	a = newLedger(&row.Lost, lost-whole)
	a.port, a.flows = nic.port, nic.flows
	beyond = a.lost
	nic = b.share.slowed(nic, b.share.nicPorts(src, true), false, w)
	in, received := b.share.atNIC(b.share.byReceiver[dst], b.r.nicRate(dst), b.cableOf(dst), w)
	in = b.share.slowed(in, b.share.nicPorts(dst, false), false, w)
	balanced, chosen := b.share.between(msg.Conn, w)
	levels := [...]struct {
		cause.ID
		demand
	}{{cause.SharedNIC, nic}, {cause.Incast, in}, {cause.PCIe, b.share.pcie(&others, &received, w)},
		{cause.Oversubscription, balanced}, {cause.Collision, chosen}}
	reached, top, again := own.line+whole, 0, unit.Time(0)
	for i, l := range levels {
		a.book(l.ID, l.fair-reached, l.port, l.flows)
		reached, again = max(reached, l.fair), max(again, l.again)
		a.book(cause.SlowLink, l.fair+l.slow-reached, l.slowest, l.flows)
		reached = max(reached, l.fair+l.slow)
		if l.real > levels[top].real {
			top = i
		}
	}
	a.book(b.resent(&met), again, nic.port, 0)
	before := a.lost
	a.book(b.again(), met.Late, b.r.nicPort(msg.Conn), 0)
	b.late, b.timeouts = b.late+before-a.lost, b.timeouts+met.Timeouts
	a.book(levels[top].ID, levels[top].real-reached, levels[top].port, levels[top].flows)
	paused, at := b.paused(msg.Conn, w)
	a.book(cause.Pause, paused, at, 0)
	a.held(b.trigger(&a, msg.Conn, &met), &met)
	b.rest(&a, msg.Conn, met)
	return a, beyond
}

// trigger returns what congestion control reduced a transfer's rate for: the cause that its packets met where they
// waited longest, else what cost the transfer most.
func (b *blamer) trigger(l *ledger, conn int32, met *Trouble) cause.ID {
	_, dst := b.r.seen.peers(conn)
	switch {
	case l.trigger != cause.Recovering || met.Port < 0 || b.flows[met.Port] < 2:
		return l.trigger
	case met.Port == b.cableOf(dst) && len(b.senders[met.Port]) > 1:
		return cause.Incast
	case b.r.peer(met.Port).Role != topo.Host:
		return cause.Collision
	}
	return cause.Recovering
}

// resent returns what packets that went again are booked as: trimmed by a switch, overtaken, or lost.
func (b *blamer) resent(met *Trouble) cause.ID {
	if 2*met.Trimmed > met.Again {
		return cause.Trimmed
	}
	return b.again()
}

// again returns what packets that were not trimmed went again for.
func (b *blamer) again() cause.ID {
	if b.overtaken() {
		return cause.Reordering
	}
	return cause.Retransmission
}

// rest books what neither links nor pauses nor paces explain.
func (b *blamer) rest(a *ledger, conn int32, met Trouble) {
	top := met.Port
	if top < 0 && !met.Sampled { // too short for a sample: where its queue pair waits at other times
		if w := b.r.worstQueue(conn); w != nil {
			top = w.Port
		}
	}
	switch {
	case met.Again > 0:
		a.book(b.resent(&met), a.lost, b.r.nicPort(conn), 0)
	case top < 0 || b.flows[top] < 2:
		a.book(cause.Latency, a.lost, b.r.nicPort(conn), 0)
	case b.r.peer(top).Role == topo.Host && len(b.senders[top]) > 1:
		a.book(cause.Incast, a.lost, top, b.flows[top])
	case b.r.plan.Scheduled != nil:
		a.book(cause.Credit, a.lost, top, b.flows[top])
	default:
		a.book(cause.Collision, a.lost, top, b.flows[top])
	}
}

// cableOf is the port of a switch that leads to a NIC.
func (b *blamer) cableOf(nic int32) int32 {
	n := b.r.graph.NICs[nic]
	return b.r.seen.Ports[b.r.port(n.Links[0], b.r.graph.Hosts[n.Host])].Peer
}

// paused is how long a transfer's path was paused for the sake of a link elsewhere, and
// at which port longest. A pause whose root is on the path itself costs nothing beside:
// that link is busy all the while.
func (b *blamer) paused(conn int32, w *window) (sum unit.Time, port int32) {
	_, dst := b.r.seen.peers(conn)
	own := func(root int32) bool {
		return root == b.cableOf(dst) || slices.Contains(b.share.path[conn].ports, root)
	}
	at := func(p int32) (sum unit.Time) {
		for _, s := range b.pauses.within(p, w.from, w.to) {
			if !own(b.pauses.root(s.cause, s.from)) {
				sum += min(s.to, w.to) - max(s.from, w.from)
			}
		}
		return sum
	}
	port = b.r.nicPort(conn)
	sum = at(port)
	b.r.waitsOf(conn, func(x Wait) {
		if d := at(x.Port); d > sum || d == sum && x.Port < port {
			sum, port = d, x.Port
		}
	})
	return sum, port
}

// evidence says what a row shows of a cause: the place where most of it was, and who met there.
func (b *blamer) evidence(id cause.ID, row *result.CollectiveRow) string {
	port, flows := "the network", b.shared
	if row.Port >= 0 {
		port = b.r.portName(row.Port)
	}
	share, end := unit.Plural(flows, "flow")+" share", unit.Plural(flows, "flow")+" end"
	if flows == 1 {
		share, end = share+"s", end+"s"
	}
	switch id {
	case cause.Latency:
		if b.r.plan.Scheduled != nil {
			return "latency of its chain of transfers: propagation, switches, the round trip of credit, NICs and NVLink"
		}
		return "latency of its chain of transfers: propagation, switches, NICs and NVLink"
	case cause.Recovering:
		s := "congestion control has not given back the rate"
		if row.Port >= 0 {
			if s += " that it cut for the queue at " + port; b.earlier {
				s += ", where its packets had waited earlier"
			}
		}
		return s
	case cause.Window:
		return "the window was too small to keep its path busy"
	case cause.Credit:
		if b.r.plan.Scheduled != nil {
			return "it waited for credit that the egress port had not granted yet"
		}
		return "it waited for credit that the receiver had not granted yet"
	case cause.Collision:
		if b.r.seen.Rules.Detours { // and where the shortest ways lead is no reason for room nearby
			return fmt.Sprintf("detours: %s the link %s, each on its way round", share, port)
		}
		return fmt.Sprintf("hash collision: %s the link %s, others nearby have room", share, port)
	case cause.Oversubscription:
		return fmt.Sprintf("oversubscription: %s the links beside %s, which have less capacity together", share, port)
	case cause.SlowLink:
		return b.r.slowness(row.Port, unit.Time(row.Start), unit.Time(row.End))
	case cause.Incast:
		return fmt.Sprintf("incast: %s at %s", end, port)
	case cause.Pause:
		return fmt.Sprintf("PFC paused %s%s while there was room behind it", port, b.root(row.Port))
	case cause.Retransmission, cause.Reordering:
		return b.resending(id, unit.Time(row.Lost.Own[id]))
	case cause.Trimmed:
		return "packets that switches had trimmed and that were sent again"
	case cause.PCIe:
		return "PCIe between GPU and NIC is slower than the wire"
	case cause.SharedNIC:
		return "other transfers of the same NIC or NVLink port were served meanwhile"
	case cause.LateRank:
		return "a rank came later than the first one"
	}
	return id.Get().Name
}

// explain says the largest part in a sentence.
func (b *blamer) explain(row *result.CollectiveRow) string {
	gap := unit.Time(row.End - row.Start - row.Lost.Own[cause.LineRate])
	if gap <= 0 {
		return "at line rate"
	}
	top, most := cause.LineRate, int64(0)
	for _, c := range cause.All() {
		if ps := row.Lost.Of(c.ID); c.Loss && ps > most {
			top, most = c.ID, ps
		}
	}
	if most == 0 {
		return "at line rate"
	}
	return fmt.Sprintf("%v of the %v beyond line rate: %s", unit.Time(most), gap, b.evidence(top, row))
}

// overtaken reports whether packets go again although none was lost: they overtake one another, and go-back-N takes
// that for loss.
func (b *blamer) overtaken() bool {
	if !b.r.plan.Mixes() {
		return false
	}
	for i := range b.r.seen.Ports {
		if p := &b.r.seen.Ports[i].Packets; p.Drops+p.Trims > 0 {
			return false
		}
	}
	return true
}

// resending says why packets went again, of which a time is blamed: after what, and, where nothing was
// lost, what was taken for a loss.
func (b *blamer) resending(id cause.ID, all unit.Time) string {
	late := 2*b.late > all
	switch {
	case late && b.timeouts == 0:
		return "packets that were sent again after silence: nothing came behind what was lost that told of it"
	case late && id == cause.Reordering:
		return fmt.Sprintf("retransmission time-outs, %v each: its packets overtook one another, go-back-N "+
			"takes that for loss and throws them away, and behind the last of them nothing told of it",
			b.r.plan.RC.Timeout)
	case late:
		return fmt.Sprintf("retransmission time-outs, %v each: nothing came behind what was lost that told "+
			"of it", b.r.plan.RC.Timeout)
	case id == cause.Reordering:
		return "packets that were sent again, though none was lost: they overtook one another, and " +
			"go-back-N takes that for loss"
	}
	return "packets that were sent again"
}

// root names whose congestion paused a port.
func (b *blamer) root(port int32) string {
	if port < 0 {
		return ""
	}
	if closed := b.r.closedChain(port); closed != "" {
		return ", by " + closed
	}
	if chain := b.r.pauseChain(port); len(chain) > 0 {
		return ", root " + chain[len(chain)-1]
	}
	return ""
}
