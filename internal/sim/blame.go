package sim

import (
	"fmt"

	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// split books what a transfer took beyond its own bytes and latency. First what its
// links had to carry in that time, each kind beyond the ones before, because a run with
// fair sharing and no other trouble would take that too: the NIC's other bytes (at line
// rate as long as they are the same collective's), the receiver's, what links between
// switches carry when load balancing is perfect, and what the link carries on which
// hashing put it. In the rest of the time its path had room: as long as it was paused,
// that is the pause; then packets sent again; then the pace of congestion control. What
// remains is the queue in which its packets waited, or latency where there was none. It
// returns what was beyond line rate, the port to blame and how many flows met there.
func (b *blamer) split(row *result.CollectiveRow, p piece, a alone, lost unit.Time) (beyond unit.Time, port int32, flows int) {
	msg, met := &b.Hosts.Messages[p.message], &b.troubles.all[p.message]
	w := &window{from: p.from + a.relay, to: p.to, message: p.message, op: p.op, coll: b.DAG.Ops[p.op].Coll, wire: b.wireBytes(msg.Bytes)}
	src, dst := b.Hosts.Peers(msg.Conn)
	nic := b.nicPort(msg.Conn)
	largest := unit.Time(0)
	book := func(to *int64, d unit.Time, at int32, met int) {
		d = max(0, min(d, lost))
		*to += int64(d)
		if lost -= d; d > largest {
			largest, port, flows = d, at, met
		}
	}
	n := b.sent(b.bySender[src], w)
	reached := max(a.line, unit.Serialize(w.wire+n.all, b.nicRate(src)))
	whole := max(0, min(lost, b.spare, reached-a.line, unit.Serialize(n.same, b.nicRate(src))))
	b.spare -= whole
	row.Ideal += int64(whole)
	lost -= whole
	beyond, port, flows = lost, nic, n.qps+1
	book(&row.SharedNIC, reached-a.line-whole, nic, n.qps+1)
	level := func(to *int64, busy unit.Time, at int32, met int) {
		book(to, busy-reached, at, met)
		reached = max(reached, busy)
	}
	in := b.sent(b.byReceiver[dst], w)
	level(&row.Incast, unit.Serialize(w.wire+in.all, b.nicRate(dst)), b.cableOf(dst), in.qps+1)
	busy, at, met0 := b.busiest(b.path[msg.Conn].balanced, w)
	level(&row.Oversub, busy, at, met0)
	busy, at, met0 = b.busiest(b.path[msg.Conn].hashed, w)
	level(&row.Collision, busy, at, met0)
	paused, at := b.paused(msg.Conn, w)
	book(&row.Pause, paused, at, 0)
	again := met.again > 0
	if again {
		book(&row.Retrans, unit.Time(met.again)*unit.Serialize(b.wireBytes(unit.Bytes(b.Host.RC.MTU)), b.cost(msg.Conn).rate), nic, 0)
	}
	top := met.port
	book(&row.Held, met.held, max(top, -1), 0)
	if top < 0 && !met.sampled { // too short for a sample: where its queue pair waits at other times
		if w := b.worstQueue(msg.Conn); w != nil {
			top = w.Port
		}
	}
	switch {
	case again: // the NAK's or the timeout's time
		book(&row.Retrans, lost, nic, 0)
	case top < 0 || b.flows[top] < 2:
		book(&row.Latency, lost, nic, 0)
	case b.Graph.Nodes[b.Net.Ports[b.Net.Ports[top].Peer].Node].Role == topo.Host && len(b.senders[top]) > 1:
		book(&row.Incast, lost, top, b.flows[top])
	default:
		book(&row.Collision, lost, top, b.flows[top])
	}
	return beyond, port, flows
}

// cableOf is the port of a switch that leads to a NIC.
func (b *blamer) cableOf(nic int32) int32 {
	n := b.Graph.NICs[nic]
	return b.Net.Ports[b.Port(n.Links[0], b.Graph.Hosts[n.Host])].Peer
}

// paused is how long a transfer's path was paused, and at which port longest.
func (b *blamer) paused(conn int32, w *window) (sum unit.Time, port int32) {
	sum, port = b.pauses.overlap(b.nicPort(conn), w.from, w.to), b.nicPort(conn)
	b.Net.Waits.Of(conn, func(x fabric.Wait) {
		if d := b.pauses.overlap(x.Port, w.from, w.to); d > sum || d == sum && x.Port < port {
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
		port = b.PortName(row.Port)
	}
	queue := ""
	if row.Port >= 0 {
		queue = " that it cut for the queue at " + port
	}
	if b.earlier && row.Port >= 0 {
		queue += ", where its packets had waited earlier"
	}
	return []cause{
		{unit.Time(row.Latency), "latency of its chain of transfers: propagation, switches, NICs and NVLink"},
		{unit.Time(row.Held), "congestion control has not given back the rate" + queue},
		{unit.Time(row.Collision), fmt.Sprintf("hash collision: %d flows share the link %s, others nearby have room", flows, port)},
		{unit.Time(row.Oversub), fmt.Sprintf("oversubscription: %d flows share the links beside %s, which have less capacity together", flows, port)},
		{unit.Time(row.Incast), fmt.Sprintf("incast: %d flows end at %s", flows, port)},
		{unit.Time(row.Pause), fmt.Sprintf("PFC paused %s%s while there was room behind it", port, b.root(row.Port))},
		{unit.Time(row.Retrans), "packets that were sent again"},
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

// root names whose congestion paused a port.
func (b *blamer) root(port int32) string {
	if port < 0 {
		return ""
	}
	if chain := b.pauseChain(port); len(chain) > 0 {
		return ", root " + chain[len(chain)-1]
	}
	return ""
}
