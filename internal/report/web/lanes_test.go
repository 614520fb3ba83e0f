package web

import (
	"math"
	"path/filepath"
	"testing"

	"railyard/internal/result"
)

// Lanes are the samples of the run. Marks and pauses add up to the summary's, and the queue is the longest sampled
// one. The named queue pairs are those that waited at its port, the longest first.
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
	// Events are at the times of their samples, not at the starts of columns.
	firstMark, longestAt := int64(-1), int64(-1)
	for i := range rows {
		l := &rows[i]
		if l.Marks > 0 && (firstMark < 0 || l.Start+l.Length/2 < firstMark) {
			firstMark = l.Start + l.Length/2
		}
		if l.Longest() == longest && longestAt < 0 {
			longestAt = l.Start + l.Length/2
		}
	}
	if v.FirstMark != firstMark || v.LongestAt != longestAt || firstMark < 0 && sum.ECNMarks > 0 {
		t.Errorf("first mark at %d, longest queue at %d, want %d, %d", v.FirstMark, v.LongestAt, firstMark, longestAt)
	}
	if v.Port < 0 || v.Name == "" || len(v.QPs) == 0 || len(v.Above) != columns {
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
	if part.From != 1000000 || part.To != 2000000 || part.Width != 1000000/float64(columns) {
		t.Errorf("%+v", part)
	}
}

// dropping is an incast of three on queues that drop.
const dropping = `name: dropping
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
cc: {algorithm: none}
transport: {recovery: selective, timeout: 8}
switch: {buffer: 400KB, queues: {3: {lossless: false, xoff: 0B, limit: 40KB, wred_min: 0B, wred_max: 0B}}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-2, bytes: 1MB},
  {from: host-2/gpu-1, to: host-4/gpu-2, bytes: 1MB}, {from: host-3/gpu-1, to: host-4/gpu-2, bytes: 1MB}]}}
`

// Drops over time add up to those of the ports, and the port with most drops is named first.
func TestLanesDrops(t *testing.T) {
	s, _ := server(t, "")
	j, err := s.jobs.start(request{Text: dropping})
	if err != nil {
		t.Fatal(err)
	}
	name := await(t, s, j.ID).Run
	dir := filepath.Join(s.Root, name)
	ports, err := result.ReadTable[result.PortRow](dir, "ports")
	if err != nil {
		t.Fatal(err)
	}
	all, worst := int64(0), int64(0)
	for i := range ports {
		all, worst = all+ports[i].Drops, max(worst, ports[i].Drops)
	}
	lanes, total := decoded[Lanes](t, s, "/api/runs/"+name+"/lanes"), decoded[Total](t, s, "/api/runs/"+name+"/total")
	drops, columns := 0.0, 0.0
	for _, d := range lanes.Drops {
		drops += d
	}
	for _, c := range total.Cols {
		columns += c[4]
	}
	if all == 0 || math.Abs(drops-float64(all)) > 0.5 || math.Abs(columns-float64(all)) > 0.5 {
		t.Errorf("%.1f drops in lanes, %.1f in all, of %d", drops, columns, all)
	}
	if len(lanes.Dropped) == 0 || lanes.Dropped[0].Drops != worst || ports[lanes.Dropped[0].Port].Drops != worst {
		t.Errorf("worst %d: %+v", worst, lanes.Dropped)
	}
}
