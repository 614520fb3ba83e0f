package perftest

import (
	"slices"
	"time"
)

// samples keeps latencies: all of the first million, then every Nth. Memory is thus bounded, and the percentiles
// stay representative.
type samples struct {
	ns     []int64
	every  int
	skip   int
	min    int64
	max    int64
	sum, n float64
}

const maxSamples = 1 << 20

func newSamples() *samples { return &samples{every: 1, min: 1 << 62} }

func (s *samples) add(d time.Duration) {
	v := d.Nanoseconds()
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.sum += float64(v)
	s.n++
	if s.skip++; s.skip < s.every {
		return
	}
	s.skip = 0
	if len(s.ns) == maxSamples { // keep every second sample
		half := s.ns[:0]
		for i := 0; i < maxSamples; i += 2 {
			half = append(half, s.ns[i])
		}
		s.ns = half
		s.every *= 2
	}
	s.ns = append(s.ns, v)
}

// into writes the statistics, scaled and in microseconds, to a result.
func (s *samples) into(r *Result, scale float64) {
	if s.n == 0 {
		return
	}
	slices.Sort(s.ns)
	at := func(q float64) float64 {
		return float64(s.ns[min(len(s.ns)-1, int(q*float64(len(s.ns))))]) / 1e3 * scale
	}
	r.Min, r.Max, r.Mean = float64(s.min)/1e3*scale, float64(s.max)/1e3*scale, s.sum/s.n/1e3*scale
	r.P50, r.P99, r.P999 = at(0.5), at(0.99), at(0.999)
}
