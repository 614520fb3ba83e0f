package sim

import (
	"fmt"
	"slices"
	"sort"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/unit"
)

// slowest finds the message that took longest beyond its ideal and explains it
// from what was recorded about its queue pair: at which queue its packets
// waited most, who else waited there, and who paused that port.
func (r *blamer) slowest() *result.Slowest {
	worst, excess := int32(-1), unit.Time(-1)
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		if m.Done == 0 {
			continue
		}
		// Every message of one size and distance has one ideal; the excess
		// over the raw wire time ranks them well enough to search by.
		d := m.Done - m.Posted - unit.Serialize(m.Bytes, r.Net.Rate(r.nicPort(m.Conn)))
		if d > excess {
			worst, excess = int32(i), d
		}
	}
	if worst < 0 {
		return nil
	}
	m := &r.Hosts.Messages[worst]
	op := &r.Exec.DAG.Ops[r.op(worst)]
	w := &result.Slowest{From: r.Graph.GPUName(int(op.Rank)), To: r.Graph.GPUName(int(op.Peer)), Bytes: int64(m.Bytes),
		Time: int64(m.Done - m.Posted), Ideal: int64(r.newIdealizer().of(worst)), CNPs: r.Hosts.CEMarks(m.Conn), Retrans: r.Hosts.Retransmitted(m.Conn)}
	top := r.worstQueue(m.Conn)
	if top != nil {
		w.Queue = r.PortName(top.Port)
		w.QueueWait = int64(top.Total) / int64(top.Samples)
		w.QueuePeak = int64(top.MaxQueue)
		w.SharedWith, w.SharedN = r.sharers(top)
		w.PausedBy = r.pauseChain(top.Port)
		w.Paused = int64(r.Net.PausedFor(top.Port))
	}
	w.Why = r.sentence(w, m.Conn, top, r.message(worst))
	return w
}

// message splits one message's time into causes; while older messages of its queue pair
// went first, what those took at line rate was its NIC's.
func (b *blamer) message(m int32) *result.CollectiveRow {
	posted := b.Hosts.Messages[m].Posted
	row := &result.CollectiveRow{Start: int64(posted), End: int64(b.Hosts.Messages[m].Done), Port: -1}
	worst := unit.Time(0)
	own := b.measure(piece{op: b.op(m), message: m, from: posted, to: b.done(m)})
	b.earlier, b.shared, b.spare = false, 0, b.bound(b.Exec.DAG.Ops[b.op(m)].Coll)-own.line
	for x := m; x >= 0; {
		p := piece{op: b.op(x), message: x, from: posted, to: b.done(x)}
		older := b.older(x)
		if older >= 0 && b.done(older) > posted {
			p.from = b.done(older)
		}
		ideal := row.Ideal
		worst = max(worst, b.transfer(row, p, worst))
		if x != m {
			row.SharedNIC, row.Ideal = row.SharedNIC+row.Ideal-ideal, ideal
		}
		if p.from == posted {
			break
		}
		x = older
	}
	return row
}

func (r *Run) nicPort(conn int32) int32 {
	src, _ := r.Hosts.Peers(conn)
	nic := r.Graph.NICs[src]
	return r.Port(nic.Links[0], r.Graph.Hosts[nic.Host])
}

func (r *Run) worstQueue(conn int32) *fabric.Wait {
	var top *fabric.Wait
	r.Net.Waits.Of(conn, func(w fabric.Wait) {
		if w.Total > 0 && (top == nil || w.Total > top.Total || w.Total == top.Total && w.Port < top.Port) {
			c := w
			top = &c
		}
	})
	return top
}

// waitsAt returns what was recorded at a port, by flow.
func (r *Run) waitsAt(port int32) (rows []fabric.Wait) {
	r.Net.Waits.Each(func(w fabric.Wait) {
		if w.Port == port {
			rows = append(rows, w)
		}
	})
	return rows
}

// sharers lists the flows that waited at the same port, longest first.
func (r *Run) sharers(top *fabric.Wait) (names []string, count int) {
	rows := slices.DeleteFunc(r.waitsAt(top.Port), func(w fabric.Wait) bool { return w.QP == top.QP || w.Total == 0 })
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].Total > rows[j].Total || rows[i].Total == rows[j].Total && rows[i].QP < rows[j].QP
	})
	for _, w := range rows[:min(3, len(rows))] {
		src, dst := r.Hosts.Peers(w.QP)
		names = append(names, r.Graph.NICName(int(src))+" → "+r.Graph.NICName(int(dst)))
	}
	return names, len(rows)
}

// pauseChain follows a paused port to whom it was paused by: the peer switch
// paused it because one of its own egress ports was congested, which may have
// been paused in turn. The root stands last.
func (r *Run) pauseChain(port int32) (chain []string) {
	prio := int(r.Host.DataPrio)
	seen := map[int32]bool{}
	for r.Net.Stats[port].PauseGot > 0 && !seen[port] {
		seen[port] = true
		next := r.Net.PauseCause(port, prio)
		if next < 0 {
			chain = append(chain, r.Graph.Nodes[r.Net.Ports[r.Net.Ports[port].Peer].Node].Name)
			break
		}
		chain = append(chain, r.PortName(next))
		port = next
	}
	return chain
}

// sentence says in plain words what slowed the flow down most.
func (r *blamer) sentence(w *result.Slowest, conn int32, top *fabric.Wait, row *result.CollectiveRow) string {
	slow := float64(w.Time) / float64(max(w.Ideal, 1))
	s := fmt.Sprintf("%.2fx its ideal time of %v", slow, unit.Time(w.Ideal))
	if slow < 1.05 {
		return s + ": nothing slowed it down worth naming"
	}
	if rest := unit.Time(row.Ideal - w.Ideal); rest > unit.Time(w.Ideal) {
		s += fmt.Sprintf(" (at line rate its NIC sends other transfers of the collective for %v)", rest)
	}
	s += ": " + r.explain(row)
	if w.Retrans > 0 {
		s += fmt.Sprintf("; its queue pair sent %d packets again", w.Retrans)
	}
	if top != nil && w.QueueWait > 0 {
		s += fmt.Sprintf("; its packets that queued waited %v each at %s", unit.Time(w.QueueWait), w.Queue)
		if w.SharedN > 0 {
			flows := "flows"
			if w.SharedN == 1 {
				flows = "flow"
			}
			s += fmt.Sprintf(", a queue shared with %d other %s", w.SharedN, flows)
		}
	}
	if len(w.PausedBy) > 0 && w.Paused > 0 {
		s += fmt.Sprintf("; that port was paused for %v, root %s", unit.Time(w.Paused), w.PausedBy[len(w.PausedBy)-1])
	}
	if n, _ := r.Hosts.Controller(conn).Counter(cc.CounterCuts); n > 0 {
		s += fmt.Sprintf("; %s cut its rate %d times", r.Plan.CC.Title, n)
	}
	if n := r.sharingNIC(conn); n > 1 {
		s += fmt.Sprintf("; its NIC serves %d queue pairs", n)
	}
	return s
}

// sharingNIC counts the queue pairs that send from a connection's NIC.
func (r *Run) sharingNIC(conn int32) (n int) {
	src, _ := r.Hosts.Peers(conn)
	for c := range r.Hosts.Conns() {
		if s, _ := r.Hosts.Peers(int32(c)); s == src {
			n++
		}
	}
	return n
}
