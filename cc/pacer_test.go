package cc_test

import (
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

// A NIC at its lowest rate, 16 Mbit/s at 400G, sends a packet of 4 KB every 2 ms,
// and its timer raises the rate after 300 us: the next packet then goes at the
// new rate, as from a token bucket. It waited out the old gap, which made 2 MB
// among 128 hosts take 2.3 ms where they take 0.48.
func TestARaiseShortensTheWait(t *testing.T) {
	ctl := &steps{rate: 16 * unit.Mbps}
	p := cc.Pacer{Ctl: ctl, Line: 400 * unit.Gbps}
	p.Decide(0)
	p.Delay(0, 4000, 0)
	if p.NextAt != 2*unit.Millisecond {
		t.Fatalf("the next packet goes at %v", p.NextAt)
	}
	ctl.rate = 160 * unit.Mbps // 1.7 ms are left: a tenth of them
	p.Decide(300 * unit.Microsecond)
	if want := 470 * unit.Microsecond; p.NextAt != want {
		t.Errorf("after a tenfold raise the next packet goes at %v, want %v", p.NextAt, want)
	}
	ctl.rate = 16 * unit.Mbps // a cut leaves the packet in line where it is
	p.Decide(400 * unit.Microsecond)
	if want := 470 * unit.Microsecond; p.NextAt != want {
		t.Errorf("after a cut the next packet goes at %v, want %v", p.NextAt, want)
	}
}
