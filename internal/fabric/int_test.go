package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// A stamp has the port's rate when the frame starts, before and after a change of the cable's rate. A packet
// without telemetry, or without payload, is not written into.
func TestStampsRate(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.Watchdog.On = false })
	b.StampAll(unit.Microsecond)
	send := func(ask bool, payload uint16) *Told {
		pi := b.free // slot of the packet
		if pi < 0 {
			pi = int32(len(b.Packets))
		}
		b.put(b.Q.Now()+unit.Microsecond, 0, 1, 24, payload)
		if b.told[pi] = (Told{}); ask {
			b.Ask(pi, roce.TelemetryINT, 0)
		}
		b.run(b.Q.Now() + 10*unit.Microsecond)
		return &b.told[pi]
	}
	for _, r := range []unit.Rate{100 * unit.Gbps, 25 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps} {
		b.SetLink(b.in[1], up(r))
		got := send(true, 1000).Stamps()
		if len(got) != 1 || got[0].Rate() != r {
			t.Errorf("at %v the packet says %v", r, got)
		}
		if got := send(false, 1000); got.Hops != 0 {
			t.Errorf("a packet that asks for nothing says %v", got)
		}
		if got := send(true, 0); got.Hops != 0 {
			t.Errorf("a packet without payload says %v", got)
		}
	}
}

// TestAvailableBandwidth: a tag has a port's unused bandwidth in the interval before. 16 frames of 4,082 bytes in
// 10 us use 52.2 of 100 Gbit/s (draft-ravi-ippm-csig, signals ABW and ABW/C). The sender's initial value "all"
// stays on an idle port.
func TestAvailableBandwidth(t *testing.T) {
	const free = 1 - 16*4082*8/1e6
	for signal, want := range map[roce.Signal][2]float64{roce.SignalABW: {100e9, free * 100e9},
		roce.SignalABWC: {1, free}} {
		b := newBench(t, 2, func(s *queue.Spec) { s.Watchdog.On = false })
		b.StampAll(10 * unit.Microsecond)
		var tagged [2]int32
		for i := range 17 { // the 17th frame does not count itself
			at := 10*unit.Microsecond + unit.Time(i)*400*unit.Nanosecond
			if i == 16 {
				at = 20 * unit.Microsecond
			}
			b.put(at, 0, 1, 24, 4000)
			if i%16 == 0 {
				tagged[i/16] = int32(len(b.Packets) - 1)
				b.Ask(tagged[i/16], roce.TelemetryCSIGWide, signal)
			}
		}
		b.run(unit.Millisecond)
		for i, pi := range tagged {
			tag := &b.told[pi].Tag
			if got := tag.Signal(); got > want[i] || got < want[i]*0.999 {
				t.Errorf("signal %d: packet %d says %g, want %g", signal, i, got, want[i])
			}
		}
	}
}

// TestIFAGrows: a switch adds 32 bytes when a frame starts, and its port sends them. The metadata has the ports,
// the time in the switch, the queue, and the port's bytes sent, which include metadata, preamble and gap. Of three
// packets that arrive at once, the second and the third wait for the longer frames before them.
func TestIFAGrows(t *testing.T) {
	b := newBench(t, 4, func(s *queue.Spec) { s.Watchdog.On = false })
	b.StampAll(unit.Microsecond)
	const payload, at = 4000, 3 * unit.Microsecond
	var size int64
	for i := range 3 {
		b.put(at, i, 3, 24, payload)
		size = int64(b.Packets[i].Size)
		b.Ask(int32(i), roce.TelemetryIFA, 0)
	}
	b.run(unit.Millisecond)
	wire := size + roce.IFAHopLen + roce.PreambleIFG
	if sent := b.Ports[b.in[3]].TxBytes; sent != 3*wire {
		t.Errorf("%d bytes sent, want %d", sent, 3*wire)
	}
	for i := range int64(3) {
		hops := b.told[i].Stack.Hops()
		if len(hops) != 1 || int64(b.Packets[i].Size) != size+32 || b.told[i].Len() != 8+32 {
			t.Fatalf("%d bytes, %v", b.Packets[i].Size, hops)
		}
		h := &hops[0]
		waited := i * wire * 80 / 1000 // ns at 100 Gbit/s
		if h.Received != at || int64(h.Residence) < waited-2 || int64(h.Residence) > waited ||
			int64(h.Sent) != i*wire || int64(h.Ingress) != i+1 || h.Egress != 4 ||
			int64(h.Cells) != (2-i)*size/254*min(i, 1) || h.Speed() != 100*unit.Gbps {
			t.Errorf("packet %d: %+v", i+1, h)
		}
	}
	pi := b.Alloc()
	b.Echo(pi, 0)
	if b.told[pi].Stack == b.told[0].Stack || b.told[pi].Len() != 40 {
		t.Error("an acknowledgement shares the metadata of what it answers")
	}
	full := &Stack{n: roce.IFAHops}
	if b.push(0, b.in[3], &b.Ports[b.in[3]], &b.Packets[0], full, 0) != 0 || full.n != roce.IFAHops {
		t.Error("more metadata than the sender asked for")
	}
}
