package mrc

import (
	"railyard/cc"
	"railyard/transport"
	"railyard/unit"
)

var counters = []cc.Term{
	{Name: cc.CounterCuts, Doc: "cuts of the window to a destination, by the answers of each connection"},
	{Name: "retransmissions", Doc: "packets retransmitted"},
	{Name: transport.CounterTimeouts, Doc: "packets without an answer"},
	{Name: "early", Doc: "packets retransmitted because later ones had arrived"},
	{Name: "skip_once", Doc: "SACKs that report a marked path"},
	{Name: "always_skip", Doc: "SACKs that report an invalid path"},
	{Name: "nack_trimmed", Doc: "NACKs: a switch had cut the payload off"},
	{Name: "nack_trimmed_lasthop", Doc: "NACKs: the last switch had"},
	{Name: "nack_no_bitmap", Doc: "NACKs: no room to track the packet"},
	{Name: "nack_no_pkt_buffer", Doc: "NACKs: no room for the packet"},
	{Name: "nack_no_resource", Doc: "NACKs: nothing for a WRITE with immediate to end in"},
	{Name: "nack_psn_oor_window", Doc: "NACKs: beyond the range that is tracked"},
	{Name: "nack_unexp_event", Doc: "NACKs: the connection is broken"},
	{Name: "ev_skips", Doc: "entropy values left out for the rest of a round"},
	{Name: "ev_bad", Doc: "entropy values withdrawn because no packet arrived by them"},
	{Name: "ev_replaced", Doc: "of them for which there was one in the reserve"},
	{Name: "ev_restored", Doc: "entropy values that a probe has brought back"},
	{Name: "ev_rounds", Doc: "rounds of the active values, of all planes"},
	{Name: "probes", Doc: "questions about the connection, by one path"},
	{Name: "port_updates", Doc: "Port Status Updates sent"},
	{Name: "penalties", Doc: "SACKs by which the receiver wanted smaller windows"},
	{Name: "malformed", Doc: "packets that make no sense"},
	{Name: "sacks", Doc: "SACKs sent"},
	{Name: "reverse_probes", Doc: "questions about paths of SACKs"},
	{Name: "reverse_changes", Doc: "paths of SACKs given up because no probe was answered"},
	{Name: transport.CounterReordered, Doc: "packets that overtook an earlier one"},
	{Name: transport.CounterDuplicates, Doc: "packets that arrived twice"},
}

type senderCounts struct {
	again, timeouts, skipOnce, always, malformed, penalties, cuts int64
	nacks                                                         [len(reasons)]int64
}

type receiverCounts struct {
	reordered, held, placed                        int64 // by every packet
	duplicates, sacks, refused, trimmed, malformed int64
}

// nackCounters are the counters of NACKs in the order of reasons.
var nackCounters = [len(reasons)]string{"nack_trimmed", "nack_trimmed_lasthop", "nack_no_bitmap",
	"nack_no_pkt_buffer", "nack_no_resource", "nack_psn_oor_window", "nack_unexp_event"}

// Counter returns a sender's counters. The first sender of a peer also returns the peer's counters, so that sums
// over connections are correct.
func (s *Sender) Counter(name string) (n int64, ok bool) {
	for i, x := range nackCounters {
		if x == name {
			return s.n.nacks[i], true
		}
	}
	switch name {
	case cc.CounterCuts:
		return s.n.cuts, true
	case "retransmissions":
		return s.n.again, true
	case transport.CounterTimeouts:
		return s.n.timeouts, true
	case "skip_once":
		return s.n.skipOnce, true
	case "always_skip":
		return s.n.always, true
	case "probes":
		return s.probes.said, true
	case "port_updates":
		return s.ports.updates, true
	case "penalties":
		return s.n.penalties, true
	case "malformed":
		return s.n.malformed, true
	}
	if n, ok = s.peer.counter(name); ok && !s.first {
		n = 0
	}
	return n, ok
}

// counter returns a peer's counters, or the counters of its congestion control.
func (p *Peer) counter(name string) (n int64, ok bool) {
	switch name {
	case "early":
		return p.early.n, true
	case "ev_skips":
		return p.evs.skips, true
	case "ev_bad":
		return p.evs.condemned, true
	case "ev_replaced":
		return p.evs.replaced, true
	case "ev_restored":
		return p.evs.restored, true
	case "ev_rounds":
		return p.evs.rounds, true
	}
	return p.pace.Ctl.Counter(name)
}

// Signal returns the window, the round trip and the entropy values of the sender's peer, and the signals of its
// congestion control.
func (s *Sender) Signal(now unit.Time, name string) (float64, bool) {
	p := s.peer
	switch name {
	case cc.SignalRate:
		rate := float64(p.pace.Rate)
		if w := p.window(now); w > 0 {
			rate = min(rate, 8*float64(w)/max(p.roundTrip(), 1).Seconds())
		}
		return rate, true
	case cc.SignalWindow:
		return float64(p.window(now)), true
	case cc.SignalDelay:
		return p.rtt.last.Seconds(), true
	case "active_evs":
		return float64(p.evs.active()), true
	}
	return p.pace.Ctl.Signal(now, name)
}

// Counter returns a receiver's counters.
func (r *Receiver) Counter(name string) (n int64, ok bool) {
	switch name {
	case "sacks":
		return r.n.sacks, true
	case "reverse_probes":
		return r.reverse.asked, true
	case "reverse_changes":
		return r.reverse.changed, true
	case "port_updates":
		return r.ports.updates, true
	case "malformed":
		return r.n.malformed, true
	case transport.CounterReordered:
		return r.n.reordered, true
	case transport.CounterDuplicates:
		return r.n.duplicates, true
	case transport.CounterHeldPeak:
		return r.n.held, true
	case transport.CounterPlaced:
		return r.n.placed, true
	}
	return 0, false
}
