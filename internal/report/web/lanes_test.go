package web

import (
	"math"
	"path/filepath"
	"testing"

	"railyard/internal/result"
)

// Lanes are the samples of the run: marks and pauses add up to the summary's, the queue is the longest that was
// sampled, and the queue pairs named are those that waited at its port, the longest first.
func TestLanes(t *testing.T) {
	s, name := server(t, "")
	dir := filepath.Join(s.Root, name)
	sum, err := result.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := result.ReadTable[result.LinkRow](dir, "links")
	if err != nil {
		t.Fatal(err)
	}
	longest := int64(0)
	for i := range rows {
		longest = max(longest, rows[i].Longest())
	}
	v := decoded[Lanes](t, s, "/api/runs/"+name+"/lanes")
	marks, paused, peak := 0.0, 0.0, int64(0)
	for c := range v.Queue {
		marks, paused, peak = marks+v.Marks[c], paused+v.Paused[c]*v.Width, max(peak, v.Queue[c])
	}
	if math.Abs(marks-float64(sum.ECNMarks)) > 0.5 || math.Abs(paused/float64(sum.PFCPause)-1) > 0.02 ||
		peak != longest {
		t.Errorf("%.1f marks of %d, %.0f ps paused of %d, queue %d of %d", marks, sum.ECNMarks, paused, sum.PFCPause, peak,
			longest)
	}
	if v.Port < 0 || v.Name == "" || len(v.QPs) == 0 || len(v.Above) != laneColumns {
		t.Errorf("%+v", v)
	}
	for i := range v.QPs {
		if i > 0 && v.QPs[i].Wait > v.QPs[i-1].Wait {
			t.Errorf("queue pair %d waited longer than the one before it", v.QPs[i].QP)
		}
	}
	for _, a := range v.Above {
		if a < 0 || a > 1 {
			t.Errorf("a share of %v", a)
		}
	}
	part := decoded[Lanes](t, s, "/api/runs/"+name+"/lanes?from=1000000&to=2000000")
	if part.From != 1000000 || part.To != 2000000 || part.Width != 1000000/float64(laneColumns) {
		t.Errorf("%+v", part)
	}
}
