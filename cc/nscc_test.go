package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// The tests of NSCC use the network for which its steps are given, so the steps need no scaling. Packets have 4 KB.
// A window holds 36 packets at most, and a packet is 4096 bytes.
const (
	nsccMTU  = 4096
	nsccMost = 1.5 * 12e-6 * 100e9 / 8
)

func nsccOn(t testing.TB, choice string, rtt unit.Time) cc.Controller {
	c, err := cc.Parse(choice)
	if err != nil {
		t.Fatal(err)
	}
	build, err := c.Make(100 * unit.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	return build(cc.Path{Line: 100 * unit.Gbps, MTU: nsccMTU, RTT: rtt, Hops: 5})
}

func comesTo(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-3 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The four cases of docs/references.md, nscc, are checked by their closed forms. Increases take effect after 8
// packets and one more.
func TestNSCCCases(t *testing.T) {
	const us = unit.Microsecond
	for _, x := range []struct {
		name   string
		rtt    unit.Time // measured
		marked bool
		want   func(w float64) float64
	}{
		// 4 packets of increase per 12 us below the target of 12 us, per window: at 3 us of delay 3 packets.
		{"proportional", 15 * us, false, func(w float64) float64 {
			return w + 9*nsccMTU*(4*nsccMTU)*(9.0/12)/w
		}},
		{"fair", 24 * us, false, func(w float64) float64 { return w + 9*nsccMTU*(5*nsccMTU)/w }},
		{"none", 15 * us, true, func(w float64) float64 { return w }},
	} {
		c := nsccOn(t, "nscc:path,eta=0,qa_share=0", 12*us)
		for range 20 { // make room below the largest window
			c.OnLoss(0, cc.LossNak)
		}
		before := signal(t, c, cc.SignalWindow)
		comesTo(t, "after twenty losses", before, nsccMost-20*nsccMTU)
		for range 9 {
			c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: x.rtt, Marked: x.marked})
		}
		comesTo(t, x.name, signal(t, c, cc.SignalWindow), x.want(before))
	}
}

// A mark with delay cuts by the mean delay, once per round trip, by half at most.
func TestNSCCDecrease(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:path,qa_share=0,ewma=1,eta=0", 12*us) // the mean is the last delay
	mark := func(at, rtt unit.Time) float64 {
		c.OnAck(at, &cc.Ack{Bytes: 1, RTT: rtt, Marked: true})
		return signal(t, c, cc.SignalWindow)
	}
	w := nsccMost * (1 - 0.8*(16.0-12)/16)
	comesTo(t, "16 us of delay", mark(1*us, 28*us), w)
	comesTo(t, "again in the same round trip", mark(12*us, 28*us), w)
	comesTo(t, "200 us of delay", mark(20*us, 212*us), w/2)
	if n, _ := c.Counter(cc.CounterCuts); n != 2 {
		t.Errorf("%d cuts", n)
	}
}

// If ports to servers do not mark, a delay above the target also decreases the window without a mark, because it
// may be an incast's. With credit it does not, because credit controls the queue of an incast.
func TestNSCCBehindSilentPorts(t *testing.T) {
	const us = unit.Microsecond
	for _, x := range []struct {
		choice string
		silent bool
		less   bool
	}{{"nscc:path", true, true}, {"nscc:path", false, false}, {"uec:request", true, false}} {
		c, err := cc.Parse(x.choice)
		if err != nil {
			t.Fatal(err)
		}
		build, err := c.Make(100 * unit.Gbps)
		if err != nil {
			t.Fatal(err)
		}
		ctl := build(cc.Path{Line: 100 * unit.Gbps, MTU: nsccMTU, RTT: 12 * us, Hops: 5, CoreMarks: x.silent})
		ctl.OnLoss(0, cc.LossNak)
		before := ctl.Decision().Window
		for i := range 200 {
			ctl.OnAck(unit.Time(i)*us, &cc.Ack{Bytes: nsccMTU, RTT: 48 * us, InFlight: before})
		}
		if after := ctl.Decision().Window; (after < before) != x.less {
			t.Errorf("%s, silent %v: the window goes from %v to %v", x.choice, x.silent, before, after)
		}
	}
}

// If almost nothing arrives and packets are lost, the window becomes the bytes that arrived. Marked
// acknowledgements of packets in flight then change nothing.
func TestNSCCQuickAdapt(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:path,eta=0", 12*us)
	at := 30 * us // the first period has begun and ended
	c.OnAck(at, &cc.Ack{Bytes: nsccMTU, InFlight: 40 * nsccMTU, RTT: 12 * us})
	for range 2 {
		c.OnAck(at+us, &cc.Ack{Bytes: nsccMTU, InFlight: 40 * nsccMTU, RTT: 40 * us, Marked: true})
	}
	c.OnLoss(at+25*us, cc.LossNak)
	comesTo(t, "two packets arrived in a period", signal(t, c, cc.SignalWindow), 2*nsccMTU)
	if n, _ := c.Counter("quick_adapts"); n != 1 {
		t.Errorf("%d quick adapts", n)
	}
	for range 30 {
		c.OnAck(at+26*us, &cc.Ack{Bytes: nsccMTU, RTT: 100 * us, Marked: true})
	}
	comesTo(t, "marks of what was under way", signal(t, c, cc.SignalWindow), 2*nsccMTU)
	c = nsccOn(t, "nscc:path,eta=0", 12*us)
	for i := range unit.Time(20) { // without a loss, and with more than an eighth of the window, never
		c.OnAck(i*10*us, &cc.Ack{Bytes: 5 * nsccMTU, RTT: 150 * us})
	}
	if n, _ := c.Counter("quick_adapts"); n != 0 {
		t.Errorf("%d quick adapts while all is well", n)
	}
}

