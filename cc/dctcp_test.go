package cc_test

import (
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// acks acknowledges the packets of a window one by one; marked is the number of marks.
func acks(c cc.Controller, now *unit.Time, packets, marked int) {
	for i := range packets {
		*now += unit.Microsecond
		c.OnAck(*now, &cc.Ack{Bytes: 4096, InFlight: c.Decision().Window - 4096, RTT: 10 * unit.Microsecond,
			Marked: i < marked})
	}
}

// RFC 8257, 3.3: alpha becomes (1-g) alpha + g F per window. A window with marks shrinks by alpha/2, once; a window
// without marks grows by a packet.
func TestDCTCPWindow(t *testing.T) {
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 32768 * unit.Nanosecond} // holds 100 packets
	c := swiftly(t, "dctcp", path)
	now := unit.Time(0)
	if got := c.Decision().Window; got != 100*4096 {
		t.Fatalf("it begins with %v", got)
	}
	acks(c, &now, 1, 0) // count windows from here on
	acks(c, &now, 100, 0)
	if got := signal(t, c, cc.SignalWindow) / 4096; got < 100.99 || got > 101.02 {
		t.Errorf("a window without marks: %v packets", got)
	}
	alpha, window := signal(t, c, cc.SignalAlpha), signal(t, c, cc.SignalWindow)
	acks(c, &now, 102, 51)
	if got, want := signal(t, c, cc.SignalWindow), window*(1-alpha/2); got < want || got > want+4096 {
		t.Errorf("half a window marked: %v bytes, want %v and what the other half added", got, want)
	}
	if got, want := signal(t, c, cc.SignalAlpha), alpha*15/16+0.5/16; got < want*0.99 || got > want*1.01 {
		t.Errorf("alpha %v, want %v", got, want)
	}
	if cuts, _ := c.Counter(cc.CounterCuts); cuts != 1 {
		t.Errorf("%d cuts in one window", cuts)
	}
}

// RFC 8257, 3.3, and RFC 3168, 6.1.2: a window of data begins with the reduction. Marks on both sides of the end of a
// window of observation reduce once.
func TestDCTCPReducesOnce(t *testing.T) {
	c := swiftly(t, "dctcp", cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 32768 * unit.Nanosecond})
	now := unit.Time(0)
	acks(c, &now, 1, 0)
	acks(c, &now, 97, 0)
	acks(c, &now, 90, 90)
	if cuts, _ := c.Counter(cc.CounterCuts); cuts != 1 {
		t.Errorf("%d cuts in one window of data", cuts)
	}
	acks(c, &now, 20, 20)
	if cuts, _ := c.Counter(cc.CounterCuts); cuts != 2 {
		t.Errorf("%d cuts in two windows of data", cuts)
	}
}

// RFC 3168, 6.1.2: a window of data is what is in flight at the reduction, be the congestion window larger.
func TestDCTCPReducesOnceForWhatIsInFlight(t *testing.T) {
	c := swiftly(t, "dctcp", cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 32768 * unit.Nanosecond})
	for i := range 50 {
		c.OnAck(unit.Time(i)*unit.Microsecond, &cc.Ack{Bytes: 4096, InFlight: 9 * 4096, RTT: 33 * unit.Microsecond,
			Marked: true})
	}
	if cuts, _ := c.Counter(cc.CounterCuts); cuts < 5 || cuts > 6 {
		t.Errorf("%d cuts in five windows of ten packets", cuts)
	}
}

// A loss halves the window, and a time-out sets it to the minimum. An unused window does not grow. On an unknown
// path the window doubles per round trip until the first mark or loss.
func TestDCTCPLossAndStart(t *testing.T) {
	now := unit.Time(0)
	c := swiftly(t, "dctcp", cc.Path{Line: 100 * unit.Gbps, MTU: 4096})
	acks(c, &now, 10, 0)
	if got := signal(t, c, cc.SignalWindow) / 4096; got != 20 {
		t.Errorf("slow start from 10 packets: %v", got)
	}
	c.OnLoss(now, cc.LossNak)
	c.OnLoss(now, cc.LossNak)
	if got := signal(t, c, cc.SignalWindow) / 4096; got != 10 {
		t.Errorf("two losses in a window: %v packets", got)
	}
	acks(c, &now, 1, 0)
	for range 50 {
		c.OnAck(now, &cc.Ack{Bytes: 4096, RTT: unit.Microsecond})
	}
	if got := signal(t, c, cc.SignalWindow) / 4096; got < 10 || got > 10.11 {
		t.Errorf("one packet in flight at a time: %v packets", got)
	}
	c.OnLoss(now, cc.LossTimeout)
	if got := c.Decision().Window; got != 4096 {
		t.Errorf("a time-out: %v", got)
	}
	if cuts, _ := c.Counter("loss_cuts"); cuts != 2 {
		t.Errorf("%d cuts for losses", cuts)
	}
}
