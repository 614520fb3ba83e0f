package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/unit"
)

// Every report says whether congestion control acted, except for runs without one.
func TestControl(t *testing.T) {
	cut := func(n int64) []result.Counter {
		return []result.Counter{{Name: "cnps", Count: 7}, {Name: "cuts", Count: n}}
	}
	bulk := result.Control{Service: "bulk", Algorithm: "dcqcn", Title: "DCQCN", QueuePairs: 128, Acted: 56,
		Held: int64(300 * unit.Microsecond), Counters: cut(1234)}
	calm := result.Control{Service: "calm", Algorithm: "swift", Title: "Swift", QueuePairs: 1,
		Counters: cut(0)}
	none := result.Control{Service: "plain", Algorithm: "none", Title: "no congestion control", QueuePairs: 4}
	for want, all := range map[string][]result.Control{
		"": {none},
		"DCQCN: 1,234 rate reductions on 56 of 128 queue pairs; pacing delay 300 µs (summed over queue " +
			"pairs)\n": {bulk},
		"Swift: no rate reductions on 1 queue pair\n": {calm},
		"bulk: DCQCN: 1,234 rate reductions on 56 of 128 queue pairs; pacing delay 300 µs (summed over queue " +
			"pairs)\ncalm: Swift: no rate reductions on 1 queue pair\n": {bulk, none, calm},
	} {
		var b strings.Builder
		control(&b, all)
		joined := strings.Join(strings.Fields(b.String()), " ") // lines may break
		if joined != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%q, want %q", b.String(), want)
		}
	}
}
