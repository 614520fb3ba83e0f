package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// docs/references.md, thresholds (the HPCC model's order): arriving bytes use the shared pool up to xOFF, and
// headroom beyond. A paused peer changes nothing about that. With half of the pool free again, the packets of a
// peer that ignores pauses fit there, and none is lost.
func TestPausedIngressUsesTheSharedPool(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) {
		s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 1000 * unit.KB, XOn: 50 * unit.KB}
	})
	for i := range 250 { // 1,015 KB at once, over xOFF
		b.put(unit.Time(i), 0, 1, 24, 4000)
	}
	b.run(40 * unit.Microsecond) // 500 KB leave
	g := &b.ing[b.slot(b.in[0], 3)]
	if !g.pausing || g.headroom != 0 || g.shared > 520_000 {
		t.Fatalf("pausing %v, shared %d, headroom %d: not what this test is about", g.pausing, g.shared,
			g.headroom)
	}
	for i := range 60 {
		b.put(b.Q.Now()+unit.Time(i), 0, 1, 24, 4000)
	}
	b.run(b.Q.Now() + unit.Nanosecond)
	if b.Drops != 0 || g.headroom != 0 {
		t.Errorf("%d packets lost and %d bytes in headroom, with %d of 1,000,000 bytes below xOFF in use",
			b.Drops, g.headroom, g.shared)
	}
	if err := b.Audit(); err != nil {
		t.Error(err)
	}
}

// SAI (SAI_BUFFER_PROFILE_ATTR_XON_TH): the peer may go on when the group's usage is down to max(XON_TH, limit -
// XON_OFFSET_TH). Here the threshold is half of the free buffer, so it grows while the ingress drains: usage u with
// threshold (buffer - u) / 2.
func TestDynamicThresholdResumes(t *testing.T) {
	for _, c := range []struct {
		name        string
		xon, offset unit.Bytes
		want        func(limit float64) float64
	}{
		{"neither: two frames below", 0, 0, func(limit float64) float64 { return limit - 2*9216 }},
		{"xON alone decides", 50_000, 0, func(float64) float64 { return 50_000 }},
		{"xON above the threshold: once headroom is empty", 900_000, 0,
			func(limit float64) float64 { return limit }},
		{"the offset", 0, 100_000, func(limit float64) float64 { return limit - 100_000 }},
		{"xON above the offset's", 500_000, 300_000,
			func(limit float64) float64 { return max(500_000, limit-300_000) }},
		{"the offset above xON's", 20_000, 3556, func(limit float64) float64 { return limit - 3556 }},
	} {
		b := newBench(t, 2, func(s *queue.Spec) {
			s.Buffer = 2 * unit.MB
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, Alpha: 0.5, XOn: c.xon,
				XOnOffset: c.offset, Headroom: 200 * unit.KB}
		})
		sw := &b.Sw[0]
		slot := b.slot(b.in[0], 3)
		got, limit := -1., 0.
		b.Trace = func(_ unit.Time, what string, _ int32, _ int) {
			if what == "xon" && got < 0 {
				got, limit = float64(b.ing[slot].shared), float64(sw.threshold(&b.spec.Queues[3]))
			}
		}
		for i := range 170 {
			b.put(unit.Time(i), 0, 1, 24, 4000)
		}
		b.run(unit.Millisecond)
		// It is checked when a packet of 4,062 bytes leaves.
		if want := c.want(limit); b.Pauses == 0 || got > want || got < want-4062*1.5 {
			t.Errorf("%s: %d pauses, resumed at %.0f with a threshold of %.0f, want at %.0f", c.name,
				b.Pauses, got, limit, want)
		}
		if b.Drops != 0 {
			t.Errorf("%s: %d packets lost", c.name, b.Drops)
		}
	}
}

