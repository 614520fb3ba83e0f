package explain

import (
	"fmt"
	"railyard/internal/cause"
	"railyard/internal/facts"
	"slices"
	"sort"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// slowest finds the message that took longest beyond its ideal, of several the one with which the critical path ends,
// and explains it from what was recorded about its queue pair: at which queue its packets waited most, who else waited
// there, and who paused that port.
func (b *blamer) slowest() *result.Slowest {
	worst, excess, ending := int32(-1), unit.Time(-1), int32(-1)
	if last, _ := b.r.lastOf(b.r.all()); last >= 0 {
		ending = b.lastMessage(last)
	}
	for i := range b.r.seen.Messages {
		m := &b.r.seen.Messages[i]
		if m.Done == 0 {
			continue
		}
		// Every message of one size and distance has one ideal; the excess
		// over the raw wire time ranks them well enough to search by.
		d := m.Done - m.Posted - unit.Serialize(m.Bytes, b.r.rate(b.r.nicPort(m.Conn)))
		if d > excess || d == excess && int32(i) == ending {
			worst, excess = int32(i), d
		}
	}
	if worst < 0 {
		return nil
	}
	m := &b.r.seen.Messages[worst]
	op := &b.r.dag.Ops[b.r.seen.Messages[worst].Op]
	w := &result.Slowest{From: b.r.graph.GPUName(int(op.Rank)), To: b.r.graph.GPUName(int(op.Peer)),
		Bytes: int64(m.Bytes), Time: int64(m.Done - m.Posted), Ideal: int64(b.r.newIdealizer().of(worst)),
		CNPs: b.r.seen.Conns[m.Conn].Marked, Retrans: b.r.seen.Conns[m.Conn].Again}
	top := b.r.worstQueue(m.Conn)
	if top != nil {
		w.Queue = b.r.portName(top.Port)
		w.QueueWait = int64(top.Total) / int64(top.Samples)
		w.QueuePeak = int64(top.MaxQueue)
		w.SharedWith, w.SharedN = b.r.sharers(top)
		w.PausedBy = b.r.pauseChain(top.Port)
		w.Paused = int64(b.r.seen.Ports[top.Port].Packets.Paused)
	}
	row := b.message(worst)
	w.Behind, w.Earlier = b.earlierOf(worst)
	w.Why = b.sentence(w, worst, top, row)
	if row.Lost.Total() == w.Time-w.Behind {
		w.Causes = &row.Lost
		_, w.Reason, _ = strings.Cut(b.explain(row), " above line rate: ")
	}
	return w
}

// earlierOf returns how long a message waits behind older ones of its queue pair, and how many these are.
func (b *blamer) earlierOf(x int32) (behind int64, n int) {
	msg := &b.r.seen.Messages[x]
	for at := b.share.older(x); at >= 0 && b.share.done(at)-b.share.latency(at) > msg.Posted; at = b.share.prev[at] {
		n++
	}
	return int64(b.share.turn(x) - msg.Posted), n
}

func (r *reading) nicPort(conn int32) int32 {
	src, _ := r.seen.peers(conn)
	nic := r.graph.NICs[src]
	return r.port(nic.Links[0], r.graph.Hosts[nic.Host])
}

func (r *reading) worstQueue(conn int32) *Wait {
	var top *Wait
	r.waitsOf(conn, func(w Wait) {
		if w.Total > 0 && (top == nil || w.Total > top.Total || w.Total == top.Total && w.Port < top.Port) {
			c := w
			top = &c
		}
	})
	return top
}

// waitsAt returns what was recorded at a port, by flow.
func (r *reading) waitsAt(port int32) (rows []Wait) {
	r.eachWait(func(w Wait) {
		if w.Port == port {
			rows = append(rows, w)
		}
	})
	return rows
}

// sharers lists the flows that waited at the same port, longest first.
func (r *reading) sharers(top *Wait) (names []string, count int) {
	rows := slices.DeleteFunc(r.waitsAt(top.Port), func(w Wait) bool { return w.Conn == top.Conn || w.Total == 0 })
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].Total > rows[j].Total || rows[i].Total == rows[j].Total && rows[i].Conn < rows[j].Conn
	})
	for _, w := range rows[:min(3, len(rows))] {
		src, dst := r.seen.peers(w.Conn)
		names = append(names, r.graph.NICName(int(src))+" → "+r.graph.NICName(int(dst)))
	}
	return names, len(rows)
}

