package sim

import (
	"railyard/unit"
)

// trouble is what held up a message.
type trouble struct {
	sent    int64 // bytes that its NIC had sent when it was posted; when it was delivered, that the NIC sent since
	port    int32 // where its packets waited longest, -1 for nowhere
	again   int32 // packets that its queue pair sent again meanwhile
	sampled bool  // packets of it were looked at
	earlier bool  // port is where an earlier message waited, and congestion control still holds back
}

// troubles records them while messages come and go.
type troubles struct {
	net   *Network
	all   []trouble // by message
	again []int64   // by queue pair: packets sent again so far
	port  []int32   // by queue pair: port+1 where its packets waited last
}

func newTroubles(n *Network) *troubles { return &troubles{net: n} }

// posted is called before a message is handed to a NIC.
func (t *troubles) posted(nic int) {
	t.all = append(t.all, trouble{sent: t.sent(nic), port: -1})
}

// sent is what a NIC has sent so far, ACKs included.
func (t *troubles) sent(nic int) (sum int64) {
	n := t.net.Graph.NICs[nic]
	for _, l := range n.Links {
		sum += t.net.Net.Ports[t.net.Port(l, t.net.Graph.Hosts[n.Host])].TxBytes
	}
	return sum
}

// delivered takes down what a queue pair met since its last message was delivered.
func (t *troubles) delivered(m int32) {
	h := t.net.Hosts
	conn := h.Messages[m].Conn
	for int(conn) >= len(t.again) {
		t.again, t.port = append(t.again, 0), append(t.port, 0)
	}
	x := &t.all[m]
	src, _ := h.Peers(conn)
	x.sent = t.sent(int(src)) - x.sent
	again := h.Retransmitted(conn)
	x.again = int32(min(again-t.again[conn], 1<<30))
	t.again[conn] = again
	if t.net.Net.Waits == nil {
		return
	}
	w := t.net.Net.Waits.Lap(conn)
	x.sampled = w.Samples > 0
	switch {
	case w.Total > 0:
		x.port = w.Port
		t.port[conn] = w.Port + 1
	case t.port[conn] > 0 && t.held(conn):
		x.port, x.earlier = t.port[conn]-1, true
	}
}

// held reports whether congestion control keeps a queue pair below its line's rate.
func (t *troubles) held(conn int32) bool {
	c, ok := t.net.Hosts.Controller(conn).(interface {
		Rates() (current, target unit.Rate)
	})
	if !ok {
		return false
	}
	src, _ := t.net.Hosts.Peers(conn)
	now, _ := c.Rates()
	return now < t.net.Graph.Links[t.net.Graph.NICs[src].Links[0]].Rate
}
