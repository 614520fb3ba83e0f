package transporttest

import (
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// allocates carries messages from end to end without a network, drops every Nth packet, and counts the allocations.
func (s *Suite) allocates(t *testing.T) {
	for _, lose := range []int{0, 16} {
		n := New(Setup{Protocol: s.Protocol, Values: s.Values, Planes: s.Planes[len(s.Planes)-1]})
		c := n.conns[0]
		var p transport.Packet
		sent := 0
		message := func() {
			if c.sender.Post(n.Now, transport.Request{ID: 1, Bytes: 64 << 10}) != nil {
				t.Fatal("a message cannot be posted")
			}
			for done := false; !done; {
				s.exchange(n, c, &p, &sent, lose)
				for i := 0; i < 2; i++ {
					if _, ok := c.sender.Completed(); ok {
						done = true
					}
					c.receiver.Arrived()
				}
				if n.Now > 1000*unit.Second {
					t.Fatalf("messages do not complete without a network, %d packets sent", sent)
				}
			}
		}
		for range 200 {
			message()
		}
		if allocated := testing.AllocsPerRun(100, message); allocated > 0 {
			t.Errorf("%v allocations for a message of 64 packets, one of %d lost", allocated, lose)
		}
	}
}

// exchange runs both ends and advances time.
func (s *Suite) exchange(n *Net, c *conn, p *transport.Packet, sent *int, lose int) {
	n.Now += 5 * unit.Microsecond
	for plane := range n.set.Planes {
		for *p = (transport.Packet{}); c.sender.Next(n.Now, plane, p); *p = (transport.Packet{}) {
			if *sent++; lose > 0 && *sent%lose == 0 {
				continue
			}
			c.receiver.Take(n.Now, p)
			n.Now += 50 * unit.Nanosecond
		}
	}
	for *p = (transport.Packet{}); c.receiver.Say(n.Now, p); *p = (transport.Packet{}) {
		c.sender.Take(n.Now, p)
	}
	for *p = (transport.Packet{}); c.sender.Say(n.Now, p); *p = (transport.Packet{}) {
		c.receiver.Take(n.Now, p)
	}
	for i := 0; i < 100 && c.sender.At() <= n.Now; i++ {
		c.sender.Tick(n.Now)
	}
	for i := 0; i < 100 && c.receiver.At() <= n.Now; i++ {
		c.receiver.Tick(n.Now)
	}
}
