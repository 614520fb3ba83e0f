package queue

import (
	"errors"
	"math"
	"testing"

	"railyard/internal/field"
	"railyard/internal/rng"
	"railyard/unit"

	"pgregory.net/rapid"
)

// WRED by region (Zhu et al. 2015, figure 5): no packet up to the minimum, a linearly rising share up to the
// maximum, and all above.
func TestWREDByRegion(t *testing.T) {
	w := WRED{Min: 100_000, Max: 300_000, Probability: 0.2}
	r := rng.New(1, "wred")
	share := func(q unit.Bytes) float64 {
		const n = 40_000
		hits := 0
		for range n {
			if w.Hit(q, &r) {
				hits++
			}
		}
		return float64(hits) / n
	}
	for q, want := range map[unit.Bytes]float64{0: 0, 100_000: 0, 150_000: 0.05, 200_000: 0.1, 300_000: 0.2,
		300_001: 1, 1 << 40: 1} {
		if got := share(q); math.Abs(got-want) > 4*math.Sqrt(0.25/40_000) || want == 0 && got != 0 ||
			want == 1 && got != 1 {
			t.Errorf("%d bytes: %.4f are hit, want %g", q, got, want)
		}
	}
	if off := (&WRED{}); off.Hit(1<<40, &r) {
		t.Error("WRED that is off hits")
	}
}

// The average follows the queue. Weight 0 is the queue itself; otherwise the average moves towards the queue
// without passing it, and comes within 2^weight bytes.
func TestAverageFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := WRED{Weight: uint(rapid.IntRange(0, 15).Draw(t, "weight"))}
		avg := unit.Bytes(rapid.Int64Range(0, 1e8).Draw(t, "average"))
		q := unit.Bytes(rapid.Int64Range(0, 1e8).Draw(t, "queue"))
		for range 1_000_000 {
			next := w.Average(avg, q)
			if (next-avg)*(q-avg) < 0 || (next-q)*(avg-q) < 0 {
				t.Fatalf("from %d towards %d it goes to %d", avg, q, next)
			}
			if next == avg {
				break
			}
			avg = next
		}
		if avg-q >= 1<<w.Weight || q-avg >= 1<<w.Weight {
			t.Fatalf("weight %d: it stays at %d, the queue is %d", w.Weight, avg, q)
		}
	})
}

// SAI: a paused sender resumes at max(xon, limit - offset). A dynamic threshold without either resumes two frames
// below itself, at 0 or more.
func TestResumes(t *testing.T) {
	for _, c := range []struct {
		k           Class
		limit, want unit.Bytes
	}{
		{Class{XOff: 500_000, XOn: 100_000}, 500_000, 100_000},
		{Class{XOff: 500_000, XOn: 100_000, XOnOffset: 3_000}, 500_000, 497_000},
		{Class{XOff: 500_000, XOn: 499_000, XOnOffset: 3_000}, 500_000, 499_000},
		{Class{Alpha: 1, XOnOffset: 3_000}, 2_000, 0},
		{Class{Alpha: 1}, 100_000, 100_000 - 2*9216},
		{Class{Alpha: 1}, 9_216, 0},
		{Class{Alpha: 1, XOn: 5}, 9_216, 5},
	} {
		if got := c.k.Resume(c.limit, 9216); got != c.want {
			t.Errorf("%+v at %d resumes at %d, want %d", c.k, c.limit, got, c.want)
		}
	}
}

