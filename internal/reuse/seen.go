package reuse

import (
	"cmp"
	"slices"

	"railyard/internal/explain"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/unit"
)

// ending returns the lab network's results since its group's first post.
func (l *lab) ending() *ending {
	g := l.of
	e := &ending{at: l.now(), counts: l.Counts()}
	was := counters(&l.counts)
	for i, n := range counters(&e.counts) {
		*n -= *was[i]
	}
	l.sampled()
	e.links = slices.Clone(l.links)
	for _, row := range l.pauses {
		if row.Port = l.label(row.Port); row.Cause >= 0 {
			row.Cause = l.label(row.Cause)
		}
		if row.Port >= 0 {
			e.pauses = append(e.pauses, row)
		}
	}
	ports := l.Ports()
	for _, p := range g.ports {
		if int(p) >= len(ports) {
			e.ports = append(e.ports, portCount{})
			continue
		}
		a, b := &ports[p], &l.ports[p]
		k := portCount{a.Bytes > b.Bytes, a.Bytes - b.Bytes, a.Packets}
		k.Frames, k.Marks, k.Drops, k.Trims = k.Frames-b.Packets.Frames, k.Marks-b.Packets.Marks,
			k.Drops-b.Packets.Drops, k.Trims-b.Packets.Trims
		k.PauseSent, k.PauseGot, k.Paused = k.PauseSent-b.Packets.PauseSent, k.PauseGot-b.Packets.PauseGot,
			k.Paused-b.Packets.Paused
		if k.PausedBy >= 0 {
			k.PausedBy = l.label(k.PausedBy)
		}
		e.ports = append(e.ports, k)
	}
	label := map[int32]int32{}
	for i, c := range g.conns {
		own := l.conns[c]
		label[own] = int32(i)
		e.pairs = append(e.pairs, minus(l.Pair(own), l.pairs[own]))
	}
	l.Waits(func(w explain.Wait) {
		was := l.waits[[2]int32{w.Conn, w.Port}]
		w.Total, w.Samples = w.Total-was.Total, w.Samples-was.Samples
		conn, ok := label[w.Conn]
		if w.Conn, w.Port = conn, l.label(w.Port); ok && w.Samples > 0 && w.Port >= 0 {
			e.waits = append(e.waits, w)
		}
	})
	return e
}

func minus(a, b sim.Pair) sim.Pair {
	a.Cuts, a.Marked, a.Again, a.Held = a.Cuts-b.Cuts, a.Marked-b.Marked, a.Again-b.Again, a.Held-b.Held
	for i := range b.Counters {
		a.Counters[i] -= b.Counters[i]
	}
	return a
}

// counters returns what of a summary can be added up.
func counters(s *result.Summary) []*int64 {
	return []*int64{&s.Packets, &s.PacketHops, &s.DataPackets, &s.DataPacketHops, &s.ECNMarks, &s.CNPs, &s.PFCPauses,
		&s.PFCFrames, &s.Drops, &s.DropsCorrupt, &s.DropsDown, &s.Retransmissions, &s.OutOfOrder, &s.Naks, &s.Timeouts,
		&s.FailedQPs, &s.FlowletMoves, &s.PFCStorms, &s.DropsStorm, &s.DropsWRED, &s.DropsNoRoute, &s.Trims,
		&s.TrimmedBytes, &s.DropsTrimmed}
}

// seen is the results of all groups that have ended.
type seen struct {
	counts    result.Summary
	groups    int64 // that ended
	led       int64 // of the flows, those with packets of their own
	simulated int64 // packet-hops
	endings   map[*ending]int64
	ports     []portCount
	pairs     []sim.Pair // by connection
	pauses    []result.PauseRow
	waits     []explain.Wait
	wait      map[[2]int32]int32 // number in waits

	slots    [][]result.LinkRow // by port, in the order of time
	count    int
	interval unit.Time
	most     int
}

// maxPauses bounds the table of pauses.
const maxPauses = 200_000

func (s *seen) init(ports int, interval unit.Time, most int) {
	*s = seen{ports: make([]portCount, ports), slots: make([][]result.LinkRow, ports), interval: interval,
		most: max(most, 4*ports), wait: map[[2]int32]int32{}, endings: map[*ending]int64{}}
	for p := range s.ports {
		s.ports[p].PausedBy = -1
	}
}