// After a flap of the cable the sender is no longer paused. The congested end repeats the pause as soon as the
// cable is repaired, not at the next refresh, and nothing is lost.
func TestFlapRepeatsThePause(t *testing.T) {
	for _, gap := range []unit.Time{0, 300 * unit.Microsecond} { // shorter and longer than a refresh
		b := newBench(t, 3, func(s *queue.Spec) {
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 100 * unit.KB, XOn: 50 * unit.KB}
		})
		b.SendPause(b.hosts[1], 3) // the receiver is blocked for ever
		frame := unit.Serialize(4062+20, 100*unit.Gbps)
		for at := unit.Microsecond; at < 800*unit.Microsecond; at += frame { // line rate, but while paused
			if d := at - 100*unit.Microsecond; d >= 0 && d < frame {
				b.SetLink(b.hosts[0], LinkState{Up: false, Rate: 100 * unit.Gbps})
				sent := b.Stats[b.in[0]].PauseSent
				b.run(at + gap)
				if got := b.Stats[b.in[0]].PauseSent - sent; got != 0 {
					t.Errorf("%d pauses were counted as sent into a broken cable", got)
				}
				b.SetLink(b.hosts[0], LinkState{Up: true, Rate: 100 * unit.Gbps})
				at += gap
			}
			if b.Ports[b.hosts[0]].Paused&(1<<3) == 0 {
				b.put(at+100*unit.Nanosecond, 0, 1, 24, 4000)
			}
			b.run(at + frame)
		}
		if b.Drops != 0 {
			t.Errorf("down for %v: %d packets of a lossless class lost", gap, b.Drops)
		}
	}
}

// Pauses of one quantum would have to be repeated in less time than one frame takes on the wire. They are then sent
// one after another, and none is scheduled on a busy wire.
func TestPausesFitTheWire(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.PFCQuanta = 1 })
	b.SendPause(b.in[0], 3)
	b.run(100 * unit.Microsecond)
	frame := unit.Serialize(roce.PFCLen+roce.PreambleIFG, 100*unit.Gbps)
	if most := int64(100*unit.Microsecond/frame) + 1; b.PauseFrames > most {
		t.Errorf("%d pauses in 100 us, %d fit the wire", b.PauseFrames, most)
	}
	if late := b.Ports[b.in[0]].BusyUntil - 100*unit.Microsecond; late > frame {
		t.Errorf("the wire is promised for %v", late)
	}
}

// The cause of a pause arrives with the pause, not before. It is the congested port, whatever its index in the
// switch; a pause of a NIC names no port.
func TestPauseTellsItsCause(t *testing.T) {
	for _, to := range []int{1, 2, 5} {
		b := newBench(t, 6, func(s *queue.Spec) {
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 20 * unit.KB, XOn: 10 * unit.KB}
		})
		b.SendPause(b.hosts[to], 3)
		b.run(unit.Microsecond)
		for i := range 6 { // 24 KB for a port that is paused
			b.put(b.Q.Now()+unit.Time(i), 0, to, 24, 4000)
		}
		b.run(b.Q.Now() + 6)
		if b.Pauses != 2 || b.PauseCause(b.hosts[0], 3) != -1 { // those of the NIC and of the switch
			t.Errorf("to %d: %d pauses, cause %d before one has arrived", to, b.Pauses,
				b.PauseCause(b.hosts[0], 3))
		}
		b.run(b.Q.Now() + unit.Microsecond)
		if got := b.PauseCause(b.hosts[0], 3); got != b.in[to] {
			t.Errorf("to %d: host 0 was paused by port %d, want %d", to, got, b.in[to])
		}
		if got := b.PauseCause(b.in[to], 3); got != -1 {
			t.Errorf("to %d: the NIC names port %d of nobody", to, got)
		}
	}
}

// The three fields of a frame do not overlap, even at their bounds.
func TestPauseFrame(t *testing.T) {
	for _, prio := range []int{0, 3, 7} {
		for _, quanta := range []int{1, 1000, roce.MaxQuanta} {
			b := newBench(t, 2, nil)
			ports := make([]int32, maxPorts)
			for i := range ports {
				ports[i] = int32(2 * i)
			}
			b.Sw[0].ports = ports
			for _, place := range []int{0, 1, maxPorts - 1} {
				h := make(holding, maxPorts)
				h[place].bytes = 1
				b.Sw[0].held, b.ing[b.slot(b.in[0], prio)].held = []holding{h}, 1
				f := pauseFrame(int32(b.pauseFor(b.in[0], prio, quanta)))
				if f.priority() != prio || f.quanta() != quanta || f.cause() != place {
					t.Errorf("%d, %d, %d became %d, %d, %d", prio, quanta, place, f.priority(), f.quanta(),
						f.cause())
				}
			}
			if f := b.pauseFor(b.in[0], prio, 0); f.quanta() != 0 || f.cause() != -1 {
				t.Errorf("to go on has quanta %d and cause %d", f.quanta(), f.cause())
			}
		}
	}
}
