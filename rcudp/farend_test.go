package rcudp

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// An acknowledgement reports its sender's delay of the packet, from its arrival in the kernel to the
// acknowledgement's departure, and Swift subtracts it from the round trip. Its TTL shows the number of switches. An
// end without that request reports nothing, and its ACK has IBTA's format.
func TestFarEnd(t *testing.T) {
	for _, asked := range []bool{true, false} {
		w := notifyWorld(t)
		a, b, from := w.conns[0], w.conns[1], w.addrs
		choice, err := cc.Parse("swift:sockets,start_window=50")
		if err != nil {
			t.Fatal(err)
		}
		build, err := choice.Make(100 * unit.Gbps)
		if err != nil {
			t.Fatal(err)
		}
		a.SetController(0, build(cc.Path{Line: 100 * unit.Gbps, MTU: 1024}))
		b.FarEnd = asked
		var d Datagram
		exchange := func(now, waited, answers, back unit.Time, ttl uint8, spoil func(b []byte)) {
			t.Helper()
			if err := a.Post(&rc.Request{Verb: rc.Write, VA: base, RKey: key, Len: 100,
				Data: make([]byte, 100)}); err != nil {
				t.Fatal(err)
			}
			if !w.ends[0].Next(now, make([]byte, 0, 256), 0, &d) {
				t.Fatal("nothing to send")
			}
			w.ends[1].Met(waited, 64)
			w.ends[1].Input(now+waited, from[0], d.TOS, 0, d.Append(nil))
			if !w.ends[1].Next(now+waited+answers, make([]byte, 0, 256), 0, &d) {
				t.Fatal("no answer")
			}
			want := roce.BTHLen + roce.AETHLen + roce.ICRCLen
			if asked {
				want += roce.FarDelayLen
			}
			if d.Len() != want {
				t.Errorf("asked %v: an ACK of %d bytes, want %d", asked, d.Len(), want)
			}
			if spoil != nil {
				spoil(d.Head)
				w.ends[1].Reseal(&d, 0)
			}
			w.ends[0].Met(0, ttl)
			w.ends[0].Input(now+waited+answers+back, from[1], d.TOS, 0, d.Append(nil))
		}
		read := func(name string) float64 { x, _ := a.Controller().Signal(0, name); return x }

		exchange(unit.Millisecond, 300*unit.Microsecond, 100*unit.Microsecond, 50*unit.Microsecond, 61, nil)
		far, one, hops := 400e-6, 1e-3, 1+3/6.55
		if !asked {
			far, hops = 0, 1
		}
		if got := read("far_delay"); math.Abs(got-far) > 1e-9 {
			t.Errorf("asked %v: the far end takes %v s, want %v", asked, got, far)
		}
		if got := read(cc.SignalDelay); math.Abs(got-450e-6) > 1e-9 {
			t.Errorf("asked %v: a round trip of %v s", asked, got)
		}
		flows := read("target_delay") - one*hops // flow scaling: small for 50 packets
		if flows < 0 || flows > 0.2*one {
			t.Errorf("asked %v: a target of %v s", asked, read("target_delay"))
		}
		// The far end takes three milliseconds. The fabric's delay is unchanged, so the other window is reduced.
		exchange(unit.Second, 3*unit.Millisecond, 0, 50*unit.Microsecond, 64, nil)
		cuts, _ := a.Controller().Counter(cc.CounterCuts)
		if farCuts, _ := a.Controller().Counter("far_cuts"); cuts != 1 || farCuts == 1 != asked {
			t.Errorf("asked %v: %d cuts, %d for the far end", asked, cuts, farCuts)
		}
		if !asked {
			continue
		}
		// For any report of a peer, the round trip stays positive.
		exchange(2*unit.Second, 0, 0, 20*unit.Microsecond, 255, func(b []byte) {
			copy(b[len(b)-4:], []byte{255, 255, 255, 255})
		})
		if got := read("far_delay"); math.Abs(got-4.294967295) > 1e-9 || read("target_delay") <= 0 ||
			w.ends[0].Count.BadICRC != 0 {
			t.Errorf("a far end that claims %v s, a target of %v s, %+v", got, read("target_delay"),
				w.ends[0].Count)
		}
	}
}
