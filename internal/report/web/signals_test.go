package web

import (
	"slices"
	"testing"

	"railyard/internal/result"
)

// A queue pair's view has its own signals in the order of the table, each reduced to a chart's resolution, with
// values and times. A run of an earlier version without the table has none, which is no error.
func TestSignalsOfAQueuePair(t *testing.T) {
	var rows []result.SignalRow
	for i := range int64(3*maxSeries + 1) {
		for _, qp := range []int32{0, 1} {
			value := float64(i) * float64(qp+1)
			rows = append(rows, result.SignalRow{At: i, QP: qp, Signal: "rate", Value: value})
		}
		if i%100 == 0 {
			rows = append(rows, result.SignalRow{At: i, QP: 1, Signal: "window", Value: float64(-i)})
		}
	}
	r := made(10, map[string]any{"qps": []result.QPRow{{}, {QP: 1}}, "paths": []result.PathRow{},
		"signals": rows})
	var old, got QPView
	viewed(t, r, "qp", "id=1", &old)
	if old.Signals == nil || len(old.Signals) != 0 {
		t.Errorf("a run without the table: %v", old.Signals)
	}
	r.Manifest.Tables = []string{"qps", "signals"}
	viewed(t, r, "qp", "id=1", &got)
	if len(got.Signals) != 2 || got.Signals[0].Signal != "rate" || got.Signals[1].Signal != "window" {
		t.Fatalf("%+v", got.Signals)
	}
	for i, scale := range []float64{2, -1} {
		s := got.Signals[i]
		if len(s.At) != len(s.Values) || len(s.At) < 2 || len(s.At) > maxSeries || !slices.IsSorted(s.At) {
			t.Fatalf("%s: %d times, %d values", s.Signal, len(s.At), len(s.Values))
		}
		for k, at := range s.At {
			if s.Values[k] != scale*float64(at) {
				t.Fatalf("%s at %d is %g", s.Signal, at, s.Values[k])
			}
		}
	}
}
