package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// swiftly is a Swift sender with htsim's constants and, by default, 100 Gbit/s.
func swiftly(t *testing.T, choice string, path cc.Path) cc.Controller {
	t.Helper()
	c, err := cc.Parse(choice)
	if err != nil {
		t.Fatal(err)
	}
	build, err := c.Make(path.Line)
	if err != nil {
		t.Fatal(err)
	}
	return build(path)
}

func signal(t *testing.T, c cc.Controller, name string) float64 {
	t.Helper()
	x, ok := c.Signal(0, name)
	if !ok {
		t.Fatalf("no signal %s", name)
	}
	return x
}

// Before the first measurement no delay is reported, although rates use the path's round trip.
func TestSwiftDelayIsMeasured(t *testing.T) {
	c := swiftly(t, "swift", cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 14 * unit.Microsecond})
	c.OnLoss(5*unit.Microsecond, cc.LossNak)
	c.OnAck(6*unit.Microsecond, &cc.Ack{Bytes: 4096}) // the acknowledgement of a retransmitted packet
	if got := signal(t, c, cc.SignalDelay); got != 0 {
		t.Errorf("%g s, nothing was measured", got)
	}
	c.OnAck(9*unit.Microsecond, &cc.Ack{Bytes: 4096, RTT: 9 * unit.Microsecond})
	if got := signal(t, c, cc.SignalDelay); !near(got, 9e-6) {
		t.Errorf("%g s, 9 us were measured", got)
	}
}

// TestSwiftFabricDelay: the delay compared with the target of 20 us is the round trip minus the far end's part, if
// the acknowledgement reports it (Kumar et al., "Swift", SIGCOMM 2020, section 3.1). A window of 10 packets grows
// by a tenth of a packet below the target, and shrinks to 5 packets far above it.
func TestSwiftFabricDelay(t *testing.T) {
	const us, mtu = unit.Microsecond, 4096
	for _, c := range []struct {
		rtt, far unit.Time
		within   bool
		want     float64
	}{{90 * us, 80 * us, true, 10.1}, {90 * us, 80 * us, false, 5}, {90 * us, 0, true, 5},
		{90 * us, 95 * us, true, 10.1}, {15 * us, 90 * us, false, 10.1}} {
		s := swiftly(t, "swift:htsim,fs_range=0,hop_scale=0,start_window=10,end_target=1ms",
			cc.Path{Line: 100 * unit.Gbps, MTU: mtu, RTT: 10 * us})
		s.OnAck(100*us, &cc.Ack{Bytes: mtu, RTT: c.rtt, Far: c.far, FarWithin: c.within})
		if got := signal(t, s, cc.SignalWindow) / mtu; math.Abs(got-c.want) > 1e-3 {
			t.Errorf("a round trip of %v, %v at the far end (within it: %v): a window of %g packets, want %g", c.rtt, c.far,
				c.within, got, c.want)
		}
	}
}

func near(x, want float64) bool { return math.Abs(x-want) <= 1e-9*math.Abs(want) }

// docs/references.md, swift: target = base + h hops + clamp(alpha/sqrt(w) - beta, 0, range). Here base is 20 us, h
// is base/6.55 and range is 5 bases. alpha and beta are such that 0.1 packets add the range and 100 packets add
// nothing.
func TestSwiftTarget(t *testing.T) {
	const base, span = 20e-6, 100e-6
	alpha := span / (1/math.Sqrt(0.1) - 1/math.Sqrt(100))
	for _, hops := range []int{0, 1, 5} {
		for _, window := range []string{"1", "4", "25", "99", "100", "200"} {
			w := map[string]float64{"1": 1, "4": 4, "25": 25, "99": 99, "100": 100, "200": 200}[window]
			c := swiftly(t, "swift:htsim,start_window="+window,
				cc.Path{Line: 400 * unit.Gbps, MTU: 4096, RTT: 10 * unit.Microsecond, Hops: hops})
			want := base + base/6.55*float64(hops) + max(0, alpha/math.Sqrt(w)-alpha/math.Sqrt(100))
			if got := signal(t, c, "target_delay"); !near(got, want) {
				t.Errorf("%d switches, %s packets: a target of %g s, want %g", hops, window, got, want)
			}
		}
	}
	// 0.1 packets and fewer have the whole range.
	c := swiftly(t, "swift:htsim,reset_after=1", cc.Path{Line: 100 * unit.Gbps, MTU: 4096})
	c.OnLoss(0, cc.LossTimeout)
	if got := signal(t, c, "target_delay"); !near(got, base+span) {
		t.Errorf("at the floor the target is %g s, want %g", got, base+span)
	}
}