// Headroom grows with everything that lets more bytes arrive: rate, cable, response time, pipeline, frame. It holds
// what a sender at line rate sends until it has stopped.
func TestHeadroomGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := unit.Rate(rapid.IntRange(10, 1600).Draw(t, "Gbps")) * unit.Gbps
		prop := unit.Time(rapid.Int64Range(0, 5_000_000).Draw(t, "ps"))
		resp := Response(rate)
		pipe := unit.Time(rapid.Int64Range(0, 1_000_000).Draw(t, "pipeline"))
		mtu := unit.Bytes(rapid.IntRange(256, 9216).Draw(t, "mtu"))
		h := Headroom(rate, prop, resp, pipe, mtu)
		if flying := unit.InTime(rate, 2*prop+resp+pipe) * mtu / (mtu + 20); h < flying+2*mtu {
			t.Fatalf("%d bytes, %d are on their way beside two frames", h, flying)
		}
		for what, more := range map[string]unit.Bytes{
			"a longer cable":    Headroom(rate, prop+unit.Microsecond, resp, pipe, mtu),
			"a slower answer":   Headroom(rate, prop, resp+unit.Microsecond, pipe, mtu),
			"a longer pipeline": Headroom(rate, prop, resp, pipe+unit.Microsecond, mtu),
			"a larger frame":    Headroom(rate, prop, resp, pipe, mtu+1024),
			"twice the rate":    Headroom(2*rate, prop, resp, pipe, mtu),
		} {
			if more < h || what != "twice the rate" && more == h {
				t.Fatalf("%s takes %d, without %d", what, more, h)
			}
		}
	})
	s := Default()
	if s.Reserve(0, unit.Gbps, 0, 0, 0) != 0 {
		t.Error("a lossy class keeps headroom")
	}
	if s.Queues[3].Headroom = 7; s.Reserve(3, unit.Gbps, 0, 0, 0) != 7 {
		t.Error("headroom that is configured is not kept")
	}
}

// Headroom by hand (docs/references.md, headroom), in bytes at line rate, with frames of 4,178 bytes and 20 between
// them. The frame before the pause has 4,198, the pause 84. The cable (twice), the response in quanta of 64 bytes
// (IEEE 802.3, 31B.3.7) and the pipeline hold frames without the gaps. Two frames are added.
func TestHeadroomByHand(t *testing.T) {
	for _, c := range []struct {
		gbps, metres float64
		quanta       float64
		pipeline     float64 // ns
	}{{100, 3, 394, 300}, {100, 150, 394, 0}, {25, 5, 80, 0}, {200, 40, 453, 500}, {400, 40, 905, 300},
		{800, 2, 905, 0}} {
		perNS := c.gbps / 8
		wire := 4198 + 84 + 2*c.metres/0.198*perNS + 64*c.quanta + c.pipeline*perNS
		want := 2*4178 + wire*4178/4198
		rate := unit.Rate(c.gbps) * unit.Gbps
		got := Headroom(rate, unit.Time(c.metres/0.198*1000), Response(rate), unit.Time(c.pipeline*1000), 4178)
		if d := float64(got) - want; d < -2 || d > 2 {
			t.Errorf("%gG, %g m, pipeline %g ns: %d bytes, want %.1f", c.gbps, c.metres, c.pipeline, got, want)
		}
	}
}

// A storm is detected after whole polls: as many as cover the time, none before the first.
func TestWatchdogCountsPolls(t *testing.T) {
	w := Watchdog{Poll: 200 * unit.Millisecond}
	for _, c := range []struct {
		polls int
		ms    int64
		want  bool
	}{{0, 0, false}, {1, 0, true}, {1, 200, true}, {1, 201, false}, {2, 201, true}, {2, 400, true},
		{2, 401, false},
		{3, 401, true}} {
		if got := w.Reached(c.polls, unit.Time(c.ms)*unit.Millisecond); got != c.want {
			t.Errorf("%d polls, %d ms: %v", c.polls, c.ms, got)
		}
	}
}

