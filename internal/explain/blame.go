package explain

import (
	"fmt"
	"railyard/internal/cause"
	"slices"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

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
	case cause.Collision, cause.Oversubscription:
		switch {
		case b.r.seen.Rules.Detours: // where the shortest ways lead is no reason for room nearby
			return fmt.Sprintf("detours: %s the link %s, each on its way round", share, port)
		case id == cause.Oversubscription:
			return fmt.Sprintf("oversubscription: %s the links beside %s, which have less capacity together", share, port)
		}
		return fmt.Sprintf("hash collision: %s the link %s, others nearby have room", share, port)
	case cause.FailedCapacity:
		broken := b.r.brokenAt(unit.Time(row.End))
		if n := len(broken); n > 3 {
			broken = append(broken[:3:3], fmt.Sprintf("and %d more", n-3))
		}
		if len(broken) == 0 {
			return "failed capacity: a link was down"
		}
		return "failed capacity: down are " + strings.Join(broken, ", ")
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
