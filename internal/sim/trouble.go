package sim

import "railyard/unit"

// trouble is what held up a message, taken down while it was under way.
type trouble struct {
	held    unit.Time // how long congestion control's pace kept its packets back
	port    int32     // where its packets waited longest, or its queue pair's before; -1 for nowhere
	again   int32     // packets that its queue pair sent again meanwhile
	sampled bool      // packets of it were looked at
	earlier bool      // port is where an earlier message waited
}

// troubles records them while messages come and go.
type troubles struct {
	net *Network
	all []trouble // by message
	qps []soFar   // by queue pair
}

// soFar is a queue pair's counters when its last message was delivered.
type soFar struct {
	held  unit.Time
	again int64
	port  int32 // port+1 where its packets waited last
}

func newTroubles(n *Network) *troubles { return &troubles{net: n} }

// posted is called before a message is handed to a NIC.
func (t *troubles) posted() { t.all = append(t.all, trouble{port: -1}) }

// delivered takes down what a queue pair met since its last message was delivered.
func (t *troubles) delivered(m int32) {
	h := t.net.Hosts
	conn := h.Messages[m].Conn
	for int(conn) >= len(t.qps) {
		t.qps = append(t.qps, soFar{})
	}
	x, q := &t.all[m], &t.qps[conn]
	held, again := h.Held(conn), h.Retransmitted(conn)
	x.held, x.again = held-q.held, int32(min(again-q.again, 1<<30))
	q.held, q.again = held, again
	if t.net.Net.Waits == nil {
		return
	}
	w := t.net.Net.Waits.Lap(conn)
	x.sampled = w.Samples > 0
	switch {
	case w.Total > 0:
		x.port, q.port = w.Port, w.Port+1
	case q.port > 0:
		x.port, x.earlier = q.port-1, true
	}
}