// sentence says in plain words what slowed the flow down most.
func (b *blamer) sentence(w *result.Slowest, worst int32, top *Wait, row *result.CollectiveRow) string {
	slow := float64(w.Time) / float64(max(w.Ideal, 1))
	s := fmt.Sprintf("%s ideal (%s)", unit.ShowFactor(slow), unit.Time(w.Ideal).Show())
	if slow < 1.05 {
		switch {
		case b.worthNaming(w, row):
			s += ": " + b.explain(row)
		case w.Retrans == 0:
			return s + ": no contention"
		}
		if w.Retrans > 0 {
			s += "; " + unit.Plural(w.Retrans, "retransmission") + " of its queue pair"
		}
		return s
	}
	if w.Earlier > 0 {
		s += fmt.Sprintf(": %s of %s behind %s of its queue pair", unit.Time(w.Behind).Show(), unit.Time(w.Time).Show(),
			unit.Plural(w.Earlier, "earlier message"))
	}
	if rest := unit.Time(row.Lost.Own[cause.LineRate] - w.Ideal); rest > unit.Time(w.Ideal) {
		s += fmt.Sprintf(" (its NIC sends other transfers of the collective at line rate for %s)", rest.Show())
	}
	switch why := b.explain(row); {
	case w.Earlier > 0 && float64(w.Time-w.Behind) < 1.05*float64(w.Ideal):
		s += "; then its ideal time"
	case b.acc != nil && w.Earlier > 0:
		s += "; then " + why
	case b.acc != nil:
		s += ": " + why
	}
	if w.Retrans > 0 {
		s += "; " + unit.Plural(w.Retrans, "retransmission") + " of its queue pair"
	}
	if top != nil && w.QueueWait > 0 {
		s += fmt.Sprintf("; mean queue wait %s at %s", unit.Time(w.QueueWait).Show(), w.Queue)
		if w.SharedN > 0 {
			flows := "flows"
			if w.SharedN == 1 {
				flows = "flow"
			}
			s += fmt.Sprintf(" with %d other %s", w.SharedN, flows)
		}
	}
	closed := ""
	if top != nil {
		closed = b.r.closedChain(top.Port)
	}
	switch {
	case closed != "" && w.Paused > 0:
		s += fmt.Sprintf("; the port was paused for %s by %s", unit.Time(w.Paused).Show(), closed)
	case len(w.PausedBy) > 0 && w.Paused > 0:
		s += fmt.Sprintf("; the port was paused for %s, root %s", unit.Time(w.Paused).Show(),
			w.PausedBy[len(w.PausedBy)-1])
	}
	conn := &b.r.seen.Conns[b.r.seen.Messages[worst].Conn]
	if n := conn.Cuts; n > 0 {
		service := &b.r.plan.Services[conn.Service]
		s += fmt.Sprintf("; %s by %s", unit.Plural(n, "rate reduction"), service.Titled())
	}
	if n := b.sharingNIC(worst); n > 1 {
		s += fmt.Sprintf("; %s on the NIC", unit.Plural(n, "queue pair"))
	}
	return s
}

// worthNaming reports whether something else than latency takes a share of a message's time that a report names, beyond
// the ideal, which has what is slow on its path already.
func (b *blamer) worthNaming(w *result.Slowest, row *result.CollectiveRow) bool {
	if b.acc == nil || b.acc.undivided > 0 {
		return false
	}
	most := int64(0)
	for _, c := range cause.All() {
		if c.Loss && c.ID != cause.Latency {
			most = max(most, row.Lost.Of(c.ID))
		}
	}
	if most > 0 && most == row.Lost.Own[cause.OnePort] {
		return true // its ideal is that of the port
	}
	beyond := w.Time - w.Behind - w.Ideal + row.Lost.Of(cause.Latency) // which the ideal includes
	return float64(most) >= facts.LeastCost*float64(w.Time) && most <= beyond
}

// sharingNIC counts the queue pairs that send from a message's NIC while it is under way.
func (b *blamer) sharingNIC(m int32) (n int) {
	msg := &b.r.seen.Messages[m]
	src, _ := b.r.seen.peers(msg.Conn)
	for _, c := range b.share.bySender[src] {
		if b.share.sent(c, &window{msg.Posted, msg.Done}) {
			n++
		}
	}
	return n
}

// remedies lists what could be changed about a run.
func (a *accounts) remedies(s *result.Summary) (all []result.Remedy) {
	for _, r := range facts.Remedies(a.known, s) {
		all = append(all, r.Result(s))
	}
	return all
}
