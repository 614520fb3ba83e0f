package diagnose

import (
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestGaugeEvidence shows a watermark as a size without a difference or a rate, behind its earlier value if it rose.
func TestGaugeEvidence(t *testing.T) {
	for _, c := range []struct {
		before uint64
		want   string
	}{
		{3_812_000, "leaf2 Ethernet1/1: queue 3: peak bytes queued: 3.81 MB"},
		{9_144, "leaf2 Ethernet1/1: queue 3: peak bytes queued: 9.14 KB → 3.81 MB"},
	} {
		l := healthy()
		l.pause("leaf2", "Ethernet1/9", 4_000)
		l.before["leaf2"].Find("Ethernet1/1").Queues[data].Peak = counters.Of(c.before)
		l.now("leaf2", "Ethernet1/1").Queues[data].Peak = counters.Of(3_812_000)
		r, err := Diagnose(l.input())
		if err != nil || len(r.Findings) != 1 {
			t.Fatalf("%v, findings %v", err, r)
		}
		said := ""
		for _, e := range r.Findings[0].Evidence {
			if strings.Contains(e.Counter, "peak") {
				said += e.String()
			}
		}
		if at, _, _ := strings.Cut(said, " (leaf2.txt"); at != c.want {
			t.Errorf("before %d: %q, want %q", c.before, said, c.want)
		}
	}
}
