package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

const line = 40 * unit.Gbps

// SIGCOMM 2015, figure 6 and equations 1 to 4: the first CNP halves the rate. Five timer steps return it towards
// the target, then it grows by 40 Mbit/s per step.
func TestRecoveryStages(t *testing.T) {
	p := cc.DCQCNPaper(line)
	c := cc.NewDCQCN(&p, line)
	if c.Decision().TimerAt != unit.Never {
		t.Fatal("an uncongested sender runs a timer")
	}
	c.OnCNP(0)
	for k := 0; k <= 5; k++ {
		want := float64(line) * (1 - math.Pow(2, -float64(k+1)))
		if got, _ := c.Rates(); math.Abs(float64(got)-want) > 1 {
			t.Errorf("after %d recovery steps %v, want %v", k, got, unit.Rate(want))
		}
		c.OnTimer(c.Decision().TimerAt)
	}
	c.OnCNP(c.Decision().TimerAt)
	_, target := c.Rates()
	for range 6 {
		c.OnTimer(c.Decision().TimerAt)
	}
	if _, got := c.Rates(); got != target+40*unit.Mbps {
		t.Errorf("the sixth step moved the target from %v to %v, want 40 Mbit/s more", target, got)
	}
}

// docs/references.md, dcqcn: alpha halves in 177.1 updates of 55 us, 9.74 ms.
func TestAlphaHalfLife(t *testing.T) {
	p := cc.DCQCNPaper(line)
	c := cc.NewDCQCN(&p, line)
	c.OnCNP(0)
	if got := c.Alpha(unit.Time(177.1 * 55e6)); math.Abs(got-0.5) > 0.003 {
		t.Errorf("alpha is %.4f after its half life", got)
	}
}

// A sender without further CNPs returns to line rate and stops its timer.
func TestReturnsToLineRate(t *testing.T) {
	for name, p := range map[string]cc.DCQCNParams{"paper": cc.DCQCNPaper(line), "nic": cc.DCQCNNIC(line)} {
		c := cc.NewDCQCN(&p, line)
		for i := range 20 {
			c.OnCNP(unit.Time(i) * 50 * unit.Microsecond)
		}
		steps := 0
		for c.Decision().TimerAt != unit.Never {
			c.OnTimer(c.Decision().TimerAt)
			if steps++; steps > 100_000 {
				t.Fatalf("%s: still at %v", name, c.Decision().Rate)
			}
		}
		if c.Decision().Rate != line {
			t.Errorf("%s: settles at %v", name, c.Decision().Rate)
		}
	}
}

// Alpha decays to zero when it is sampled every 50 us for seconds after the last CNP. It does not stop at the
// smallest float or at a denormal number.
func TestAlphaEnds(t *testing.T) {
	for _, p := range []cc.DCQCNParams{cc.DCQCNPaper(100 * unit.Gbps), cc.DCQCNNIC(100 * unit.Gbps)} {
		d := cc.NewDCQCN(&p, 100*unit.Gbps)
		d.OnCNP(0)
		for now := unit.Time(0); now < 15*unit.Second; now += 50 * unit.Microsecond {
			if a := d.Alpha(now); a > 0 && a < 0x1p-1022 {
				t.Fatalf("alpha is %g after %v", a, now)
			}
		}
		if a := d.Alpha(15 * unit.Second); a != 0 {
			t.Errorf("alpha is %g after 15 s without a CNP", a)
		}
	}
}

// A sender whose port has half its rate starts reductions and ends increases at that rate. When the port recovers
// the rate rises on, and at once if no CNP reduced it.
func TestPortOfAnotherRate(t *testing.T) {
	p := cc.DCQCNPaper(100 * unit.Gbps)
	d := cc.NewDCQCN(&p, 100*unit.Gbps)
	d.OnLine(0, 50*unit.Gbps)
	d.OnCNP(unit.Microsecond)
	if current, target := d.Rates(); current != 25*unit.Gbps ||
		target != 50*unit.Gbps { // alpha is 1 at first
		t.Errorf("cut on a port of 50 Gbit/s: %v, target %v", current, target)
	}
	rise := func() unit.Rate {
		for i := 0; d.Decision().TimerAt < unit.Never && i < 100_000; i++ {
			d.OnTimer(d.Decision().TimerAt)
		}
		return d.Decision().Rate
	}
	if got := rise(); got != 50*unit.Gbps {
		t.Errorf("it rises to %v", got)
	}
	if d.OnLine(unit.Second, 100*unit.Gbps); d.Decision().Rate != 100*unit.Gbps {
		t.Errorf("whole again: %v", d.Decision().Rate)
	}
	d.OnCNP(unit.Second) // alpha is zero, so the reduction is zero
	if current, _ := d.Rates(); current < 99*unit.Gbps {
		t.Errorf("cut on the port that is whole again: %v", current)
	}
	if d.OnLine(unit.Second, 10*unit.Gbps); d.Decision().Rate != 10*unit.Gbps {
		t.Errorf("cut, and a port of 10 Gbit/s: %v", d.Decision().Rate)
	}
	if d.OnLine(unit.Second, 100*unit.Gbps); d.Decision().Rate != 10*unit.Gbps || rise() != 100*unit.Gbps {
		t.Errorf("cut, and whole again: %v", d.Decision().Rate)
	}
}