// add adds a group's results.
func (s *seen) add(r *Run, g *group, e *ending) {
	s.groups++
	if g.led {
		s.led++
	}
	s.endings[e]++
	to := counters(&s.counts)
	for i, n := range counters(&e.counts) {
		*to[i] += *n
	}
	s.counts.ReorderPeak = max(s.counts.ReorderPeak, e.counts.ReorderPeak)
	for i := range e.ports {
		if p := g.ports[i]; int(p) < len(s.ports) {
			s.ports[p].add(g, &e.ports[i])
		}
	}
	for i := range e.pairs {
		for int(g.conns[i]) >= len(s.pairs) {
			s.pairs = append(s.pairs, sim.Pair{})
		}
		k, p := &s.pairs[g.conns[i]], &e.pairs[i]
		k.Cuts, k.Marked, k.Again, k.Held = k.Cuts+p.Cuts, k.Marked+p.Marked, k.Again+p.Again, k.Held+p.Held
		if k.Counters == nil {
			k.Counters = make([]int64, len(p.Counters))
		}
		for j, n := range p.Counters {
			k.Counters[j] += n
		}
	}
	for _, w := range e.waits {
		s.waited(g.conns[w.Conn], g.ports[w.Port], w)
	}
	for _, row := range e.pauses {
		if row.Port = g.ports[row.Port]; row.Cause >= 0 {
			row.Cause = g.ports[row.Cause]
		}
		row.At += int64(g.start)
		s.pauses = append(s.pauses, row)
	}
	for i := range e.links {
		row := e.links[i]
		row.Port, row.Start = g.ports[row.Port], row.Start+int64(g.start)
		s.link(row)
	}
	for s.count > s.most {
		s.double()
	}
}

func (k *portCount) add(g *group, o *portCount) {
	k.used = k.used || o.used
	k.bytes += o.bytes
	k.Frames, k.Marks, k.Drops, k.Trims = k.Frames+o.Frames, k.Marks+o.Marks, k.Drops+o.Drops, k.Trims+o.Trims
	k.PauseSent, k.PauseGot, k.Paused = k.PauseSent+o.PauseSent, k.PauseGot+o.PauseGot, k.Paused+o.Paused
	k.QueuePeak, k.IngressPeak = max(k.QueuePeak, o.QueuePeak), max(k.IngressPeak, o.IngressPeak)
	k.HeadroomPeak = max(k.HeadroomPeak, o.HeadroomPeak)
	if o.PausedBy >= 0 {
		k.PausedBy = g.ports[o.PausedBy]
	}
}

func (s *seen) waited(conn, port int32, w explain.Wait) {
	key := [2]int32{conn, port}
	i, ok := s.wait[key]
	if !ok {
		i = int32(len(s.waits))
		s.wait[key] = i
		s.waits = append(s.waits, explain.Wait{Conn: conn, Port: port})
	}
	k := &s.waits[i]
	k.Total, k.Samples, k.MaxQueue = k.Total+w.Total, k.Samples+w.Samples, max(k.MaxQueue, w.MaxQueue)
}

// link distributes a row of a link over the intervals that it covers, its bytes evenly over its time.
func (s *seen) link(row result.LinkRow) {
	left, from, end := row, row.Start, row.Start+row.Length
	for from < end {
		at := from - from%int64(s.interval)
		until := min(end, at+int64(s.interval))
		part := left
		if until < end {
			share := float64(until-from) / float64(end-from)
			part.Bytes, part.Paused = int64(float64(left.Bytes)*share), int64(float64(left.Paused)*share)
			part.Marks, part.Drops = int64(float64(left.Marks)*share), int64(float64(left.Drops)*share)
		}
		left.Bytes, left.Paused = left.Bytes-part.Bytes, left.Paused-part.Paused
		left.Marks, left.Drops = left.Marks-part.Marks, left.Drops-part.Drops
		part.Start, part.Length = at, int64(s.interval)
		s.slot(&part)
		from = until
	}
}

// slot adds to an interval: groups end about in the order of time, so it is one of the last.
func (s *seen) slot(part *result.LinkRow) {
	all := s.slots[part.Port]
	i := len(all)
	for i > 0 && all[i-1].Start > part.Start {
		i--
	}
	if i == 0 || all[i-1].Start < part.Start {
		s.slots[part.Port] = slices.Insert(all, i, *part)
		s.count++
		return
	}
	join(&all[i-1], part)
}

