package web

import (
	"testing"

	"railyard/internal/result"
)

// A piece of the path has the causes of the collectives of its class at that time; computation has none. The
// initial window of the time line contains the losses, with at most a tenth outside.
func TestPathByCause(t *testing.T) {
	all := func(instance int32, parts ...any) (rows []result.CauseRow) {
		for i := 0; i < len(parts); i += 2 {
			rows = append(rows, result.CauseRow{Scope: "collective", Instance: instance, Cause: parts[i].(string),
				Time: int64(parts[i+1].(int))})
		}
		return rows
	}
	r := made(100_000, map[string]any{
		"critical": []result.CriticalRow{
			{Start: 0, End: 60_000, Peer: -1, Class: "forward", Ops: 1},
			{Start: 60_000, End: 70_000, Peer: 1, Class: "tensor-parallel", Ops: 1},
			{Start: 70_000, End: 90_000, Peer: 1, Class: "data-parallel", Ops: 1},
			{Start: 90_000, End: 100_000, Peer: -1, Class: "optimizer", Ops: 1},
		},
		"collectives": []result.CollectiveRow{
			{Instance: 0, Class: "tensor-parallel", Start: 60_000, End: 70_000},
			{Instance: 1, Class: "data-parallel", Start: 70_000, End: 90_000},
			{Instance: 2, Class: "data-parallel", Start: 70_000, End: 80_000},
		},
		"causes": append(append(all(0, "line_rate", 10_000), all(1, "line_rate", 10_000, "incast", 10_000)...),
			all(2, "line_rate", 10_000)...),
	})
	var got Critical
	viewed(t, r, "critical", "", &got)
	// In the first half of its time the data-parallel piece has both collectives, then only the first.
	want := [][]float64{nil, {1, 0}, {0.625, 0.375}, nil}
	if len(got.Causes) != 2 || got.Causes[0] != "line_rate" || got.Causes[1] != "incast" || len(got.Shares) != 4 {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if len(got.Shares[i]) != len(w) || w != nil && (got.Shares[i][0] != w[0] || got.Shares[i][1] != w[1]) {
			t.Errorf("piece %d: %v, want %v", i, got.Shares[i], w)
		}
	}
	window, err := r.losing()
	if err != nil || window == nil || window[0] > 72_000 || window[0] < 68_000 || window[1] < 88_000 ||
		window[1] > 93_000 {
		t.Errorf("%v, %v", window, err)
	}
	r.tables["causes"] = all(0, "line_rate", 10_000)
	if window, err := r.losing(); err != nil || window != nil {
		t.Errorf("nothing is lost, %v, %v", window, err)
	}
}
