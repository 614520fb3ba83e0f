package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"

	"pgregory.net/rapid"
)

// heardBy is a congestion control that records its inputs.
type heardBy struct {
	cc.Controller
	ack cc.Ack
}

func (h *heardBy) OnAck(_ unit.Time, a *cc.Ack) { h.ack = *a }
func (h *heardBy) WantsAcks() bool              { return true }

// byHeaders is a packet as decoded from its headers at a given time.
func byHeaders(at unit.Time, p *transport.Packet) (out transport.Packet) {
	var h roce.Header
	var m roce.MRC
	Encode(p, &h, &m, 1, 2)
	Decode(at, &h, &m, int(p.Payload), &out)
	return out
}

// TestHosts: the delays of both hosts are separated from the network's delay, to a unit of the stamps and one of
// rounding, even if stamps wrap meanwhile. A round trip includes all of them.
func TestHosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const us = unit.Microsecond
		draw := func(name string, most int) unit.Time {
			return unit.Time(rapid.IntRange(1, most).Draw(t, name)) * us
		}
		h := &heardBy{Controller: cc.None{Line: 100 * unit.Gbps}}
		m := newMaker(Protocol.Defaults, transport.Common{MTU: 4096, Planes: 1,
			CC: func(cc.Path) cc.Controller { return h }})
		path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096}
		p := newPeer(m, path, 1)
		s, r := newSender(p, 1), newReceiver(m, path, 1)
		_ = s.Post(0, transport.Request{ID: 1, Bytes: 1 << 30})
		network := draw("network", 4000)
		now := draw("beginning", 100_000)
		for i := range 20 {
			far, near := draw("far", 50_000), draw("near", 50_000)
			if i == 0 {
				far, near = us, us // once without any delay
			}
			var x transport.Packet
			if !s.Next(now, 0, &x) {
				t.Fatal("nothing goes")
			}
			sent := now
			x.Flags |= transport.Asks
			came := now + network/2
			x = byHeaders(came, &x)
			now = came + far
			x.Waited = far
			r.Take(now, &x)
			var a transport.Packet
			if !r.Say(now, &a) {
				t.Fatal("no answer")
			}
			came = now + network - network/2
			a = byHeaders(came, &a)
			now = came + near
			a.Waited = near
			s.Take(now, &a)
			if h.ack.RTT != now-sent || !h.ack.FarWithin {
				t.Fatalf("round trip %d: %v, hosts within: %v; want %v", i, h.ack.RTT, h.ack.FarWithin,
					now-sent)
			}
			if off := h.ack.RTT - h.ack.Far - network; off < -2*stampSlack || off > 2*stampSlack {
				t.Fatalf("round trip %d: the network took %v, want %v", i, h.ack.RTT-h.ack.Far, network)
			}
			for r.Say(now, &a) {
			}
			now += us
		}
		if p.rtt.mean < network {
			t.Fatalf("timeouts go by %v, less than the network's %v", p.rtt.mean, network)
		}
	})
}
