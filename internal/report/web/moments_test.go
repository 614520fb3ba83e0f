package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"railyard/internal/result"
	"railyard/unit"
)

// made is a run of tables made by a test.
func made(step int64, tables map[string]any) *Directory {
	return &Directory{Name: "made", Summary: result.Summary{Step: result.Step{StepTime: step}},
		tables: tables}
}

func viewed(t *testing.T, r *Directory, view, query string, into any) {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.View(view, q)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// TestCriticalPathIsWhole: of 60,000 pieces 5,000 are sent. They are contiguous from the beginning to the end of
// the window, have all ranks, and represent every operation. A span longer than a 2,500th of the window is a
// separate piece. Ten ranks vanished when neighbours were merged, and 38.7 ms of pod64's step when the shortest
// were omitted.
func TestCriticalPathIsWhole(t *testing.T) {
	const pieces = 60_000
	var rows []result.CriticalRow
	at := int64(0)
	for i := range int64(pieces) { // of one class on 32 ranks, every 101st a hundred times as long
		length := int64(10)
		if i%101 == 0 {
			length = 1000
		}
		rows = append(rows, result.CriticalRow{Start: at, End: at + length, Rank: int32(i % 32), Peer: -1,
			Class: "forward", Ops: 1})
		at += length
	}
	r := made(at, map[string]any{"critical": rows, "collectives": []result.CollectiveRow{},
		"causes": []result.CauseRow{}})
	for _, w := range [][2]int64{{0, at}, {at / 3, at / 2}, {at / 2, at/2 + 500}} {
		var got Critical
		viewed(t, r, "critical", fmt.Sprintf("from=%d&to=%d", w[0], w[1]), &got)
		ranks, ops, long, last := map[int32]bool{}, 0, 0, w[0]
		for _, p := range got.Path {
			if p.Start != last {
				t.Fatalf("a piece begins at %d, the one before ends at %d", p.Start, last)
			}
			last, ops = p.End, ops+int(p.Ops)
			if ranks[p.Rank] = true; p.End-p.Start >= 1000 {
				long++
			}
		}
		if last != w[1] || len(got.Path) > maxCritical || len(got.Path) == 0 || ops != got.Operations {
			t.Errorf("window %v: %d pieces to %d, for %d operations of %d", w, len(got.Path), last, ops, got.Operations)
		}
		if w[1] == at && (len(ranks) != 32 || ops != pieces || long < pieces/101) {
			t.Errorf("%d ranks, %d operations, %d long pieces", len(ranks), ops, long)
		}
	}
}

// A window with more spans than are sent is drawn to its end, the longest first, and reports what is missing.
// Before, it ended after 60,000 spans, somewhere in the middle.
func TestTimeLineReachesItsEnd(t *testing.T) {
	var rows []result.RankRow
	for i := range int64(maxSpans + 5000) {
		rows = append(rows, result.RankRow{Rank: 0, Start: i * 10, End: i*10 + 5 + i%2, Class: "forward",
			Name: fmt.Sprint(i)})
	}
	step := rows[len(rows)-1].End
	var got struct {
		Spans   [][5]int64
		Left    int   `json:"left_out"`
		Shorter int64 `json:"shorter_ps"`
	}
	viewed(t, made(step, map[string]any{"ranks": rows, "pauses": []result.PauseRow{},
		"flows": []result.FlowRow{}}), "ranks", "", &got)
	if len(got.Spans) != maxSpans || got.Left != 5000 || got.Shorter != 5 ||
		got.Spans[maxSpans-1][2] < step-20 {
		t.Errorf("%d spans to %d of %d, %d left out below %d ps", len(got.Spans),
			got.Spans[len(got.Spans)-1][2], step, got.Left, got.Shorter)
	}
}

// Every pause that a column of the scrubber shows is sent, also after the first 20,000 events. Between pauses a
// port is not paused.
func TestPausesOfALongRun(t *testing.T) {
	const events, period = 60_000, 1000
	var rows []result.PauseRow
	for i := range int64(events / 2) { // paused the first half of each period
		rows = append(rows, result.PauseRow{At: i * period, What: "pause", Port: 3, Priority: 3, Cause: 7},
			result.PauseRow{At: i*period + period/2, What: "resume", Port: 3, Priority: 3, Cause: 7})
	}
	const step = events / 2 * period
	last := int64(step) * 99 / 100 // and another from here on, for two priorities
	for _, prio := range []int32{3, 4} {
		rows = append(rows, result.PauseRow{At: last, What: "pause", Port: 5, Priority: prio, Cause: -1})
	}
	rows = append(rows, result.PauseRow{At: last + 1, What: "resume", Port: 5, Priority: 4, Cause: -1})
	var got struct {
		Cols  int64
		Spans [][4]int64
		Count int
	}
	r := made(step, map[string]any{"pauses": rows, "ranks": []result.RankRow{},
		"flows": []result.FlowRow{}})
	viewed(t, r, "pauses", "", &got)
	if got.Cols != columns || got.Count != len(rows) {
		t.Fatalf("%d columns, %d events", got.Cols, got.Count)
	}
	on := map[int64]map[int64]int64{}
	for _, s := range got.Spans {
		for c := s[2]; c <= s[3]; c++ {
			if on[c] == nil {
				on[c] = map[int64]int64{}
			}
			on[c][s[0]] = s[1]
		}
	}
	for c := range got.Cols {
		middle := (float64(c) + 0.5) * step / columns
		_, three := on[c][3]
		if want := int64(middle)%period < period/2; three != want {
			t.Errorf("column %d, at %.0f: port 3 is paused: %v, want %v", c, middle, three, want)
		}
		cause, five := on[c][5]
		if want := middle >= float64(last); five != want || five && cause != -1 {
			t.Errorf("column %d: port 5 is paused: %v by %d", c, five, cause)
		}
	}
	// The strip of the time line is that of its window, to the last pause.
	var line struct{ Paused [][2]int64 }
	viewed(t, r, "ranks", fmt.Sprintf("from=%d&to=%d", step-10*period, step), &line)
	if n := len(line.Paused); n == 0 || line.Paused[n-1][1] != step {
		t.Errorf("paused in %v, the run ends at %d", line.Paused, step)
	}
}

// A grid of many ports has fewer columns, and reports that where the page counts in columns.
func TestColumnsOfManyPorts(t *testing.T) {
	r := made(1_000_000, map[string]any{"links": []result.LinkRow{{Port: 69_999, Start: 500_000,
		Length: 100_000, Bytes: 1250}}, "pauses": []result.PauseRow{}})
	r.ports = make([]result.PortRow, 70_000)
	for i := range r.ports {
		r.ports[i].Rate = 400e9
	}
	var info, pauses struct{ Cols int }
	var grid Grid
	viewed(t, r, "info", "", &info)
	viewed(t, r, "pauses", "", &pauses)
	viewed(t, r, "grid", "metric=util", &grid)
	if info.Cols != 14 || grid.Cols != info.Cols || pauses.Cols != info.Cols {
		t.Errorf("%d columns in info, %d in the grid, %d in pauses; 1,000,000 cells of 70,000 ports are 14", info.Cols, grid.Cols, pauses.Cols)
	}
}

// A hundred simultaneous starts build as many fabrics as may run, not a hundred.
func TestStartsAreBoundedBeforeTheyAreBuilt(t *testing.T) {
	s, _ := server(t, "")
	large := `{"text":"fabric: {kind: fat-tree, k: 16, host_link: {rate: 100Gbps, cable: 3m}}\nworkload: {traffic: {permutation: {bytes: 100MB}}}"}`
	var built, refused, other sync.Map
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			w := ask(s, "POST", "/api/jobs", large, nil)
			switch {
			case w.Code == 200:
				built.Store(i, true)
			case strings.Contains(w.Body.String(), "running already"):
				refused.Store(i, true)
			default:
				other.Store(i, w.Body.String())
			}
		}()
	}
	wait.Wait()
	count := func(m *sync.Map) (n int) {
		m.Range(func(_, _ any) bool { n++; return true })
		return n
	}
	if count(&built) != maxRunning || count(&refused) != 100-maxRunning {
		t.Errorf("%d run, %d are refused, %d others", count(&built), count(&refused), count(&other))
	}
	if _, _, err := build(request{Text: "nonsense"}); err == nil {
		t.Error("nonsense is built")
	}
}

// A page cannot start what the machine has no memory for.
func TestStartsFitTheMemory(t *testing.T) {
	s, _ := server(t, "")
	kept := memory
	defer func() { memory = kept }()
	memory = func() unit.Bytes { return unit.MB }
	w := ask(s, "POST", "/api/jobs", `{"text":"fabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, cable: 3m}}\nworkload: {traffic: {permutation: {bytes: 1MB}}}"}`, nil)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "memory") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
