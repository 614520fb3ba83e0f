package web

import (
	"fmt"
	"math"

	"railyard/internal/fidelity"
	"railyard/unit"
)

// Trace is the records of single packets in a run that the page starts.
type Trace struct {
	Follow  []string `json:"follow"`  // packets, as run --follow names them
	Capture []string `json:"capture"` // ports
	From    int64    `json:"from_ps"` // of the capture
	To      int64    `json:"to_ps"`
	Stop    bool     `json:"stop"` // the simulation ends with the capture's window
}

// maxCaptures bounds the ports of a capture.
const maxCaptures = 64

// attach enables a trace's records in a run.
func (t *Trace) attach(run fidelity.Run) (*fidelity.Capture, *fidelity.Follower, error) {
	if t == nil || len(t.Follow)+len(t.Capture) == 0 {
		return nil, nil, nil
	}
	if t.From < 0 || t.To < t.From || t.To > math.MaxInt64/2 {
		return nil, nil, &InputError{fmt.Sprintf("capture from %d to %d ps: expected two times, the later one last",
			t.From, t.To)}
	}
	if len(t.Capture) > maxCaptures {
		return nil, nil, &InputError{fmt.Sprintf("%d ports are named, at most %d are captured", len(t.Capture),
			maxCaptures)}
	}
	capturer, ok := run.(fidelity.Capturer)
	tracker, ok2 := run.(fidelity.Tracker)
	if !ok || !ok2 {
		return nil, nil, &InputError{"flows have no packets to follow or capture: --set fidelity=packet"}
	}
	var tap *fidelity.Capture
	var follow *fidelity.Follower
	var err error
	if len(t.Capture) > 0 {
		if tap, err = capturer.Capture(t.Capture, unit.Time(t.From), unit.Time(t.To)); err != nil {
			return nil, nil, &InputError{err.Error()}
		}
	}
	if len(t.Follow) > 0 {
		all := make([]fidelity.Named, len(t.Follow))
		for i, s := range t.Follow {
			if all[i], err = fidelity.ParseNamed(s); err != nil {
				return nil, nil, &InputError{err.Error()}
			}
		}
		if follow, err = tracker.Follow(all); err != nil {
			return nil, nil, &InputError{err.Error()}
		}
	}
	return tap, follow, nil
}

// ends reports whether a simulation has passed its window.
func (t *Trace) ends(now unit.Time) bool { return t != nil && t.Stop && int64(now) > t.To }