// TestNSCCInFlightAtLoss: after a quick adapt, NSCC ignores marks on packets that were in flight at the loss. How
// much was in flight at the last acknowledgement is irrelevant.
func TestNSCCInFlightAtLoss(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:path,eta=0,ewma=1", 12*us)
	c.OnAck(30*us, &cc.Ack{Bytes: nsccMTU, RTT: 12 * us})
	c.OnAck(35*us, &cc.Ack{Bytes: 4 * nsccMTU, RTT: 12 * us})
	p := cc.Pacer{Ctl: c, MTU: nsccMTU}
	p.Lost(55*us, cc.LossTrimmed, 9*nsccMTU)
	w := signal(t, c, cc.SignalWindow)
	for i := range unit.Time(10) {
		c.OnAck(100*us+15*i*us, &cc.Ack{Bytes: nsccMTU, RTT: 40 * us, Marked: true})
		if got := signal(t, c, cc.SignalWindow); (got < w) != (i == 9) {
			t.Errorf("mark %d on a packet in flight: the window goes from %v to %v", i+1, w, got)
		}
	}
}

// A whole window without delay opens the window fast; the first delay ends the fast increase.
func TestNSCCFastIncrease(t *testing.T) {
	const us = unit.Microsecond
	c := nsccOn(t, "nscc:path,eta=0,qa_share=0,adjust_packets=100000,network_rtt=12us", 12*us)
	for range 30 {
		c.OnLoss(0, cc.LossNak)
	}
	w := signal(t, c, cc.SignalWindow)
	for acked := 0.0; acked <= w; acked += nsccMTU {
		comesTo(t, "before a window is acknowledged", signal(t, c, cc.SignalWindow), w)
		c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 12 * us})
	}
	comesTo(t, "then", signal(t, c, cc.SignalWindow), w+nsccMTU/4)
	c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 12*us + us/2})
	comesTo(t, "and again", signal(t, c, cc.SignalWindow), w+nsccMTU/2)
	c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 14 * us})
	c.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 12 * us})
	comesTo(t, "after a delay", signal(t, c, cc.SignalWindow), w+nsccMTU/2)
}

// Steps grow with the network's bandwidth-delay product: at 400 Gbit/s and 24 us eightfold.
func TestNSCCScales(t *testing.T) {
	const us = unit.Microsecond
	c, _ := cc.Parse("nscc:path,eta=0,qa_share=0")
	build, err := c.Make(400 * unit.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	big := build(cc.Path{Line: 400 * unit.Gbps, MTU: nsccMTU, RTT: 24 * us})
	for range 50 {
		big.OnLoss(0, cc.LossNak)
	}
	w := signal(t, big, cc.SignalWindow)
	comesTo(t, "largest window", w, 8*nsccMost-50*nsccMTU)
	for range 9 {
		big.OnAck(1, &cc.Ack{Bytes: nsccMTU, RTT: 60 * us})
	}
	comesTo(t, "fair increase", signal(t, big, cc.SignalWindow), w+9*nsccMTU*(8*5*nsccMTU)/w)
}

// For any inputs the window stays between a packet and the maximum. Unmarked acknowledgements without delay open
// any window to the maximum.
func TestNSCCBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rtt := unit.Time(rapid.Int64Range(int64(unit.Microsecond), int64(unit.Millisecond)).Draw(rt, "rtt"))
		c := nsccOn(t, "nscc:trim", rtt)
		most := max(1.5*rtt.Seconds()*100e9/8, nsccMTU)
		now := unit.Time(0)
		check := func() {
			if w := signal(t, c, cc.SignalWindow); w < nsccMTU || w > most*(1+1e-9) {
				rt.Fatalf("a window of %v bytes, %d to %v are allowed", w, nsccMTU, most)
			}
		}
		for range rapid.IntRange(0, 500).Draw(rt, "inputs") {
			now += unit.Time(rapid.Int64Range(0, int64(2*rtt)).Draw(rt, "wait"))
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0:
				c.OnLoss(now, cc.LossNak)
			default:
				c.OnAck(now, &cc.Ack{Bytes: unit.Bytes(rapid.IntRange(1, 64).Draw(rt, "packets")) * nsccMTU,
					InFlight: unit.Bytes(rapid.IntRange(0, 100).Draw(rt, "in flight")) * nsccMTU,
					RTT:      unit.Time(rapid.Int64Range(0, int64(20*rtt)).Draw(rt, "measured")),
					Marked:   rapid.Bool().Draw(rt, "marked")})
			}
			check()
		}
		for range 30_000 {
			now += rtt / 4
			c.OnAck(now, &cc.Ack{Bytes: c.Decision().Window, RTT: rtt})
		}
		check()
		if w := signal(t, c, cc.SignalWindow); w < most*(1-1e-9) {
			rt.Fatalf("the window opens to %v of %v", w, most)
		}
	})
}
