package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// MRC moves away from a spine that has lost its way and from a drained plane, in a lab whose routes nobody
// changes; before, its planes carry alike. How long it takes is the machine's affair; that it is said and
// drawn is not.
func TestLabRun(t *testing.T) {
	needsLab(t)
	plot := filepath.Join(t.TempDir(), "move.png")
	code, out, errs := call(t, "lab", "run", filepath.Join(scenarios(t), "lab-planes.yaml"), "--name", "rn",
		"--rate", "200Mbps", "--duration", "2500ms", "--plot", plot, "--json")
	var moves []labMove
	if err := json.Unmarshal([]byte(out), &moves); code != 0 || err != nil || len(moves) != 3 {
		t.Fatalf("exit %d: %v: %s%s", code, err, out, errs)
	}
	for i, m := range moves {
		t.Logf("%-36s %4.0f ms, path %.3f to %.3f of %.3f to %.3f Gbit/s, %d "+
			"again", m.Event, m.Moved, m.Before,
			m.After, m.Arrived, m.Arrives, m.Again)
		if !m.Verified || i < 2 && (m.Moved < 0 || m.After > 0.1*m.Before) {
			t.Errorf("%+v", m)
		}
		if share := m.Before / m.Arrived; i == 1 && (share < 0.3 || share > 0.7) {
			t.Errorf("a plane of two carries %.2f before it is drained", share)
		}
	}
	if b, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("the plot: %v", err)
	}
	if n := namespacesOf(t, "rn"); n != 0 {
		t.Errorf("%d namespaces are left", n)
	}
	code, out, errs = call(t, "lab", "run", planesWith(t, "{link: 'spine-2-2:Eth2', at: 0s, up: "+
		"false}"), "--name",
		"rn", "--rate", "100Mbps", "--duration", "2s")
	if code != 0 || !strings.Contains(out, "link spine-2-2:Eth2, up: false") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// What a lab cannot do is refused before anything is built.
func TestLabRunRefuses(t *testing.T) {
	s := filepath.Join(scenarios(t), "lab-planes.yaml")
	for args, want := range map[string]string{
		"--set transport=roce":            "lab run loads the fabric by MRC",
		"--set transport.forwarding=srv6": "this machine's kernel hashes; accepted: hash",
		"--set lb=structured":             "structured, and this machine's kernel hashes",
		"--set fabric.ip=6":               "labs give hosts IPv4 addresses",
		"--duration 1ms":                  "--duration: must lie between 1s and 1m0s",
		"--at 10s":                        "--at: must lie between 300ms and 500ms before",
		"--plot x.svg":                    "--plot: writes .png",
		"--force":                         "--force: means nothing",
		"--rate 5":                        "--rate: ",
	} {
		code, _, errs := call(t, append([]string{"lab", "run", s}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
	for _, event := range []string{"{switch: spine-1-1, at: 0s, up: false}",
		"{link: 'spine-1-1:Eth2', at: 0s, rate: 1Gbps}"} {
		code, _, errs := call(t, "lab", "run", planesWith(t, event))
		if code != 2 || !strings.Contains(errs, "events[0]: a lab does to a link up: false or "+
			"bit_error_rate") {
			t.Errorf("%s: exit %d: %s", event, code, errs)
		}
	}
}

// planesWith is the shipped scenario with an event.
func planesWith(t *testing.T, event string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(scenarios(t), "lab-planes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "planes.yaml")
	if err := os.WriteFile(file, append(b, "events: ["+event+"]\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// When traffic has left is when the last window ends in which more than a tenth of it went there: at once,
// after a while, or not while somebody looks.
func TestJudgeMoves(t *testing.T) {
	watched := func(after time.Duration, left int64) *watch {
		w := &watch{event: time.Second}
		var path, total int64
		for at := time.Duration(0); at < 3*time.Second; at += tick {
			total += 10_000
			if at < w.event+after {
				path += 5_000
			} else {
				path += left
			}
			w.samples = append(w.samples, sample{at, path, total})
		}
		return w
	}
	for _, c := range []struct {
		after    time.Duration
		left     int64
		min, max float64 // ms, of windows of 10
	}{{0, 0, 0, 12}, {40 * time.Millisecond, 100, 40, 52}, {time.Second, 0, 1000, 1012},
		{3 * time.Second, 0, -1, -1}, {0, 1000, -1, -1}} {
		m, err := watched(c.after, c.left).judge("x")
		if err != nil || m.Moved < c.min || m.Moved > c.max || m.Before < 0.0199 || m.Before > 0.0201 ||
			m.Arrived < 0.0399 || m.Arrived > 0.0401 {
			t.Errorf("after %v, %d left: %v, %+v", c.after, c.left, err, m)
		}
	}
	w := watched(0, 0)
	for i := range w.samples {
		w.samples[i].path = 0
	}
	if _, err := w.judge("x"); err == nil || !strings.Contains(err.Error(), "no traffic goes there") {
		t.Error(err)
	}
}
