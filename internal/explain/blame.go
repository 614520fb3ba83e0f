package explain

import (
	"fmt"
	"railyard/internal/cause"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/unit"
)

// resent returns what packets that went again are booked as: trimmed by a switch, dropped by a full NIC, overtaken,
// or lost.
func (b *blamer) resent(met *Trouble) cause.ID {
	if 2*met.Trimmed > met.Again {
		return cause.Trimmed
	}
	if 2*met.Refused > met.Again {
		return cause.ReorderMemory
	}
	return b.again()
}

// again returns what packets that were not trimmed went again for.
func (b *blamer) again() cause.ID {
	switch {
	case b.overtaken():
		return cause.Reordering
	case b.refused():
		return cause.ReorderMemory
	}
	return cause.Retransmission
}

// refused reports whether NICs dropped packets for want of reorder memory, and nothing else did.
func (b *blamer) refused() bool {
	of := b.r.seen.Counted.Reorder
	return of != nil && of.Refused > 0 && !b.dropped()
}

// dropped reports whether a switch or a link dropped packets, or trimmed them.
func (b *blamer) dropped() bool {
	for i := range b.r.seen.Ports {
		if p := &b.r.seen.Ports[i].Packets; p.Drops+p.Trims > 0 {
			return true
		}
	}
	return false
}

// cableOf is the port of a switch that leads to a NIC.
func (b *blamer) cableOf(nic int32) int32 {
	n := b.r.graph.NICs[nic]
	return b.r.seen.Ports[b.r.port(n.Links[0], b.r.graph.Hosts[n.Host])].Peer
}

// paused returns how long a transfer's path was paused because of a link elsewhere, and the port with the longest
// pause. A pause whose root is on the path itself costs nothing more, because that link is busy during the pause.
func (b *blamer) paused(conn int32, w *window) (sum unit.Time, port int32) {
	_, dst := b.r.seen.peers(conn)
	own := func(root int32) bool {
		return root == b.cableOf(dst) || slices.Contains(b.share.path[conn].ports, root)
	}
	at := func(p int32) unit.Time { return b.pauses.elsewhere(p, w.from, w.to, own) }
	port = b.r.nicPort(conn)
	sum = at(port)
	b.r.waitsOf(conn, func(x Wait) {
		if d := at(x.Port); d > sum || d == sum && x.Port < port {
			sum, port = d, x.Port
		}
	})
	return sum, port
}

// evidence describes how a row shows a cause: the place with the largest part of it, and the flows that met there.
func (b *blamer) evidence(id cause.ID, row *result.CollectiveRow) string {
	port, flows, at := "the network", b.shared, row.Port
	if at >= 0 {
		port = b.r.portName(at)
	}
	share, end := ": "+unit.Plural(flows, "flow")+" share the link "+port, ": "+unit.Plural(flows, "flow")+" end at "+port
	switch { // one flow shares nothing: who met it had another way
	case flows <= 1 && at >= 0 && b.r.graph.Nodes[b.r.seen.Ports[at].Node].Role == topo.Host:
		share, end = "", ""
	case flows <= 1:
		share, end = " at "+port, " at "+port
	}
	failed := ""
	if b.failed != "" {
		failed = "; down: " + b.failed
	}
	switch id {
	case cause.Latency:
		if b.r.plan.Scheduled != nil {
			return "latency of its chain of transfers: propagation, switches, credit round trip, NICs and NVLink"
		}
		return "latency of its chain of transfers: propagation, switches, NICs and NVLink"
	case cause.Recovering:
		s := "CC recovering"
		if row.Port >= 0 && b.r.graph.Nodes[b.r.seen.Ports[row.Port].Node].Role != topo.Host { // else in no queue
			if s += " after the queue at " + port; b.earlier {
				s += ", in which its packets waited earlier"
			}
		}
		return s
	case cause.Window:
		return "window limit: the window does not fill the path"
	case cause.Credit:
		if b.r.plan.Scheduled != nil {
			return "blocked on credit of the egress port"
		}
		return "blocked on credit of the receiver"
	case cause.SprayImbalance:
		if at >= 0 && b.r.peer(at).Role == topo.Host {
			return "spray imbalance: packets come in bunches to " + port + failed
		}
		return "spray imbalance" + share + ", other links of the group have spare capacity" + failed
	case cause.Collision, cause.Oversubscription:
		switch {
		case b.r.routing() != "":
			return "oversubscription" + share + ", the path of " + b.r.routing() + failed
		case b.r.seen.Rules.Detours: // where the shortest ways lead is no reason for room nearby
			return "detours" + share + failed
		case id == cause.Oversubscription && (at < 0 || len(b.acc.m.in[at]) == 0):
			return "oversubscription" + share + ", which has less capacity" + failed
		case id == cause.Oversubscription && failed != "":
			return "oversubscription" + share + " and its parallel links" + failed
		case id == cause.Oversubscription:
			return "oversubscription" + share + " and its parallel links, which have less capacity"
		case failed != "":
			return "ECMP hash collision" + share + failed
		}
		return "ECMP hash collision" + share + ", other links of the group have spare capacity"
	case cause.FailedCapacity:
		broken := b.r.brokenAt(unit.Time(row.End))
		if n := len(broken); n > 3 {
			broken = append(broken[:3:3], fmt.Sprintf("and %d more", n-3))
		}
		switch {
		case len(broken) > 0:
			return "failed capacity: down: " + strings.Join(broken, ", ")
		case failed != "": // and is up again
			return "failed capacity: down: " + b.failed
		}
		return "failed capacity: a link was down"
	case cause.SlowLink:
		return b.r.slowness(row.Port, unit.Time(row.Start), unit.Time(row.End))
	case cause.Incast:
		return "incast" + end + failed
	case cause.Pause:
		return fmt.Sprintf("PFC pauses of %s%s, although the next link had spare capacity", port, b.root(row.Port))
	case cause.Retransmission, cause.Reordering:
		s := b.resending(id, unit.Time(row.Lost.Own[id]))
		if b.down() { // packets were lost on what was down
			s += failed
		}
		return s
	case cause.ReorderMemory:
		return "reorder memory overflow" + b.storeOf()
	case cause.Trimmed:
		return "retransmission of trimmed packets"
	case cause.PCIe:
		return "PCIe between GPU and NIC is slower than the link"
	case cause.OnePort:
		return b.onePort()
	case cause.HostCores:
		return "host cores: system calls, copies through host memory, packets and interrupts"
	case cause.StorageMedia, cause.StorageNIC:
		return b.storageOf(id)
	case cause.SharedNIC:
		return "shared NIC or NVLink port: other transfers were served first"
	case cause.SlowRank:
		return "slow rank: its computing takes longer than that of its siblings"
	case cause.LateRank:
		return "straggler: a rank started later than the first"
	}
	if c := id.Get(); c.Outside() {
		return b.acc.outside.evidence(c, b.worst)
	}
	return id.Get().Name
}

