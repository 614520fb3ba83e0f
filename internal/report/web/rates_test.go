package web

import (
	"reflect"
	"testing"

	"railyard/internal/result"
)

// A run of a version with a table of rates shows them as signals.
func TestRatesOfEarlierVersions(t *testing.T) {
	r := &Directory{Name: "old", Manifest: result.Manifest{Tables: []string{"rates"}},
		tables: map[string]any{"rates": []rateRow{
			{At: 5, QP: 1, Rate: 100, Target: 200, Alpha: 0.5}, {At: 6, QP: 2, Rate: 1},
			{At: 7, QP: 1, Rate: 150, Target: 180, Alpha: 0.25}}}}
	got, err := r.signals(1)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	for i, want := range []Series{{"rate", []int64{5, 7}, []float64{100, 150}},
		{"target", []int64{5, 7}, []float64{200, 180}}, {"alpha", []int64{5, 7}, []float64{0.5, 0.25}}} {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
	if got, err := r.signals(3); err != nil || len(got) != 0 {
		t.Errorf("a queue pair that never changed its rate: %v, %v", got, err)
	}
}
