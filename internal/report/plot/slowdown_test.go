package plot

import (
	"testing"

	"railyard/internal/result"
)

// Classes have equally many messages, enough for a 99th percentile, and messages of one size are in one class.
// Messages that did not end are in none.
func TestSizeClasses(t *testing.T) {
	var flows []result.FlowRow
	add := func(n int, bytes, took int64) {
		for range n {
			flows = append(flows, result.FlowRow{Bytes: bytes, Posted: 100, Done: 100 + took, Ideal: 10})
		}
	}
	add(90, 1000, 10)
	add(9, 1000, 20)
	add(1, 1000, 990)
	add(150, 5000, 30)
	add(60, 9000, 50) // too few for a class
	flows = append(flows, result.FlowRow{Bytes: 9000, Done: -1, Ideal: 10})
	got := sizeClasses(flows)
	if len(got) != 2 || got[0].messages != 100 || got[1].messages != 210 || got[0].bytes != 1000 ||
		got[1].bytes != 5000 {
		t.Fatalf("%+v", got)
	}
	for i, want := range [][]float64{{1, 2, 2}, {3, 5, 5}} {
		for k := range want {
			if got[i].slowdown[k] != want[k] {
				t.Errorf("class %d, p%d: %g, want %g", i, percents[k], got[i].slowdown[k], want[k])
			}
		}
	}
	flows = nil
	for i := range int64(10_000) {
		flows = append(flows, result.FlowRow{Bytes: i + 1, Done: 10, Ideal: 10})
	}
	if n := len(sizeClasses(flows)); n != mostClasses {
		t.Errorf("%d classes, want %d", n, mostClasses)
	}
	if n := len(sizeClasses(nil)); n != 0 {
		t.Errorf("%d classes without messages", n)
	}
}
