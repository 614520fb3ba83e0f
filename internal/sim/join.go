package sim

import (
	"cmp"
	"slices"

	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/unit"
)

// join merges the parts of a run: all records in one order, and the state of each node from the part that owns it.
// The parts may continue afterwards, and join again.
func (p *parts) join(r *Run) {
	first := p.of[0]
	r.Exec, r.conns, r.interrupted = first.Exec, first.conns, first.interrupted
	events, pauses, at := uint64(0), make([][]result.PauseRow, len(p.of)), make([][]fabric.Moment, len(p.of))
	r.Net.Adopts()
	r.Hosts.Adopts(first.Hosts)
	r.carrier = &carrier{net: r.Network, exec: first.Exec, stop: first.carrier.stop,
		delivered: first.carrier.delivered, flying: first.carrier.flying, troubles: p.troubles(r.Network)}
	var dropped fabric.Moment
	for i, x := range p.of {
		if events += x.Net.Q.Popped() - x.apart.extra; i > 0 {
			events -= x.apart.common
		}
		pauses[i], at[i] = x.pauses, x.apart.pausesAt
		if d := x.dropped; d != nil && (r.dropped == nil || x.apart.droppedAt.Compare(dropped) < 0) {
			r.dropped, dropped = d, x.apart.droppedAt
		}
		r.Net.Adopt(x.Net)
		r.Hosts.Adopt(x.Hosts)
	}
	r.pauses = inTurn(pauses, at)
	r.holders.adopt(p.of, first.Net.Q.Now())
	r.sampler.adopt(p.of)
	r.Net.Q.Stand(first.Net.Q.Now(), events)
}

// troubles returns the events of messages from all parts.
func (p *parts) troubles(n *Network) *troubles {
	t := newTroubles(n)
	t.all = slices.Clone(p.of[0].carrier.troubles.all)
	t.qps = make([]soFar, len(p.of[0].carrier.troubles.qps))
	laps := slices.Clone(p.of[0].carrier.troubles.laps)
	for _, x := range p.of[1:] {
		t.add(laps, x.carrier.troubles)
	}
	for i, m := range p.of[0].carrier.troubles.order {
		t.settle(m, laps[i])
	}
	return t
}

// inTurn sorts rows of several parts in the order of their events.
func inTurn[T any](rows [][]T, at [][]fabric.Moment) (out []T) {
	all, next := 0, make([]int, len(rows))
	for _, x := range rows {
		all += len(x)
	}
	for len(out) < all {
		first := -1
		for i := range rows {
			if next[i] < len(rows[i]) && (first < 0 || at[i][next[i]].Compare(at[first][next[first]]) < 0) {
				first = i
			}
		}
		out = append(out, rows[first][next[first]])
		next[first]++
	}
	return out
}

// adopt merges the records of all parts.
func (h *holders) adopt(parts []*Run, now unit.Time) {
	rows, held := make([][]explain.Hold, len(parts)), make([][]explain.Held, len(parts))
	rowsAt, heldAt := make([][]fabric.Moment, len(parts)), make([][]fabric.Moment, len(parts))
	var lasting []explain.Hold
	for i, x := range parts {
		o := x.holders
		rows[i], rowsAt[i], held[i], heldAt[i] = o.rows, o.rowsAt, o.held, o.heldAt
		lasting = append(lasting, o.lasting(now)...)
	}
	slices.SortStableFunc(lasting, func(a, b explain.Hold) int {
		return cmp.Compare(at(a.Port, int(a.Priority)), at(b.Port, int(b.Priority)))
	})
	h.rows, h.held = append(inTurn(rows, rowsAt), lasting...), inTurn(held, heldAt)
	for i := maxHeldRows; i < len(h.held); i++ { // the sample that reaches the limit is complete
		if h.held[i].At != h.held[i-1].At || h.held[i].Port != h.held[i-1].Port {
			h.held = h.held[:i]
		}
	}
}

// adopt copies the samples of all parts.
func (s *sampler) adopt(parts []*Run) {
	first := parts[0].sampler
	s.interval, s.began, s.rows = first.interval, first.began, nil
	s.signals.rows, s.signals.missed, s.nics.rows = nil, 0, nil
	for _, x := range parts {
		o := &x.sampler.signals
		s.rows, s.signals.rows = append(s.rows, x.sampler.rows...), append(s.signals.rows, o.rows...)
		s.signals.missed += o.missed
		s.nics.rows = append(s.nics.rows, x.sampler.nics.rows...)
	}
	slices.SortStableFunc(s.rows, func(a, b result.LinkRow) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Port, b.Port))
	})
	slices.SortStableFunc(s.nics.rows, func(a, b result.NICRow) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.NIC, b.NIC))
	})
	g := &s.signals
	slices.SortStableFunc(g.rows, func(a, b result.SignalRow) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.QP, b.QP))
	})
	if more := len(g.rows) - maxSignalRows; more > 0 {
		g.rows, g.missed = g.rows[:maxSignalRows], g.missed+int64(more)
	}
}