// Below the target a window grows by ai per acknowledged window; a window below one packet grows by ai per packet.
// Above the target it shrinks by beta times the excess, by at most max_mdf, once per round trip.
func TestSwiftWindow(t *testing.T) {
	const us, mtu = unit.Microsecond, 4096
	path := cc.Path{Line: 100 * unit.Gbps, MTU: mtu, RTT: 10 * us}
	c := swiftly(t, "swift:htsim,fs_range=0,hop_scale=0,start_window=10", path)
	window := func(want float64, what string) {
		t.Helper()
		if got := signal(t, c, "window"); !near(got, want*mtu) {
			t.Fatalf("%s: %g packets, want %g", what, got/mtu, want)
		}
	}
	ack := func(at, rtt unit.Time, packets unit.Bytes) {
		c.OnAck(at, &cc.Ack{Bytes: packets * mtu, RTT: rtt})
	}
	ack(100*us, 15*us, 5)
	window(10.5, "half a window acknowledged below the target")
	ack(110*us, 0, 5)
	window(10.5, "nothing measured")
	ack(200*us, 25*us, 1)
	window(10.5*(1-0.8*5/25), "5 us of 25 too much")
	after := 10.5 * (1 - 0.8*5/25)
	ack(224*us, 25*us, 1)
	window(after, "once more within the round trip")
	ack(400*us, 200*us, 1)
	window(after/2, "far too much")
	if d := c.Decision(); d.Window != 4*mtu || d.Rate != path.Line {
		t.Errorf("with %g packets it decides %+v", after/2, d)
	}
	// With a window below one packet, one packet is in flight, and a window is sent per round trip.
	for at := 900 * us; signal(t, c, "window") >= mtu/4; at += 300 * us {
		ack(at, 100*us, 1)
	}
	w := signal(t, c, "window") / mtu
	pace := w * mtu * 8 / 100e-6
	if d := c.Decision(); d.Window != mtu || !near(float64(d.Rate), math.Floor(pace)) || d.Rate == path.Line {
		t.Errorf("with %g packets it decides %+v, want a pace of %.0f", w, d, pace)
	}
	ack(10_000*us, 15*us, 1)
	window(w+1, "a packet acknowledged below the target")
}

// An unused window stops growing at the line rate's bytes in the highest target. If the port's rate changes, the
// new rate sets the limit.
func TestSwiftCeiling(t *testing.T) {
	const us, mtu = unit.Microsecond, 4096
	c := swiftly(t, "swift:htsim,hop_scale=0,fs_range=0",
		cc.Path{Line: 100 * unit.Gbps, MTU: mtu, RTT: 10 * us})
	grow := func(gbps float64, line unit.Rate) {
		t.Helper()
		for i := range unit.Time(100_000) {
			c.OnAck(i*us, &cc.Ack{Bytes: mtu, RTT: 10 * us})
		}
		want := gbps * 1e9 * 20e-6 / 8 / mtu
		if got := signal(t, c, "window") / mtu; !near(got, want) || c.Decision().Rate != line {
			t.Errorf("at %v the window ends at %g packets, want %g: %+v", line, got, want, c.Decision())
		}
	}
	grow(100, 100*unit.Gbps)
	c.(cc.Liner).OnLine(0, 400*unit.Gbps)
	grow(400, 400*unit.Gbps)
	c.(cc.Liner).OnLine(0, 50*unit.Gbps)
	grow(400, 50*unit.Gbps) // only delay, not the limit, reduces a used window
}

// A loss halves the window, once per round trip. Repeated time-outs set it to its minimum, and an acknowledgement
// resets their count.
func TestSwiftLosses(t *testing.T) {
	const us, mtu = unit.Microsecond, 4096
	c := swiftly(t, "swift:htsim,start_window=64", cc.Path{Line: 100 * unit.Gbps, MTU: mtu, RTT: 10 * us})
	for i, x := range []struct {
		at   unit.Time
		loss cc.Loss
		want float64
	}{{100 * us, cc.LossNak, 32}, {105 * us, cc.LossNak, 32},
		{200 * us, cc.LossTimeout, 16}, {300 * us, cc.LossTimeout, 8}} {
		c.OnLoss(x.at, x.loss)
		if got := signal(t, c, "window") / mtu; got != x.want {
			t.Fatalf("loss %d leaves %g packets, want %g", i, got, x.want)
		}
	}
	c.OnAck(310*us, &cc.Ack{Bytes: mtu})
	c.OnLoss(400*us, cc.LossTimeout)
	c.OnLoss(500*us, cc.LossTimeout)
	if got := signal(t, c, "window") / mtu; got != 2 {
		t.Fatalf("%g packets, want 2: there was an acknowledgement between the time-outs", got)
	}
	c.OnLoss(600*us, cc.LossTimeout)
	resets, _ := c.Counter("resets")
	cuts, _ := c.Counter("cuts")
	if got := signal(t, c, "window") / mtu; got != 0.001 || resets != 1 || cuts != 6 {
		t.Errorf("three time-outs in a row leave %g packets, %d resets, %d cuts", got, resets, cuts)
	}
}

// On an unknown path the base is the minimum measured round trip, unless the parameter sets one.
func TestSwiftMeasuresItsBase(t *testing.T) {
	const us = unit.Microsecond
	c := swiftly(t, "swift:path,fs_range=0", cc.Path{Line: 100 * unit.Gbps, MTU: 4096})
	for i, x := range []struct{ rtt, want unit.Time }{
		{80 * us, 80 * us}, {50 * us, 50 * us}, {90 * us, 50 * us},
	} {
		c.OnAck(unit.Time(i)*unit.Millisecond, &cc.Ack{Bytes: 4096, RTT: x.rtt})
		if got := signal(t, c, "target_delay"); !near(got, x.want.Seconds()) {
			t.Errorf("after %v the target is %g s, want %v", x.rtt, got, x.want)
		}
	}
	c = swiftly(t, "swift:path,fs_range=0,base_target=1ms", cc.Path{Line: 100 * unit.Gbps, MTU: 4096})
	c.OnAck(0, &cc.Ack{Bytes: 4096, RTT: 50 * us})
	if got := signal(t, c, "target_delay"); !near(got, 1e-3) {
		t.Errorf("the target is %g s, where it was said to be 1 ms", got)
	}
}
