package explain

import (
	"fmt"
	"slices"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// account books what a transfer lost, piece by piece, and remembers the largest.
type account struct {
	lost, largest unit.Time
	port          int32
	flows         int
}

func (a *account) book(to *int64, d unit.Time, port int32, flows int) {
	d = max(0, min(d, a.lost))
	*to += int64(d)
	if a.lost -= d; d > a.largest {
		a.largest, a.port, a.flows = d, port, flows
	}
}

// held books what congestion control kept back: each of its ways its share of what is left.
func (a *account) held(row *result.CollectiveRow, met *Trouble) {
	all, left := met.Held+met.Window+met.Credit, a.lost
	if all <= 0 {
		return
	}
	for _, x := range []struct {
		to   *int64
		long unit.Time
	}{{&row.Credit, met.Credit}, {&row.Window, met.Window}, {&row.Held, met.Held}} {
		if all > left {
			x.long = unit.Time(float64(x.long) * (float64(left) / float64(all)))
		}
		a.book(x.to, x.long, met.Port, 0)
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
	a account, beyond unit.Time) {
	msg, met := &b.r.seen.Messages[p.message], b.r.trouble(p.message)
	w := &window{from: p.from + own.relay, to: p.to, message: p.message, op: p.op,
		coll: b.r.dag.Ops[p.op].Coll,
		wire: b.r.wireBytes(msg.Bytes)}
	src, dst := b.r.seen.peers(msg.Conn)
	nic, others := b.share.atNIC(b.share.bySender[src], b.r.nicRate(src), b.r.nicPort(msg.Conn), w)
	whole := max(0, min(lost, b.spare, nic.fair-own.line, unit.Serialize(others.same, b.r.nicRate(src))))
	b.spare -= whole
	row.Ideal += int64(whole)
	a = account{lost: lost - whole, port: nic.port, flows: nic.flows}
	beyond = a.lost
	nic = b.share.slowed(nic, b.share.nicPorts(src, true), false, w)
	in, received := b.share.atNIC(b.share.byReceiver[dst], b.r.nicRate(dst), b.cableOf(dst), w)
	in = b.share.slowed(in, b.share.nicPorts(dst, false), false, w)
	balanced, chosen := b.share.between(msg.Conn, w)
	levels := [...]struct {
		to *int64
		demand
	}{{&row.SharedNIC, nic}, {&row.Incast, in}, {&row.PCIe, b.share.pcie(&others, &received, w)},
		{&row.Oversub, balanced}, {&row.Collision, chosen}}
	reached, top, again := own.line+whole, 0, unit.Time(0)
	for i, l := range levels {
		a.book(l.to, l.fair-reached, l.port, l.flows)
		reached, again = max(reached, l.fair), max(again, l.again)
		a.book(&row.SlowLink, l.fair+l.slow-reached, l.slowest, l.flows)
		reached = max(reached, l.fair+l.slow)
		if l.real > levels[top].real {
			top = i
		}
	}
	a.book(resent(row, &met), again, nic.port, 0)
	before := a.lost
	a.book(&row.Retrans, met.Late, b.r.nicPort(msg.Conn), 0)
	b.late, b.timeouts = b.late+before-a.lost, b.timeouts+met.Timeouts
	a.book(levels[top].to, levels[top].real-reached, levels[top].port, levels[top].flows)
	paused, at := b.paused(msg.Conn, w)
	a.book(&row.Pause, paused, at, 0)
	a.held(row, &met)
	b.rest(&a, row, msg.Conn, met)
	return a, beyond
}

// resent is where packets that went again are booked: those that a switch had trimmed apart.
func resent(row *result.CollectiveRow, met *Trouble) *int64 {
	if 2*met.Trimmed > met.Again {
		return &row.Trimmed
	}
	return &row.Retrans
}

// rest books what neither links nor pauses nor paces explain.
func (b *blamer) rest(a *account, row *result.CollectiveRow, conn int32, met Trouble) {
	top := met.Port
	if top < 0 && !met.Sampled { // too short for a sample: where its queue pair waits at other times
		if w := b.r.worstQueue(conn); w != nil {
			top = w.Port
		}
	}
	switch {
	case met.Again > 0:
		a.book(resent(row, &met), a.lost, b.r.nicPort(conn), 0)
	case top < 0 || b.flows[top] < 2:
		a.book(&row.Latency, a.lost, b.r.nicPort(conn), 0)
	case b.r.peer(top).Role == topo.Host && len(b.senders[top]) > 1:
		a.book(&row.Incast, a.lost, top, b.flows[top])
	case b.r.plan.Scheduled != nil:
		a.book(&row.Credit, a.lost, top, b.flows[top])
	default:
		a.book(&row.Collision, a.lost, top, b.flows[top])
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

// cause is one part of what was lost, and in words.
type cause struct {
	lost unit.Time
	text string
}

// parts lists what a row lost, with the place where most of it was.
func (b *blamer) parts(row *result.CollectiveRow) []cause {
	port, flows := "the network", b.shared
	if row.Port >= 0 {
		port = b.r.portName(row.Port)
	}
	queue := ""
	if row.Port >= 0 {
		queue = " that it cut for the queue at " + port
	}
	if b.earlier && row.Port >= 0 {
		queue += ", where its packets had waited earlier"
	}
	share, end := unit.Plural(flows, "flow")+" share", unit.Plural(flows, "flow")+" end"
	if flows == 1 {
		share, end = share+"s", end+"s"
	}
	picked := fmt.Sprintf("hash collision: %s the link %s, others nearby have room", share, port)
	if b.r.seen.Rules.Detours { // and where the shortest ways lead is no reason for room nearby
		picked = fmt.Sprintf("detours: %s the link %s, each on its way round", share, port)
	}
	latency, credit := "propagation, switches, NICs and NVLink", "receiver"
	if b.r.plan.Scheduled != nil {
		latency, credit = "propagation, switches, the round trip of credit, NICs and NVLink", "egress port"
	}
	return []cause{
		{unit.Time(row.Latency), "latency of its chain of transfers: " + latency},
		{unit.Time(row.Held), "congestion control has not given back the rate" + queue},
		{unit.Time(row.Window), "the window was too small to keep its path busy"},
		{unit.Time(row.Credit), "it waited for credit that the " + credit + " had not granted yet"},
		{unit.Time(row.Collision), picked},
		{unit.Time(row.Oversub), fmt.Sprintf("oversubscription: %s the links beside %s, "+
			"which have less capacity together", share, port)},
		{unit.Time(row.SlowLink), b.r.slowness(row.Port, unit.Time(row.Start), unit.Time(row.End))},
		{unit.Time(row.Incast), fmt.Sprintf("incast: %s at %s", end, port)},
		{unit.Time(row.Pause), fmt.Sprintf("PFC paused %s%s while there was room behind it", port,
			b.root(row.Port))},
		{unit.Time(row.Retrans), b.resending(unit.Time(row.Retrans))},
		{unit.Time(row.Trimmed), "packets that switches had trimmed and that were sent again"},
		{unit.Time(row.PCIe), "PCIe between GPU and NIC is slower than the wire"},
		{unit.Time(row.SharedNIC), "other transfers of the same NIC or NVLink port were served meanwhile"},
		{unit.Time(row.Late), "a rank came later than the first one"},
	}
}

// explain says the largest part in a sentence.
func (b *blamer) explain(row *result.CollectiveRow) string {
	gap := unit.Time(row.End - row.Start - row.Ideal)
	if gap <= 0 {
		return "at line rate"
	}
	var top cause
	for _, p := range b.parts(row) {
		if p.lost > top.lost {
			top = p
		}
	}
	return fmt.Sprintf("%v of the %v beyond line rate: %s", top.lost, gap, top.text)
}

// resending says why packets went again, of which a time is blamed: after what, and, where nothing was
// lost, what was taken for a loss.
func (b *blamer) resending(all unit.Time) string {
	p, lost := b.r.plan, int64(0)
	for i := range b.r.seen.Ports {
		lost += b.r.seen.Ports[i].Packets.Drops + b.r.seen.Ports[i].Packets.Trims
	}
	mixes := lost == 0 && p.Mixes()
	switch late := 2*b.late > all; {
	case late && b.timeouts == 0:
		return "packets that were sent again after silence: nothing came behind what was lost that told of it"
	case late && mixes:
		return fmt.Sprintf("retransmission time-outs, %v each: its packets overtook one another, go-back-N "+
			"takes that for loss and throws them away, and behind the last of them nothing told of it",
			p.RC.Timeout)
	case late:
		return fmt.Sprintf("retransmission time-outs, %v each: nothing came behind what was lost that told "+
			"of it", p.RC.Timeout)
	case mixes:
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
