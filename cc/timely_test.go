package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

// Algorithm 1 of the paper, completion by completion. Below t_low the rate rises for any gradient; above t_high it
// falls in proportion to the excess. Between them it follows the gradient, five times as fast after five
// completions without a rise.
func TestTimelyFollowsTheGradient(t *testing.T) {
	path := cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * unit.Microsecond}
	c := swiftly(t, "timely:paper,gain=0.5,ai=100Mbps,min_rate=100Mbps", path)
	const us = unit.Microsecond
	rate, change, last, calm := 100e9, 0.0, 0.0, 0
	for i, rtt := range []unit.Time{30, 600, 600, 200, 180, 160, 140, 120, 100, 80, 90, 40, 400, 60} {
		c.OnAck(unit.Time(i)*us, &cc.Ack{Bytes: 65536, RTT: rtt * us})
		x := float64(rtt)
		if i > 0 {
			change = 0.5*change + 0.5*(x-last)
			gradient := change / 20
			if calm++; gradient > 0 {
				calm = 0
			}
			switch {
			case x < 50:
				rate += 1e8
			case x > 500:
				rate *= 1 - 0.8*(1-500/x)
			case gradient > 0:
				rate *= math.Max(0, 1-0.8*gradient)
			case calm >= 5:
				rate += 5e8
			default:
				rate += 1e8
			}
			rate = math.Min(math.Max(rate, 1e8), 100e9)
		}
		last = x
		if got := signal(t, c, cc.SignalRate); !near(got, rate) {
			t.Fatalf("completion %d, %v: %g bit/s, want %g", i, rtt*us, got, rate)
		}
	}
}

// A loss halves the rate once per round trip, down to the floor.
func TestTimelyLosses(t *testing.T) {
	c := swiftly(t, "timely:paper", cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 20 * unit.Microsecond})
	for i := range unit.Time(40) {
		c.OnLoss(i*10*unit.Microsecond, cc.LossNak)
		if i == 3 {
			if got := c.Decision().Rate; got != 25*unit.Gbps {
				t.Errorf("after 40 us of losses %v", got)
			}
		}
	}
	if got := c.Decision().Rate; got != 100*unit.Mbps {
		t.Errorf("at the end %v", got)
	}
	wrong, err := cc.Parse("timely:paper,t_low=600us")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.Make(100 * unit.Gbps); err == nil ||
		err.Error() != "t_high of timely: 500us is not above t_low, 600us" {
		t.Error(err)
	}
}
