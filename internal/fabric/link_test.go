package fabric

import (
	"math"
	"slices"
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// up is a whole cable of a rate.
func up(r unit.Rate) LinkState { return LinkState{Up: true, Rate: r} }

// The frames of a port whose rate changes are compared with a frame-by-frame reference. Each frame begins when the
// one before it is out, at the rate of that time, and keeps that rate. Sent never decreases and never exceeds what
// the rates allow.
func TestRatesOverTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, 2, func(s *queue.Spec) { s.Watchdog.On = false })
		var arrived []unit.Time
		b.TapPort(b.hosts[1], true)
		b.Tap = func(at unit.Time, _ int32, out bool, _ *Packet) {
			if !out {
				arrived = append(arrived, at)
			}
		}
		type change struct {
			at   unit.Time
			rate unit.Rate
		}
		changes := []change{{0, 100 * unit.Gbps}}
		rates := []unit.Rate{100 * unit.Gbps, 50 * unit.Gbps, 25 * unit.Gbps, 30 * unit.Gbps, unit.Gbps}
		for range rapid.IntRange(0, 12).Draw(rt, "changes") {
			at := unit.Time(rapid.IntRange(1, 900).Draw(rt, "after"))*unit.Nanosecond + 1
			at += changes[len(changes)-1].at
			changes = append(changes, change{at, rapid.SampledFrom(rates).Draw(rt, "rate")})
		}
		var sizes []unit.Bytes
		var came, want []unit.Time
		at := unit.Time(0)
		for range rapid.IntRange(1, 20).Draw(rt, "frames") {
			at += unit.Time(rapid.IntRange(0, 500).Draw(rt, "gap")) * unit.Nanosecond
			payload := rapid.IntRange(1, 4096).Draw(rt, "payload")
			b.put(at, 0, 1, 24, uint16(payload))
			came, sizes = append(came, at), append(sizes, unit.Bytes(payload+62+roce.PreambleIFG))
		}
		free := unit.Time(0)
		for i, from := range came {
			from = max(from, free)
			rate := changes[0].rate
			for _, c := range changes {
				if c.at <= from {
					rate = c.rate
				}
			}
			free = from + unit.Serialize(sizes[i], rate)
			want = append(want, free+100*unit.Nanosecond)
		}
		sent := int64(0)
		look := func() {
			if now := b.Sent(b.in[1]); now < sent {
				rt.Fatalf("%v: %d bytes are out, %d were before", b.Q.Now(), now, sent)
			} else {
				sent = now
			}
			if err := b.Audit(); err != nil {
				rt.Fatalf("%v: %v", b.Q.Now(), err)
			}
		}
		for _, c := range changes[1:] {
			b.run((b.Q.Now() + c.at) / 2)
			look()
			b.run(c.at)
			look()
			b.SetLink(b.hosts[1], up(c.rate))
			look()
		}
		for range 20 {
			b.run(b.Q.Now() + 100*unit.Nanosecond)
			look()
		}
		b.run(unit.Millisecond)
		look()
		if !slices.Equal(arrived, want) {
			rt.Fatalf("changes %v: frames of %v that came at %v arrived at %v, want %v",
				changes, sizes, came, arrived, want)
		}
		total := int64(0)
		for _, s := range sizes {
			total += int64(s)
		}
		if sent != total {
			rt.Fatalf("%d bytes sent of %d", sent, total)
		}
	})
}

