package tcp

import (
	"math"

	"railyard/unit"
)

// Cubic's constants (RFC 9438, 4.1 and 4.6) and DCTCP's gain (RFC 8257, 4.2).
const (
	Scale = 0.4 // C, segments per second cubed
	Beta  = 0.7
	gain  = 1.0 / 16
	first = 10 // segments of the initial window (RFC 6928)
)

// Window is a congestion window in segments, Cubic's or DCTCP's.
type Window struct {
	DCTCP bool
	Size  float64
	Most  float64 // segments; the window does not grow beyond
	Alone bool    // without fast convergence (RFC 9438, section 5.1), which would free capacity for a new flow
	Cuts  int64

	slowTo  float64 // slow start ends there
	max     float64 // W_max
	k       float64 // seconds from the epoch's begin until the window is W_max again
	reno    float64 // W_est
	prior   float64 // window before the last cut
	epoch   unit.Time
	started bool // whether an epoch has begun

	Alpha         float64
	acked, marked float64 // segments in DCTCP's window of observation,
	left          float64 // remaining part of it
}

// NewWindow returns a window of ten segments in slow start.
func NewWindow(dctcp bool, most float64) Window {
	w := Window{DCTCP: dctcp, Size: first, Most: most, slowTo: math.Inf(1), left: first}
	if dctcp {
		w.Alpha = 1
	}
	return w
}

// Acked processes acknowledged segments that left under a full window; rtt is the smoothed round trip.
func (w *Window) Acked(now, rtt unit.Time, segments float64) {
	switch {
	case w.Size < w.slowTo:
		w.Size += segments
	case w.DCTCP:
		w.Size += segments / w.Size
	default:
		w.cubic(now, rtt, segments)
	}
	w.Size = min(w.Size, w.Most)
}

// Observe counts the marks of acknowledged segments for DCTCP (RFC 8257, 3.3).
func (w *Window) Observe(segments float64, marked bool) {
	w.acked += segments
	if marked {
		w.marked += segments
	}
	if w.left -= segments; w.left <= 0 {
		share := w.marked / w.acked
		w.Alpha = float64(w.Alpha*(1-gain)) + float64(gain*share)
		w.left, w.acked, w.marked = w.Size, 0, 0
	}
}

// Mark processes a mark: the caller passes one for each window of data (RFC 8257, 3.3; RFC 3168, 6.1.2).
func (w *Window) Mark(now unit.Time) {
	if !w.DCTCP {
		w.Cut(now)
		return
	}
	w.Cuts++
	w.Size = max(2, float64(w.Size*(1-w.Alpha/2)))
	w.slowTo = w.Size
}

// cubic grows in congestion avoidance (RFC 9438, 4.2 to 4.5).
func (w *Window) cubic(now, rtt unit.Time, segments float64) {
	if !w.started {
		w.started, w.epoch, w.reno = true, now, w.Size
		w.k = 0
		if w.max > w.Size {
			w.k = math.Cbrt((w.max - w.Size) / Scale)
		} else {
			w.max = w.Size
		}
	}
	at := func(t unit.Time) float64 {
		d := t.Seconds() - w.k
		return float64(Scale*d*d*d) + w.max
	}
	since := now - w.epoch
	grows := 3 * (1 - Beta) / (1 + Beta)
	if w.reno >= w.prior {
		grows = 1
	}
	w.reno += grows * segments / w.Size
	target := min(max(at(since+rtt), w.Size), 1.5*w.Size)
	if at(since) < w.reno {
		w.Size = max(w.Size, w.reno)
		return
	}
	w.Size += (target - w.Size) / w.Size * segments
}

// Cut processes a loss: the caller passes one for each window of data.
func (w *Window) Cut(unit.Time) {
	w.Cuts++
	w.started, w.prior = false, w.Size
	if w.DCTCP {
		w.Size = max(2, w.Size/2)
		w.slowTo = w.Size
		return
	}
	if w.Size < w.max && !w.Alone { // fast convergence (4.7)
		w.max = w.Size * (1 + Beta) / 2
	} else {
		w.max = w.Size
	}
	w.Size = max(2, w.Size*Beta)
	w.slowTo = w.Size
}

// Restart begins again with one segment, after a retransmission time-out.
func (w *Window) Restart(now unit.Time) {
	w.Cut(now)
	w.Size = 1
}
