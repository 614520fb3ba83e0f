package cc_test

import (
	"math"
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// hpcc holds the values of HPCC's "dcqcn" runs (run.py): t_alpha 1, t_dec 4, t_inc 300, g 1/256, and a minimum of 1
// Gbit/s. AI and HAI are 5 and 50 Mbit/s per 25 Gbit/s.
func hpcc(line unit.Rate) cc.DCQCNParams {
	p := cc.DCQCNNIC(line)
	p.G, p.AlphaInit, p.MinRate = 1.0/256, 1, unit.Gbps
	return p
}

// runTo serves a controller's timers until a moment.
func runTo(c cc.Controller, now unit.Time) {
	for d := c.Decision(); d.TimerAt <= now; d = c.Decision() {
		c.OnTimer(d.TimerAt)
	}
}

// HPCC rdma-hw.cc, cnp_received_mlx: the first CNP starts alpha's updates and the checks for reductions, and
// changes no rate. At the first check, 4 us and 1 ns later, alpha has been updated four times.
func TestNICCutsOneIntervalAfterTheFirstCNP(t *testing.T) {
	p := hpcc(100 * unit.Gbps)
	c := cc.NewDCQCN(&p, 100*unit.Gbps)
	first := 10 * unit.Microsecond
	c.OnCNP(first)
	check := first + 4*unit.Microsecond + unit.Nanosecond
	if d := c.Decision(); d.Rate != 100*unit.Gbps || d.TimerAt != check {
		t.Fatalf("after the first CNP %v until %v, want line rate until %v", d.Rate, d.TimerAt, check)
	}
	runTo(c, check)
	want := 100e9 * (1 - math.Pow(255.0/256, 4)/2)
	if got := float64(c.Decision().Rate); math.Abs(got-want) > 1 {
		t.Errorf("the first cut leaves %.0f bit/s, want %.0f", got, want)
	}
	runTo(c, check+200*unit.Microsecond)
	if c.Cuts != 1 {
		t.Errorf("one CNP made %d cuts", c.Cuts)
	}
}

// HPCC rdma-hw.cc, UpdateAlphaMlx: of the four updates in 4 us, the one after a CNP raises alpha and three lower
// it. With a CNP every 4 us alpha settles at g / (1 - (1-g)^4). That is 0.251 for g = 1/256, and 0.248 before each
// rise.
func TestNICAlphaSettlesAtAQuarter(t *testing.T) {
	p := hpcc(100 * unit.Gbps)
	c := cc.NewDCQCN(&p, 100*unit.Gbps)
	now := unit.Time(0)
	for ; now < 10*unit.Millisecond; now += 4 * unit.Microsecond {
		runTo(c, now)
		c.OnCNP(now)
	}
	high := p.G / (1 - math.Pow(1-p.G, 4))
	lo, hi := 1.0, 0.0
	for i := range unit.Time(4) {
		a := c.Alpha(now - 4*unit.Microsecond + i*unit.Microsecond)
		lo, hi = min(lo, a), max(hi, a)
	}
	if math.Abs(hi-high) > 1e-3 || math.Abs(lo-high*math.Pow(1-p.G, 3)) > 1e-3 {
		t.Errorf("alpha moves between %.4f and %.4f, want %.4f and %.4f", lo, hi, high*math.Pow(1-p.G, 3),
			high)
	}
}

// mlx is an independent implementation of HPCC's sender, event by event, after rdma-hw.cc 618 to 737. It shares no
// code with cc.
type mlx struct {
	p                         *cc.DCQCNParams
	line, rate, target, alpha float64
	on, alphaHeard, cutHeard  bool
	alphaAt, checkAt, raiseAt unit.Time
	stage                     int
}

func newMlx(p *cc.DCQCNParams, line unit.Rate) *mlx {
	return &mlx{p: p, line: float64(line), rate: float64(line), target: float64(line), alphaAt: unit.Never,
		checkAt: unit.Never, raiseAt: unit.Never}
}

func (m *mlx) cnp(now unit.Time) {
	m.until(now)
	m.alphaHeard, m.cutHeard = true, true
	if !m.on {
		m.on, m.alpha, m.alphaHeard = true, m.p.AlphaInit, false
		m.alphaAt, m.checkAt = now+m.p.AlphaTimer, now+m.p.CutInterval+unit.Nanosecond
	}
}

func (m *mlx) until(end unit.Time) {
	for {
		switch at := min(m.alphaAt, m.checkAt, m.raiseAt); {
		case at > end:
			return
		case at == m.alphaAt:
			m.alpha *= 1 - m.p.G
			if m.alphaHeard {
				m.alpha += m.p.G
			}
			m.alphaHeard = false
			m.alphaAt += m.p.AlphaTimer
		case at == m.checkAt:
			m.checkAt += m.p.CutInterval
			if m.cutHeard {
				if m.p.ClampTarget || m.stage > 0 {
					m.target = m.rate
				}
				m.rate = max(float64(m.p.MinRate), m.rate*(1-m.alpha/2))
				m.stage, m.cutHeard, m.raiseAt = 0, false, at+m.p.RateTimer
			}
		default:
			m.raiseAt += m.p.RateTimer
			switch {
			case m.stage == m.p.F:
				m.target += float64(m.p.AI)
			case m.stage > m.p.F:
				m.target += float64(m.p.HAI)
			}
			m.target = min(m.target, m.line)
			m.rate = m.rate/2 + m.target/2
			m.stage++
		}
	}
}

// Whatever CNPs arrive, the NIC form is at HPCC's rates, target and alpha.
func TestNICFollowsHPCC(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := unit.Rate(rapid.SampledFrom([]int64{25, 100, 400}).Draw(rt, "gigabits")) * unit.Gbps
		p := hpcc(line)
		p.F = rapid.IntRange(1, 5).Draw(rt, "f")
		p.ClampTarget = rapid.Bool().Draw(rt, "clamp")
		p.AlphaTimer = rapid.SampledFrom([]unit.Time{unit.Microsecond, 50 * unit.Microsecond}).Draw(rt,
			"alpha timer")
		p.CutInterval = rapid.SampledFrom([]unit.Time{4 * unit.Microsecond, 50 * unit.Microsecond}).Draw(rt,
			"cut interval")
		c, want := cc.NewDCQCN(&p, line), newMlx(&p, line)
		now := unit.Time(0)
		for range rapid.IntRange(1, 60).Draw(rt, "cnps") {
			longest := rapid.SampledFrom([]unit.Time{6 * unit.Microsecond, 60 * unit.Microsecond,
				2 * unit.Millisecond}).Draw(rt, "longest")
			now += unit.Time(rapid.Int64Range(1, int64(longest)).Draw(rt, "wait"))
			runTo(c, now)
			c.OnCNP(now)
			want.cnp(now)
			// Ours calls 0.01 % below line rate line rate and stops its timer.
			rate, target := c.Rates()
			if d := math.Abs(float64(rate)-want.rate) / want.rate; d > 2e-4 {
				rt.Fatalf("at %v rate %v, HPCC %v", now, rate, unit.Rate(want.rate))
			}
			if d := math.Abs(float64(target)-want.target) / want.target; d > 2e-4 {
				rt.Fatalf("at %v target %v, HPCC %v", now, target, unit.Rate(want.target))
			}
			if d := math.Abs(c.Alpha(now) - want.alpha); d > 1e-9 {
				rt.Fatalf("at %v alpha %v, HPCC %v", now, c.Alpha(now), want.alpha)
			}
		}
	})
}