// A frame that cuts through a switch leaves its ingress at the rate at which it began to arrive. A faster egress
// waits for its end, however often the cable's rate changes meanwhile.
func TestTailOfAFrameKeepsItsRate(t *testing.T) {
	const prop = 3 * unit.Microsecond // longer than a frame: several are on the cable
	spec := queue.Default()
	build := Build(8)
	a, z := build.AddHost(), build.AddHost()
	s1 := build.AddSwitch(SwitchConfig{Name: "s1", Spec: &spec, CutThrough: true})
	pa, _ := build.Connect(a, s1, Link{Rate: 100 * unit.Gbps, Prop: prop, Response: unit.Nanosecond})
	pz, _ := build.Connect(z, s1, Link{Rate: 100 * unit.Gbps, Prop: prop, Response: unit.Nanosecond})
	n, err := build.Finish(func(int32) string { return "s1" })
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Net: n, hosts: []int32{pa, pz}, in: []int32{pa + 1, pz + 1}, got: map[int32]map[uint8]int64{}}
	b.attach(s1, 2)
	var begin, end []unit.Time // times of frames at the egress
	b.TapPort(b.in[1], true)
	b.TapPort(b.in[0], true)
	b.Tap = func(at unit.Time, port int32, out bool, _ *Packet) {
		switch {
		case out && port == b.in[1]:
			begin = append(begin, at)
		case !out && port == b.in[0]:
			end = append(end, at)
		}
	}
	rates := []unit.Rate{100 * unit.Gbps, 10 * unit.Gbps, 50 * unit.Gbps, 25 * unit.Gbps, 100 * unit.Gbps}
	for i, r := range rates { // one frame at each rate; all are in flight when the last one leaves
		b.run(max(b.Q.Now(), b.Ports[pa].BusyUntil))
		b.SetLink(pa, up(r))
		pi := b.Alloc()
		p := &b.Packets[pi]
		p.Dst, p.Payload, p.Size, p.Opcode, p.TOS, p.PSN = 1, 1000, 1062, roce.WriteOnly, 24<<2|ECT0,
			uint32(i)
		b.Transmit(b.Q.Now(), pa, &b.Ports[pa], pi, p)
	}
	b.run(unit.Millisecond)
	slices.Sort(end)
	if len(begin) != len(rates) || len(end) != len(rates) {
		t.Fatalf("%d frames began to leave, %d came", len(begin), len(end))
	}
	free := unit.Time(0) // the egress
	for i, r := range rates {
		// A header of 54 bytes arrives before the rest if the egress is no faster.
		lead := unit.Time(0)
		if r == 100*unit.Gbps {
			lead = unit.Serialize(1062-headerLen, r)
		}
		// The end of a frame on the tap includes the gap after the frame, as arrivals do.
		want := max(end[i]-lead, free)
		free = want + unit.Serialize(1062+roce.PreambleIFG, 100*unit.Gbps)
		if begin[i] != want {
			t.Errorf("frame %d, at %v: all of it was in at %v, it left from %v, want %v",
				i, r, end[i], begin[i], want)
		}
	}
}

// A pause lasts its quanta at the port's current rate (802.1Q 36.1.3.3). When the rate rises the pauses in force
// are retransmitted, because they would end early.
func TestPauseFollowsTheRate(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.PFCQuanta = 1000 })
	slow, fast := roce.PauseTime(1000, 10*unit.Gbps), roce.PauseTime(1000, 100*unit.Gbps)
	b.SetLink(b.in[0], up(10*unit.Gbps))
	from := unit.Time(-1)
	var open unit.Time // times during which the sender could send
	b.Trace = func(at unit.Time, what string, port int32, _ int) {
		switch {
		case port != b.hosts[0]:
		case what == "resume":
			from = at
		case what == "pause" && from >= 0:
			open, from = open+at-from, -1
		}
	}
	b.ing[b.slot(b.in[0], 3)].pausing = true
	b.sendPause(b.slot(b.in[0], 3))
	b.run(50 * unit.Nanosecond) // the pause is in flight; its repetition is due at half of its 51 us
	frames := b.PauseFrames
	b.SetLink(b.in[0], up(100*unit.Gbps))
	b.run(b.Q.Now() + 10*fast)
	if open != 0 || b.PauseFrames < frames+15 {
		t.Errorf("the sender was let go for %v, %d pauses came in ten times their quanta",
			open, b.PauseFrames-frames)
	}
	b.resume(b.slot(b.in[0], 3))
	b.run(b.Q.Now() + unit.Microsecond)
	b.sendPause(b.slot(b.in[0], 3)) // once
	b.refresh.Disarm(b.slot(b.in[0], 3))
	b.SetLink(b.in[0], up(10*unit.Gbps))
	b.run(b.Q.Now() + unit.Microsecond)
	before := b.PausedFor(b.hosts[0])
	b.run(b.Q.Now() + 2*slow)
	if got := b.PausedFor(b.hosts[0]) - before; got < slow-unit.Microsecond || got > slow {
		t.Errorf("1000 quanta at 10 Gbit/s paused for %v, want %v", got, slow)
	}
}

// A bit error rate begins, changes and ends. The losses agree with it, and the wait for the next error has the same
// distribution before and after a change.
func TestErrorsOverTime(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.Watchdog.On = false })
	lost := func(ber float64) int64 {
		s := up(100 * unit.Gbps)
		s.BER = ber
		b.SetLink(b.hosts[1], s)
		before := b.CorruptDrops
		for i := range 40_000 {
			b.put(b.Q.Now()+unit.Time(i%100)*400*unit.Nanosecond, 0, 1, 24, 4000)
			if i%100 == 99 {
				b.run(b.Q.Now() + 41*unit.Microsecond)
			}
		}
		return b.CorruptDrops - before
	}
	s := up(100 * unit.Gbps)
	for _, s.BER = range []float64{1e-6, 1e-8} {
		b.SetLink(b.hosts[1], s)
	}
	left := b.cfg[b.in[1]].bitsLeft
	s.BER = 1e-6
	if b.SetLink(b.hosts[1], s); math.Abs(b.cfg[b.in[1]].bitsLeft/left-0.01) > 1e-9 {
		t.Errorf("%g bits to the next error became %g at 100 times the errors", left, b.cfg[b.in[1]].bitsLeft)
	}
	for _, ber := range []float64{0, 1e-6, 1e-7, 1e-6, 0, 1e-7, 0} {
		want := 40_000 * 4062 * 8 * ber // 1,300 or 130, of a Poisson distribution
		if got := float64(lost(ber)); math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("bit error rate %g: %v of 40,000 frames lost, want about %v", ber, got, want)
		}
	}
}