// An impossible description is rejected at its path; a value one step inside the range is not.
func TestSpecsAreRefusedAtTheirPath(t *testing.T) {
	for path, pair := range map[string][2]func(s *Spec){
		"buffer":     {func(s *Spec) { s.Buffer = 0 }, func(s *Spec) { s.Buffer = 4 * unit.MB }},
		"mtu":        {func(s *Spec) { s.MTU = 255 }, func(s *Spec) { s.MTU = 256 }},
		"pfc_quanta": {func(s *Spec) { s.PFCQuanta = 65536 }, func(s *Spec) { s.PFCQuanta = 1 }},
		"dscp":       {func(s *Spec) { s.DSCP[63] = 8 }, func(s *Spec) { s.DSCP[63] = 7 }},
		"queues":     {func(s *Spec) { s.Queues[1].Weight = 1 }, func(s *Spec) { s.Queues[7].Weight = 1 }},
		"watchdog": {func(s *Spec) { s.Watchdog.On, s.Watchdog.Detect = true, 1 },
			func(s *Spec) { s.Watchdog.Detect = 1 }},
		"queues.3.weight": {func(s *Spec) {
			s.Queues[3].Weight = -1
		}, func(s *Spec) { s.Queues[3].Weight = 0 }},
		"queues.3.wred_min": {func(s *Spec) { s.Queues[3].WRED.Min = 3000*unit.KB + 1 },
			func(s *Spec) { s.Queues[3].WRED.Min = 3000 * unit.KB }},
		"queues.3.wred_max": {func(s *Spec) { s.Queues[3].WRED.Max = s.Buffer + 1 },
			func(s *Spec) { s.Queues[3].WRED.Max = s.Buffer }},
		"queues.3.probability": {func(s *Spec) { s.Queues[3].WRED.Probability = 1.01 },
			func(s *Spec) { s.Queues[3].WRED.Probability = 1 }},
		"queues.3.wred_weight": {func(s *Spec) { s.Queues[3].WRED.Weight = 16 },
			func(s *Spec) { s.Queues[3].WRED.Weight = 15 }},
		"queues.3.xon": {func(s *Spec) { s.Queues[3].XOn = s.Queues[3].XOff },
			func(s *Spec) { s.Queues[3].XOn = s.Queues[3].XOff - 1 }},
		"queues.3.xoff": {func(s *Spec) { s.Queues[3].XOff, s.Queues[3].XOn = 0, 0 },
			func(s *Spec) { s.Queues[3].XOff, s.Queues[3].XOn, s.Queues[3].Alpha = 0, 0, 0.1 }},
		"queues.3.alpha": {func(s *Spec) {
			s.Queues[3].Alpha = 1025
		}, func(s *Spec) { s.Queues[3].Alpha = 1024 }},
		"queues.3.xon_offset": {func(s *Spec) {
			s.Queues[3].XOnOffset = s.Buffer + 1
		}, func(s *Spec) { s.Queues[3].XOnOffset = 1 }},
		"queues.3.headroom": {func(s *Spec) {
			s.Queues[3].Headroom = -1
		}, func(s *Spec) { s.Queues[3].Headroom = 1 }},
		"queues.0.limit": {func(s *Spec) {
			s.Queues[0].Alpha = 0
		}, func(s *Spec) { s.Queues[0].Alpha, s.Queues[0].Limit = 0, 1 }},
	} {
		bad, good := Default(), Default()
		pair[0](&bad)
		pair[1](&good)
		var e *field.Error
		if err := bad.Validate(); !errors.As(err, &e) || e.Path != path {
			t.Errorf("%s: %v", path, err)
		}
		if err := good.Validate(); err != nil {
			t.Errorf("beside %s: %v", path, err)
		}
	}
	s := Default()
	if s.LosslessMask() != 1<<3 || s.WREDMask() != 0 {
		t.Errorf("lossless %b, looks at every packet %b", s.LosslessMask(), s.WREDMask())
	}
	s.Queues[3].WRED.ECN = false
	if s.Queues[0].WRED = (WRED{Max: 1, Weight: 3, ECN: true}); s.WREDMask() != 1<<3|1 {
		t.Errorf("looks at every packet %b", s.WREDMask())
	}
}