// storeOf names the NIC whose reorder memory was fullest, and the packets that NICs dropped.
func (b *blamer) storeOf() string {
	of := b.r.seen.Counted.Reorder
	if of == nil {
		return ""
	}
	used := unit.Bytes(of.Peak).Show() + " of " + unit.Bytes(of.Limit).Show()
	if of.Entries > 0 && (of.Limit == 0 || of.Packets >= of.Entries) { // the limit that was reached
		used = fmt.Sprintf("%s of %s", unit.ShowCount(int64(of.Packets)), unit.Plural(of.Entries, "packet"))
	}
	return fmt.Sprintf(": %s dropped packets ahead of others; %s had %s in use", unit.Plural(of.Full, "NIC"), of.NIC, used)
}

// explain describes the leading cause of a row in a sentence.
func (b *blamer) explain(row *result.CollectiveRow) string {
	gap := unit.Time(row.End - row.Start - row.Lost.Own[cause.LineRate])
	if gap <= 0 {
		return "at line rate"
	}
	top, _ := row.Lost.Leading(0)
	if row.Lost.Costs(top) == 0 {
		return "at line rate"
	}
	costs, recovering := row.Lost.Show(top)
	if recovering && top == cause.Pause { // which have a place other than the queue
		return fmt.Sprintf("%s of %s above line rate: %s; %s of it CC recovering", unit.Time(row.Lost.Costs(top)).Show(),
			gap.Show(), b.evidence(top, row), costs)
	}
	if recovering {
		top = cause.Recovering
	}
	return fmt.Sprintf("%s of %s above line rate: %s", costs, gap.Show(), b.evidence(top, row))
}

// overtaken reports whether packets are retransmitted because they overtake each other and go-back-N treats that as
// loss. In that case nothing was lost, or gaps were reported much more often than packets were lost.
func (b *blamer) overtaken() bool {
	c, s := &b.r.seen.Counted, b.r.plan.Default()
	switch {
	case b.r.seen.Packets == nil || s.Carried != nil || b.r.plan.RC.Recovery != rc.GoBackN:
		return false
	case !b.dropped() && c.Naks > 0: // a flow that moves to another path, too
		return true
	case !b.r.plan.Mixes():
		return false
	}
	return !b.dropped() || c.Naks > 2*(c.Drops+c.Trims)
}

// resending says why packets went again, of which a time is blamed: after what, and, where nothing was
// lost, what was taken for a loss.
func (b *blamer) resending(id cause.ID, all unit.Time) string {
	late := 2*b.late > all
	switch {
	case late && b.timeouts == 0:
		return "retransmission after silence: no later packet revealed the loss"
	case late && id == cause.Reordering:
		return fmt.Sprintf("retransmission timeouts of %s: go-back-N treats reordering as loss and discards the packets, and no later packet revealed the last ones", b.r.plan.RC.Timeout.Show())
	case late && b.r.seen.NaksLost > 0 && b.r.seen.NaksLost >= b.r.seen.Counted.Timeouts:
		return fmt.Sprintf("retransmission timeouts of %s: the NAK was lost", b.r.plan.RC.Timeout.Show())
	case late && b.r.seen.NaksLost > 0:
		return fmt.Sprintf("retransmission timeouts of %s: no later packet revealed the loss, or the NAK was lost",
			b.r.plan.RC.Timeout.Show())
	case late:
		return fmt.Sprintf("retransmission timeouts of %s: no later packet revealed the loss", b.r.plan.RC.Timeout.Show())
	case id == cause.Reordering:
		return "spurious retransmission: go-back-N treats reordering as loss"
	}
	return "retransmission"
}

// root names whose congestion paused a port.
func (b *blamer) root(port int32) string {
	if port < 0 {
		return ""
	}
	if closed := b.r.closedChain(port); closed != "" {
		return " by " + closed
	}
	if chain := b.r.pauseChain(port); len(chain) > 0 {
		return ", root " + chain[len(chain)-1]
	}
	return ""
}