// After any changes of a cable, once its state is the initial one nothing of them is left: no pause, no retained
// packet, no waiting port.
func TestNothingIsLeftOfEvents(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, 3, func(s *queue.Spec) {
			s.Watchdog.On = false
			s.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 20 * unit.KB, XOn: 10 * unit.KB}
		})
		for range rapid.IntRange(1, 30).Draw(rt, "events") {
			for i := range rapid.IntRange(0, 20).Draw(rt, "frames") {
				b.put(b.Q.Now()+unit.Time(i), rapid.IntRange(0, 1).Draw(rt, "from"), 2, 24, 4000)
			}
			b.SetLink(b.hosts[rapid.IntRange(0, 2).Draw(rt, "host")], LinkState{
				Up: rapid.Bool().Draw(rt, "up"),
				Rate: []unit.Rate{100 * unit.Gbps, 50 * unit.Gbps,
					unit.Gbps}[rapid.IntRange(0, 2).Draw(rt, "rate")],
				BER: rapid.SampledFrom([]float64{0, 1e-6}).Draw(rt, "errors")})
			b.run(b.Q.Now() + unit.Time(rapid.IntRange(0, 3000).Draw(rt, "wait"))*unit.Nanosecond)
			if err := b.Audit(); err != nil {
				rt.Fatal(err)
			}
		}
		for _, h := range b.hosts {
			b.SetLink(h, up(100*unit.Gbps))
		}
		b.run(b.Q.Now() + 50*unit.Millisecond) // a pause of 65,535 quanta lasts 34 ms at 1 Gbit/s
		for i, p := range b.Ports {
			if p.Paused|p.NonEmpty|p.Flags != 0 || p.Armed || p.Down || p.BusyUntil > b.Q.Now() {
				rt.Fatalf("port %d: %+v", i, p)
			}
		}
		for s, g := range b.ing {
			if g.pausing || g.shared != 0 || g.headroom != 0 {
				rt.Fatalf("ingress %d: %+v", s, g)
			}
		}
		if b.InUse() != 0 || b.Q.Len() != 0 {
			rt.Fatalf("%d packets and %d events are left", b.InUse(), b.Q.Len())
		}
	})
}

// A pause in flight when a cable breaks has no effect: the repaired cable starts without pauses.
func TestAPauseInABrokenCableIsVoid(t *testing.T) {
	b := newBench(t, 2, nil)
	b.SendPause(b.in[0], 3)
	b.SetLink(b.in[0], LinkState{Rate: 100 * unit.Gbps})
	b.SendResume(b.in[0], 3) // does not go out
	b.run(unit.Microsecond)
	b.SetLink(b.in[0], up(100*unit.Gbps))
	if b.Ports[b.hosts[0]].Paused != 0 || b.Stats[b.hosts[0]].PauseGot != 0 {
		t.Errorf("the sender is paused by nobody: %v of it", b.PausedFor(b.hosts[0]))
	}
}

// Neither end of a cable begins a frame at the new rate before the other end's frame is out. Otherwise a pause
// after a frame of 9 KB at 1 Gbit/s would reach a sender of 100 Gbit/s 73 us late, after 900 KB.
func TestBothEndsTrain(t *testing.T) {
	b := newBench(t, 2, nil)
	b.SetLink(b.hosts[0], up(unit.Gbps))
	b.put(0, 1, 0, 24, 9000)
	b.run(unit.Microsecond)
	slow := b.Ports[b.in[0]].BusyUntil
	b.SetLink(b.hosts[0], up(100*unit.Gbps))
	if got := b.Ports[b.hosts[0]].BusyUntil; got != slow || slow < 70*unit.Microsecond {
		t.Errorf("the switch is out with its frame at %v, the host may begin at %v", slow, got)
	}
	if sent := b.Sent(b.hosts[0]); sent != 0 {
		t.Errorf("%d bytes of nothing are out", sent)
	}
}
