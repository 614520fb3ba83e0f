package sim

import (
	"railyard/internal/explain"
	"railyard/internal/host"
	"railyard/unit"
)

// troubles records contention from posts to deliveries of messages.
type troubles struct {
	net *Network
	all []explain.Trouble // by message
	qps []soFar           // by queue pair

	apart bool    // whether the run is one of several parts
	order []int32 // messages in the order of their delivery
	laps  []lap   // contacts of each job at the part's ports
}

// lap is where a queue pair's packets were queued longest since its last message.
type lap struct {
	total   unit.Time
	port    int32
	sampled bool
}

// soFar is a queue pair's counters when its last message was delivered.
type soFar struct {
	held  host.Held
	again int64
	late  host.Silence
	cut   int64 // number of its packets that arrived as headers
	full  int64 // packets dropped at its receiver's NIC for lack of room
	port  int32 // port+1 with the longest last queueing
}

func newTroubles(n *Network) *troubles { return &troubles{net: n} }

// posted is called before a message is handed to a NIC.
func (t *troubles) posted() { t.all = append(t.all, explain.Trouble{Port: -1}) }

// delivered records a queue pair's delays since its last message was delivered.
func (t *troubles) delivered(m int32) {
	h := t.net.Hosts
	conn := h.Messages[m].Conn
	for int(conn) >= len(t.qps) {
		t.qps = append(t.qps, soFar{})
	}
	x, q := &t.all[m], &t.qps[conn]
	held, again := h.Held(conn), h.Retransmitted(conn)
	since := held.Minus(q.held)
	x.Held, x.Window, x.Credit = since.Pace, since.Window, since.Credit
	late := h.Silent(conn)
	x.Late, x.Timeouts, q.late = late.Long-q.late.Long, late.Timeouts-q.late.Timeouts, late
	x.Again = int32(min(again-q.again, 1<<30))
	cut := h.Trimmed(conn)
	x.Trimmed = int32(min(cut-q.cut, 1<<30))
	full := h.Refused(conn)
	x.Refused = int32(min(full-q.full, 1<<30))
	q.held, q.again, q.cut, q.full = held, again, cut, full
	if t.net.Net.Waits == nil {
		return
	}
	w := t.net.Net.Waits.Lap(conn)
	met := lap{w.Total, w.Port, w.Samples > 0}
	if t.apart {
		t.order, t.laps = append(t.order, m), append(t.laps, met)
		return
	}
	t.settle(m, met)
}

// settle records where a message was queued.
func (t *troubles) settle(m int32, met lap) {
	x, q := &t.all[m], &t.qps[t.net.Hosts.Messages[m].Conn]
	x.Sampled = met.sampled
	switch {
	case met.total > 0:
		x.Port, q.port = met.port, met.port+1
	case q.port > 0:
		x.Port, x.Earlier = q.port-1, true
	}
}

// add adds the events of queue pairs in another part of the run; laps are by delivery.
func (t *troubles) add(laps []lap, o *troubles) {
	for m := range t.all {
		x, y := &t.all[m], &o.all[m]
		x.Held, x.Window, x.Credit = x.Held+y.Held, x.Window+y.Window, x.Credit+y.Credit
		x.Late, x.Timeouts = x.Late+y.Late, x.Timeouts+y.Timeouts
		x.Again, x.Trimmed, x.Refused = x.Again+y.Again, x.Trimmed+y.Trimmed, x.Refused+y.Refused
	}
	for i, met := range o.laps { // the longest counts, of two the port with the lower number: WaitTable.Lap
		l := &laps[i]
		longer := met.total > l.total || met.total == l.total && met.port < l.port
		if met.sampled && (!l.sampled || longer) {
			*l = met
		}
	}
}
