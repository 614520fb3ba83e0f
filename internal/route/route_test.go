package route

import (
	"math"
	"testing"

	"railyard/internal/rng"
	"railyard/param"
	"railyard/unit"
)

// rates has line rates at which a byte takes a whole number of picoseconds, and others (150G, 300G, 600G, 3.2T, 7
// Gbit/s).
var rates = []unit.Rate{100 * unit.Gbps, 150 * unit.Gbps, 160 * unit.Gbps, 300 * unit.Gbps, 400 * unit.Gbps,
	600 * unit.Gbps, 800 * unit.Gbps, 3200 * unit.Gbps, 7 * unit.Gbps}

// chooser returns a chooser of a policy and ports of one rate.
func chooser(p *Policy, ports int, r unit.Rate) (Chooser, []Port, []int32) {
	v := p.Defaults
	if p == &Flowlet {
		v = param.Values{"flowlet_gap": 50 * unit.Microsecond, "utilisation": 70.,
			"interval": 50 * unit.Microsecond}
	}
	c := p.New(v, Site{Seed: 1, Stream: rng.New(1, "test")})
	all, group := make([]Port, ports), make([]int32, ports)
	for i := range all {
		all[i].Rate, group[i] = r, int32(i)
	}
	return c, all, group
}

// A port that sends at a share of its line rate has that load, for any rate and any sampling (CONGA section 3.2: X
// = R tau).
func TestLoadIsShareOfLineRate(t *testing.T) {
	for _, r := range rates {
		for _, share := range []float64{0.25, 0.5, 0.95} {
			for _, every := range []unit.Time{unit.Microsecond, 20 * unit.Microsecond, unit.Millisecond} {
				c, ports, _ := chooser(&Flowlet, 1, r)
				now := unit.Time(0)
				for now < 20*unit.Millisecond {
					now += every
					ports[0].TxBytes = int64(share * float64(unit.InTime(r, now)))
					c.(*flowlet).load(now, 0, ports)
				}
				if got := c.(*flowlet).load(now, 0, ports); math.Abs(got-share) > 0.02*share {
					t.Errorf("%v at %v of its rate, looked at every %v: load %.4f", r, share, every, got)
				}
			}
		}
	}
}

// A flowlet leaves a port that is loaded above the threshold at every rate, and stays on another.
func TestFlowletMovesAtEveryRate(t *testing.T) {
	for _, r := range rates {
		for share, want := range map[float64]int64{0.5: 0, 0.9: 1} {
			c, ports, group := chooser(&Flowlet, 2, r)
			first := c.Pick(0, group, 0, 77, ports)
			now := unit.Time(0)
			for range 100 {
				now += 10 * unit.Microsecond
				ports[first].TxBytes = int64(share * float64(unit.InTime(r, now)))
				c.(*flowlet).load(now, first, ports)
			}
			second := c.Pick(now, group, 0, 77, ports)
			if c.Moved() != want || (second != first) != (want == 1) {
				t.Errorf("%v, port at %v of its rate: %d moves, want %d", r, share, c.Moved(), want)
			}
		}
	}
}

// Of two ports with equal queues the faster one is less loaded. Of two ports of one rate the one with the shorter
// queue is, even if a byte takes no whole number of picoseconds.
func TestWaitingBytesTakeTime(t *testing.T) {
	for _, r := range rates {
		c, ports, group := chooser(&SprayLeast, 2, r)
		ports[0].Queued, ports[1].Queued = 4_000_000, 400_000
		for range 50 {
			if got := c.Pick(0, group, 0, 1, ports); got != 1 {
				t.Fatalf("%v: of 4 MB and 400 KB waiting, chose 4 MB", r)
			}
		}
		ports[0].Queued, ports[0].Rate = 400_000, 16*r
		for range 50 {
			if got := c.Pick(0, group, 0, 1, ports); got != 0 {
				t.Fatalf("%v: chose it over 16 times that rate with equal bytes waiting", r)
			}
		}
	}
}

// All ports of the lowest load band are used. A port with a long queue, or one paused by its peer, is not used
// while there is another.
func TestLeastLoadedByBands(t *testing.T) {
	c, ports, group := chooser(&SprayLeast, 4, 400*unit.Gbps)
	count := func() (n [4]int) {
		for range 4000 {
			n[c.Pick(0, group, 0, 1, ports)]++
		}
		return n
	}
	for i, n := range count() {
		if n < 850 || n > 1150 {
			t.Errorf("idle: port %d got %d of 4000 packets", i, n)
		}
	}
	ports[0].Queued, ports[1].Paused = 300_000, 1<<3
	ports[2].Queued = 4_000 // the same band as port 3, but later
	n := count()
	if n[0]+n[1] != 0 || n[2] < 850 || n[2] > 1150 {
		t.Errorf("300 KB waiting, paused, 4 KB waiting, idle: %v of 4000; want 0, 0, a quarter, the rest", n)
	}
	ports[2].Queued, ports[3].Queued = 9_000_000, 9_000_000
	if n = count(); n[0] != 4000 {
		t.Errorf("all but one far behind or paused: %v", n)
	}
}