// join merges a link's row with one of the same interval.
func join(to, o *result.LinkRow) {
	to.Bytes, to.Paused = to.Bytes+o.Bytes, to.Paused+o.Paused
	to.Marks, to.Drops = to.Marks+o.Marks, to.Drops+o.Drops
	to.Peak, to.Queued = max(to.Peak, o.Peak), o.Queued
}

// double folds neighbouring intervals together.
func (s *seen) double() {
	s.interval, s.count = 2*s.interval, 0
	for p, all := range s.slots {
		kept := all[:0]
		for _, row := range all {
			row.Start -= row.Start % int64(s.interval)
			row.Length = int64(s.interval)
			if n := len(kept); n > 0 && kept[n-1].Start == row.Start {
				join(&kept[n-1], &row)
			} else {
				kept = append(kept, row)
			}
		}
		s.slots[p] = kept
		s.count += len(kept)
	}
}

// rows are the intervals in the order of time and port.
func (s *seen) rows(until unit.Time) []result.LinkRow {
	rows := make([]result.LinkRow, 0, s.count)
	at := make([]int, len(s.slots))
	for start := int64(0); len(rows) < s.count; {
		next := int64(unit.Never)
		for p, all := range s.slots {
			if at[p] == len(all) {
				continue
			}
			if row := all[at[p]]; row.Start == start {
				row.Length = max(0, min(row.Length, int64(until)-row.Start))
				rows = append(rows, row)
				at[p]++
			}
			if at[p] < len(all) {
				next = min(next, all[at[p]].Start)
			}
		}
		start = next
	}
	return slices.DeleteFunc(rows, func(row result.LinkRow) bool { return row.Length == 0 })
}

// Observe returns the network's traffic until now.
func (r *Run) Observe() *explain.Observation {
	s := &r.seen
	o := &explain.Observation{Fidelity: Name, At: r.now, Routes: r.Paths, Ways: r.Hosts, Rules: r.rules,
		Messages: slices.Clone(r.messages), Conns: r.Connections(), Ports: r.Ports(), Counted: s.counts}
	o.Counted.Events = uint64(r.count)
	o.Limits = []string{"fidelity reuse records no signals, no paths, and no bytes and flows behind PFC pauses"}
	o.Counted.NetworkBytes, o.Counted.Control = int64(r.delivered), r.control()
	o.Recorded.Links, o.Recorded.Pauses = s.rows(r.now), slices.Clone(s.pauses)
	slices.SortStableFunc(o.Recorded.Pauses, func(a, b result.PauseRow) int { return cmp.Compare(a.At, b.At) })
	if n := len(o.Recorded.Pauses); n > maxPauses {
		o.Cuts = []result.TableCut{{Table: "pauses", Rows: maxPauses, Total: int64(n)}}
		o.Recorded.Pauses = o.Recorded.Pauses[:maxPauses]
		o.PausesUntil = unit.Time(o.Recorded.Pauses[maxPauses-1].At)
	}
	for p := range o.Ports {
		k := &s.ports[p]
		o.Ports[p].Bytes, o.Ports[p].Used, o.Ports[p].Packets = k.bytes, k.used, k.PortPackets
	}
	for c := range min(len(o.Conns), len(s.pairs)) {
		k := &s.pairs[c]
		o.Conns[c].Cuts, o.Conns[c].Marked, o.Conns[c].Again = k.Cuts, k.Marked, k.Again
	}
	o.Packets = &explain.Packets{Troubles: slices.Clone(r.troubles), Waits: slices.Clone(s.waits)}
	return o
}

// control returns what congestion control did.
func (r *Run) control() []result.Control {
	all := r.Controls(r.Plan.Services)
	for c := range min(int32(len(r.seen.pairs)), int32(r.Hosts.Conns())) {
		to, k := &all[r.Hosts.ServiceOf(c)], &r.seen.pairs[c]
		to.Held += k.Held
		if k.Cuts > 0 {
			to.Acted++
		}
		for i, n := range k.Counters {
			to.Counters[i].Count += n
		}
	}
	return all
}
