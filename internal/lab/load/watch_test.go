package load

import (
	"strings"
	"testing"
	"time"
)

// When traffic has left is when the last window ends in which more than a tenth of it went there: at once,
// after a while, or not while somebody looks.
func TestJudgeMoves(t *testing.T) {
	watched := func(after time.Duration, left int64) *Watch {
		w := &Watch{event: time.Second}
		var path, total int64
		for at := time.Duration(0); at < 3*time.Second; at += tick {
			total += 10_000
			if at < w.event+after {
				path += 5_000
			} else {
				path += left
			}
			w.Samples = append(w.Samples, Sample{at, path, total})
		}
		return w
	}
	for _, c := range []struct {
		after    time.Duration
		left     int64
		min, max float64 // ms, of windows of 10
	}{{0, 0, 0, 12}, {40 * time.Millisecond, 100, 40, 52}, {time.Second, 0, 1000, 1012},
		{3 * time.Second, 0, -1, -1}, {0, 1000, -1, -1}} {
		m, err := watched(c.after, c.left).Judge("x")
		if err != nil || m.Moved < c.min || m.Moved > c.max || m.Before < 0.0199 || m.Before > 0.0201 ||
			m.Arrived < 0.0399 || m.Arrived > 0.0401 {
			t.Errorf("after %v, %d left: %v, %+v", c.after, c.left, err, m)
		}
	}
	w := watched(0, 0)
	for i := range w.Samples { // three probes at once, long after the traffic has left
		if w.Samples[i].At >= w.event+1700*time.Millisecond {
			w.Samples[i].Path += 3 * 4200
		}
	}
	if m, err := w.Judge("x"); err != nil || m.Moved < 0 || m.Moved > 12 {
		t.Errorf("probes behind the traffic: %v, %+v", err, m)
	}
	for i := range w.Samples {
		w.Samples[i].Path = 0
	}
	if _, err := w.Judge("x"); err == nil || !strings.Contains(err.Error(), "the link carries no traffic") {
		t.Error(err)
	}
}
