package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"railyard/internal/lab/load"
)

// byTraffic triggers events once enough data have arrived for the planes' shares to be significant. It ends the
// load when traffic has left the permanently failed part, or enough data have arrived since that it should have.
func byTraffic() *load.Pace {
	const least, most, lossy = 1 << 20, 256 << 20, 16 << 20 // bytes
	var arrived int64                                       // when the event occurred
	return &load.Pace{Happens: func(w *load.Watch) bool {
		i := len(w.Samples) - 1
		for last := w.Samples[i]; i > 0 && last.At-w.Samples[i].At < load.Around*time.Millisecond; i-- {
		}
		first, last := w.Samples[i], w.Samples[len(w.Samples)-1]
		arrived = last.Total
		return i > 0 && last.Total-first.Total > least && last.Path-first.Path > load.Begun &&
			last.Total-w.Samples[0].Total > 8*least
	}, Enough: func(w *load.Watch, ev *load.Event) bool {
		if len(w.Samples)%32 > 0 { // judging reads all of them
			return false
		}
		came := w.Samples[len(w.Samples)-1].Total - arrived
		if ev.Loss > 0 {
			return came > lossy
		}
		m, err := w.Judge("")
		return came > most || err == nil && m.Moved >= 0
	}}
}

// MRC stops using a spine without a path and a drained plane, in a lab whose routes nobody changes. Before that,
// its planes carry equal loads. The delay depends on the host; the test checks that it is reported and drawn.
func TestRealLabRun(t *testing.T) {
	needsLab(t)
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "move.png")
	c := labRunCmd{labName: labName{ownName("run")}, Scenario: filepath.Join(scenarios(t), "lab-planes.yaml"),
		Rate: "200Mbps", Duration: time.Minute, At: time.Second, Plot: plot, Force: true, JSON: true,
		pace: byTraffic()}
	var out, errs bytes.Buffer
	if err := c.Run(guest(&out, &errs)); err != nil {
		t.Fatal(err, errs.String())
	}
	var moves []load.Move
	if err := json.Unmarshal(out.Bytes(), &moves); err != nil || len(moves) != 3 {
		t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	for i, m := range moves {
		t.Logf("%-36s %4.0f ms, path %.3f to %.3f of %.3f to %.3f Gbit/s, %d again", m.Event, m.Moved,
			m.Before, m.After, m.Arrived, m.Arrives, m.Again)
		if !m.Verified {
			t.Errorf("the bytes differ: %+v", m)
		}
		if i < 2 && (m.Moved < 0 || m.After > 0.1*m.Before) {
			t.Errorf("has not moved: %+v", m)
		}
		if share := m.Before / m.Arrived; i == 1 && (share < 0.3 || share > 0.7) {
			t.Errorf("a plane of two carries %.2f before it is drained", share)
		}
	}
	if b, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("the plot: %v", err)
	}
	out.Reset()
	c.Scenario, c.Plot, c.Force, c.JSON = planesWith(t, "{link: 'spine-2-2:Eth2', at: 0s, up: false}"), "",
		false, false
	if err := c.Run(guest(&out, &errs)); err != nil ||
		!strings.Contains(out.String(), "link spine-2-2:Eth2, up: false") {
		t.Errorf("%v: %s%s", err, &out, &errs)
	}
	if n := namespacesOf(t, c.Name); n != 0 {
		t.Errorf("%d namespaces are left", n)
	}
}
