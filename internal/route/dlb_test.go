package route

import (
	"testing"

	"railyard/internal/rng"
	"railyard/unit"
)

// graded is four idle ports of 100 Gbit/s.
func graded() []Port {
	ports := make([]Port, 4)
	for i := range ports {
		setPortRate(&ports[i], 100*unit.Gbps)
	}
	return ports
}

func setPortRate(p *Port, r unit.Rate) {
	p.Rate, p.PsPerByte = r, int32(8*int64(unit.Second)/int64(r))
}

// Grades are quarters of line rate until the queue reaches a first band, and then each covers twice the previous
// time. A paused port has the last grade. A slow port's grades use its own rate.
func TestGrades(t *testing.T) {
	const tau = 10 * unit.Microsecond
	for _, c := range []struct {
		what   string
		share  float64 // share of line rate, for long
		queued unit.Bytes
		rate   unit.Rate
		paused bool
		want   uint8
	}{
		{"idle", 0, 0, 100, false, 0}, {"a fifth", 0.2, 0, 100, false, 0},
		{"three tenths", 0.3, 0, 100, false, 1},
		{"six tenths", 0.6, 0, 100, false, 2}, {"all of it", 1, 0, 100, false, 3},
		{"all, with a queue", 1, 60 * unit.KiB, 100, false, 3}, {"a band", 0, 64 * unit.KiB, 100, false, 4},
		{"two bands", 0, 130 * unit.KiB, 100, false, 5}, {"many", 0, 900 * unit.KiB, 100, false, 7},
		{"a slow port's", 0, 60 * unit.KiB, 10, false, 0}, {"paused", 0, 0, 100, true, 7},
	} {
		d := DLB.Make(nil, Site{Stream: rng.New(1, "dlb")}).(*dlb)
		ports := graded()
		p := &ports[2]
		setPortRate(p, c.rate*unit.Gbps)
		p.Queued = int32(c.queued)
		if c.paused {
			p.Paused = 1
		}
		var got uint8
		for now := unit.Time(0); now < 20*tau; now += tau / 100 {
			p.TxBytes += int64(c.share * float64(unit.InTime(p.Rate, tau/100)))
			got = d.Band(now, 2, ports)
		}
		if got != c.want {
			t.Errorf("%s: grade %d, want %d", c.what, got, c.want)
		}
	}
}

// The grade of a path is the worse grade of its ports. DLB does not see the second port; GLB avoids it unless all
// are equally bad. Neighbours are notified of queues longer than two intervals.
func TestGLBLooksBehind(t *testing.T) {
	g := GLB.Make(nil, Site{Stream: rng.New(1, "glb")}).(Informed)
	ports, group := graded(), []int32{0, 1, 2, 3}
	count := func(beyond []uint8) (n [4]int) {
		for range 400 {
			n[g.PickBeyond(0, group, beyond, ports)]++
		}
		return n
	}
	if n := count([]uint8{0, 0, 5, 0}); n[2] != 0 || min(n[0], n[1], n[3]) < 50 {
		t.Errorf("one way is congested behind its port: %v", n)
	}
	if n := count([]uint8{5, 5, 5, 5}); min(n[0], n[1], n[2], n[3]) < 50 {
		t.Errorf("all are: %v", n)
	}
	ports[0].Queued = 300 * int32(unit.KiB)
	if n := count([]uint8{0, 4, 4, 4}); n[0] != 0 {
		t.Errorf("the own port is worse: %v", n)
	}
	for queued, want := range map[unit.Bytes]bool{0: false, 240 * unit.KB: false, 260 * unit.KB: true} {
		ports[1].Queued = int32(queued)
		if got := g.Band(0, 1, ports) > 0; got != want {
			t.Errorf("%v wait: neighbours hear of it: %v", queued, got)
		}
	}
}
