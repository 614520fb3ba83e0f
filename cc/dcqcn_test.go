package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"
)

const line = 40 * unit.Gbps

// SIGCOMM 2015, figure 6 and equations 1 to 4: the first CNP halves the rate,
// five timer steps bring it back towards the target, then 40 Mbit/s per step.
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

// HANDBOOK.md 2.3: alpha halves in 177.1 updates of 55 us, 9.74 ms.
func TestAlphaHalfLife(t *testing.T) {
	p := cc.DCQCNPaper(line)
	c := cc.NewDCQCN(&p, line)
	c.OnCNP(0)
	if got := c.Alpha(unit.Time(177.1 * 55e6)); math.Abs(got-0.5) > 0.003 {
		t.Errorf("alpha is %.4f after its half life", got)
	}
}

// A sender that hears nothing more returns to line rate and stops its timer.
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

// Alpha ends at nothing: looked at every 50 us for seconds after the last CNP, as samples do, it
// neither stays at the least number there is nor lingers among those that are slow to calculate with.
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
