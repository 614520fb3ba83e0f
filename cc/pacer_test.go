package cc_test

import (
	"fmt"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// steps is a controller whose rate the test sets.
type steps struct {
	cc.None
	rate unit.Rate
}

func (s *steps) Decision() cc.Decision {
	return cc.Decision{Rate: s.rate, TimerAt: unit.Never}
}

// A NIC at its lowest rate, 16 Mbit/s at 400G, sends a packet of 4 KB every 2 ms. Its timer raises the rate after
// 300 us, and the next packet is sent at the new rate, as from a token bucket. Before, it waited for the old gap,
// so that 2 MB among 128 hosts took 2.3 ms instead of 0.48.
func TestARaiseShortensTheWait(t *testing.T) {
	ctl := &steps{rate: 16 * unit.Mbps}
	p := cc.Pacer{Ctl: ctl, Line: 400 * unit.Gbps}
	p.Decide(0)
	p.Delay(0, 4000, 0)
	if p.NextAt != 2*unit.Millisecond {
		t.Fatalf("the next packet goes at %v", p.NextAt)
	}
	ctl.rate = 160 * unit.Mbps // of the remaining 1.7 ms, a tenth
	p.Decide(300 * unit.Microsecond)
	if want := 470 * unit.Microsecond; p.NextAt != want {
		t.Errorf("after a tenfold raise the next packet goes at %v, want %v", p.NextAt, want)
	}
	ctl.rate = 16 * unit.Mbps // a rate reduction does not delay the next packet
	p.Decide(400 * unit.Microsecond)
	if want := 470 * unit.Microsecond; p.NextAt != want {
		t.Errorf("after a cut the next packet goes at %v, want %v", p.NextAt, want)
	}
}

// asker requests an acknowledgement every N packets and has no window.
type asker struct {
	ear
	every int
}

func (a *asker) AsksEvery() int { return a.every }

// With an acknowledgement per third packet, every third packet has a request, with a window or without. With the
// window's own requests, one comes per eighth of the window. Other fields of an acknowledgement reach the
// controller.
func TestHowOftenPacketsAsk(t *testing.T) {
	asked := func(every int, window unit.Bytes) (psns []int) {
		p := cc.Pacer{Line: 100 * unit.Gbps, MTU: 4096}
		p.Start(&asker{ear{window: window}, every})
		p.Decide(0)
		for psn := range 10 {
			asks := p.Asks(4096 * unit.Bytes(psn+1))
			p.Launched(0, uint32(psn), asks, false)
			if asks {
				psns = append(psns, psn)
			}
		}
		return psns
	}
	for _, x := range []struct {
		every  int
		window unit.Bytes
		want   string
	}{
		{3, 0, "[2 5 8]"}, {1, 0, "[0 1 2 3 4 5 6 7 8 9]"}, {0, 0, "[]"},
		{0, 32 * 4096, "[3 7]"}, {3, 32 * 4096, "[2 5 8]"}, {0, 16 * 4096, "[1 3 5 7 9]"},
	} {
		if got := fmt.Sprint(asked(x.every, x.window)); got != x.want {
			t.Errorf("every %d, window %d: packets %s ask, want %s", x.every, x.window, got, x.want)
		}
	}
	e := &ear{}
	p := cc.Pacer{Line: 100 * unit.Gbps, MTU: 4096}
	p.Start(e)
	p.Acknowledged(1, 1, 0, cc.Ack{Bytes: 4096, Marked: true})
	p.Acknowledged(2, 2, 1, cc.Ack{Bytes: 4096})
	if len(e.acks) != 2 || !e.acks[0].Marked || e.acks[1].Marked {
		t.Errorf("the controller heard %+v", e.acks)
	}
}
