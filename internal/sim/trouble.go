package sim

import (
	"railyard/internal/explain"
	"railyard/internal/host"
)

// troubles records them while messages come and go.
type troubles struct {
	net *Network
	all []explain.Trouble // by message
	qps []soFar           // by queue pair
}

// soFar is a queue pair's counters when its last message was delivered.
type soFar struct {
	held  host.Held
	again int64
	late  host.Silence
	cut   int64 // packets of it that came as headers
	port  int32 // port+1 where its packets waited last
}

func newTroubles(n *Network) *troubles { return &troubles{net: n} }

// posted is called before a message is handed to a NIC.
func (t *troubles) posted() { t.all = append(t.all, explain.Trouble{Port: -1}) }

// delivered takes down what a queue pair met since its last message was delivered.
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
	q.held, q.again, q.cut = held, again, cut
	if t.net.Net.Waits == nil {
		return
	}
	w := t.net.Net.Waits.Lap(conn)
	x.Sampled = w.Samples > 0
	switch {
	case w.Total > 0:
		x.Port, q.port = w.Port, w.Port+1
	case q.port > 0:
		x.Port, x.Earlier = q.port-1, true
	}
}
