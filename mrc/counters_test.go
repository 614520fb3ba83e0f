package mrc

import (
	"testing"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// A reduction of the window to a destination counts at the connection whose answer caused it. The sum over all
// connections equals the count of its congestion control. The peer's other counts are reported once.
func TestCutsAddUp(t *testing.T) {
	n := transporttest.New(transporttest.Setup{Protocol: &Protocol, Values: with(nil), Planes: 1, Paths: 4,
		MTU: 4096, Seed: 5, Conns: 3})
	for p := range n.Paths[transporttest.There][0] {
		n.Paths[transporttest.There][0][p].Mark, n.Paths[transporttest.There][0][p].Loss = 0.2, 0.002
	}
	for c := range 3 {
		n.Post(c, 4<<20, false)
	}
	finish(t, n)
	var of [2]int64
	cuts, skips, acted := int64(0), int64(0), 0
	for c := range 3 {
		s := n.Sender(c).(*Sender)
		if own := count(s, cc.CounterCuts); own > 0 {
			acted++
			cuts += own
		}
		skips += count(s, "ev_skips")
		of[0], _ = s.peer.pace.Ctl.Counter(cc.CounterCuts)
		of[1] = s.peer.evs.skips
	}
	if cuts != of[0] || acted < 2 || skips != of[1] || skips == 0 {
		t.Errorf("%d cuts on %d connections, %d skips; the peer has %d and %d", cuts, acted, skips, of[0],
			of[1])
	}
	if _, ok := n.Sender(0).Signal(n.Now, "queue_delay"); !ok {
		t.Error("a signal of the congestion control is not reported")
	}
}

// hears is a congestion control that counts acknowledged bytes.
type hears struct {
	cc.None
	bytes *unit.Bytes
}

func (h hears) OnAck(_ unit.Time, a *cc.Ack) { *h.bytes += a.Bytes }

// Congestion control gets each byte once, whether SACKs report it by cumulative PSN, bitmap or both. Packets arrive
// in any order, and some are retransmitted.
func TestAcknowledgedBytes(t *testing.T) {
	bytes := unit.Bytes(0)
	m := newMaker(Protocol.Defaults, transport.Common{MTU: 1000, Planes: 1,
		CC: func(p cc.Path) cc.Controller { return hears{cc.None{Line: p.Line}, &bytes} }})
	s, r := newSender(newPeer(m, testPath, 1), 1), newReceiver(m, testPath, 1)
	const total = 200_500
	if err := s.Post(0, transport.Request{Bytes: total}); err != nil {
		t.Fatal(err)
	}
	random, way := rng.New(1, "acknowledged"), []transport.Packet(nil)
	for now := unit.Time(1); s.Pending(); now += unit.Microsecond {
		if now > unit.Second {
			t.Fatal("no end")
		}
		for s.At() <= now {
			s.Tick(now)
		}
		var p transport.Packet
		if s.Next(now, 0, &p) && random.Intn(10) > 0 {
			way = append(way, p)
		}
		if len(way) > 8 || len(way) > 0 && p.Kind != transport.Data || random.Intn(4) == 0 && len(way) > 0 {
			i := random.Intn(len(way))
			r.Take(now, &way[i])
			way = append(way[:i], way[i+1:]...)
		}
		for s.Say(now, &p) { // probes
			r.Take(now, &p)
		}
		for p = (transport.Packet{}); r.Say(now, &p); p = (transport.Packet{}) {
			s.Take(now, &p)
		}
	}
	if bytes != total {
		t.Errorf("%d bytes are acknowledged of %d", bytes, total)
	}
}
