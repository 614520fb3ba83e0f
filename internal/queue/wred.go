package queue

import (
	"railyard/internal/rng"
	"railyard/unit"
)

// Hit decides whether the packet is marked (or dropped, without ECN) in a queue of q bytes. The probability is 0
// below Min, rises linearly to Probability at Max, and is 1 above Max. If both are equal, packets are marked from
// there on (Zhu et al. 2015, figure 5; the source document's "random-detect" line).
func (w *WRED) Hit(q unit.Bytes, r *rng.Stream) bool {
	if q <= w.Min || w.Max == 0 {
		return false
	}
	if q > w.Max {
		return true
	}
	p := float64(w.Probability) * float64(q-w.Min) / float64(w.Max-w.Min)
	return r.Float64() < p
}

// Average moves the averaged queue length towards q; with a weight of 0 it is q.
func (w *WRED) Average(avg, q unit.Bytes) unit.Bytes { return avg + (q-avg)>>w.Weight }
