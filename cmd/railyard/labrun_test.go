package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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
	for i := range w.samples { // three probes at once, long after the traffic has left
		if w.samples[i].at >= w.event+1700*time.Millisecond {
			w.samples[i].path += 3 * 4200
		}
	}
	if m, err := w.judge("x"); err != nil || m.Moved < 0 || m.Moved > 12 {
		t.Errorf("probes behind the traffic: %v, %+v", err, m)
	}
	for i := range w.samples {
		w.samples[i].path = 0
	}
	if _, err := w.judge("x"); err == nil || !strings.Contains(err.Error(), "no traffic goes there") {
		t.Error(err)
	}
}
