package rcudp

import (
	"net/netip"
	"testing"

	"railyard/cc"
	"railyard/mrc"
	"railyard/rc"
	"railyard/transport"
	"railyard/unit"
)

// hears is a congestion control that records the last acknowledgement.
type hears struct {
	cc.Controller
	ack cc.Ack
}

func (h *hears) OnAck(_ unit.Time, a *cc.Ack) { h.ack = *a }

// With MRC the congestion control learns for how long the sockets and both ends delayed the packet and the answer,
// even if stamps wrap meanwhile. The remainder is the network's delay.
func TestMRCWaited(t *testing.T) {
	const us, ms = unit.Microsecond, unit.Millisecond
	w := notifyWorld(t)
	h := &hears{Controller: cc.None{Line: 100 * unit.Gbps}}
	for i, c := range w.conns {
		c.Ports = []uint16{2000, 2001, 2002, 2003}
		w.ends[i].cfg.Carrier = &mrc.Protocol
		o := MRCOptions{MTU: 1024, Values: mrc.Protocol.Wire.Values(transport.Sockets{Ports: 4, Planes: 1,
			Segments: Segments(1024), Immediates: 16, Timeout: 67 * ms}),
			CC: func(cc.Path) cc.Controller { return h }}
		if err := w.ends[i].CarryMRC(c, &o); err != nil {
			t.Fatal(err)
		}
	}
	now := ms
	for _, x := range []struct{ there, far, back, near unit.Time }{
		{30 * us, us, 20 * us, us}, {30 * us, 20 * ms, 20 * us, 30 * ms}, {400 * us, ms, 20 * us, 9 * ms},
	} {
		r := &rc.Request{Verb: rc.Write, VA: base, RKey: key, Len: 100, Data: make([]byte, 100)}
		w.conns[0].now = now
		if err := w.conns[0].Post(r); err != nil {
			t.Fatal(err)
		}
		sent := now
		for from, to := 0, 1; from < 2; from, to = from+1, 0 {
			var d Datagram
			if !w.ends[from].Next(now, make([]byte, 0, 256), 0, &d) {
				t.Fatalf("%v: end %d says nothing: %+v", now, from, w.ends[from].Count)
			}
			wire, waits := x.there, x.far
			if to == 0 {
				wire, waits = x.back, x.near
			}
			now += wire + waits
			w.ends[to].Met(waits, 64)
			src := netip.AddrPortFrom(w.addrs[from].Addr(), d.Port)
			w.ends[to].Input(now, src, d.TOS, 0, d.Append(nil))
		}
		if a := h.ack; a.RTT != now-sent || !a.FarWithin {
			t.Errorf("%+v: a round trip of %v, want %v; %+v", x, a.RTT, now-sent, w.ends[0].Count)
		}
		network, want := h.ack.RTT-h.ack.Far, x.there+x.back
		if off := network - want; off < -256*unit.Nanosecond || off > 256*unit.Nanosecond {
			t.Errorf("%+v: the network took %v, want %v", x, network, want)
		}
		now += ms
	}
}

// Without a carrier that has a wire format, no connection becomes an MRC connection; it stays RC.
func TestMRCWithoutCarrier(t *testing.T) {
	for _, carrier := range []*transport.Protocol{nil, {Name: "wireless"}} {
		w := notifyWorld(t)
		w.ends[0].cfg.Carrier = carrier
		c := w.conns[0]
		c.Ports = []uint16{2000}
		if err := w.ends[0].CarryMRC(c, &MRCOptions{MTU: 1024}); err == nil || c.mrc != nil {
			t.Errorf("carrier %v: error %v, carried %v", carrier, err, c.mrc != nil)
		}
		r := &rc.Request{Verb: rc.Write, VA: base, RKey: key, Len: 100, Data: make([]byte, 100)}
		if err := c.Post(r); err != nil {
			t.Errorf("carrier %v: %v", carrier, err)
		}
	}
}
