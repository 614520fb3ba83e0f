package main

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	for seconds := 2.5; ; seconds *= 2 { // a busy machine needs longer until anything is sent, and to move
		problems := moved(t, seconds, plot)
		if len(problems) == 0 {
			break
		} else if seconds > 15 {
			t.Fatal(strings.Join(problems, "\n"))
		}
		t.Logf("%g seconds: %s", seconds, strings.Join(problems, "\n"))
	}
	if b, err := os.ReadFile(plot); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
		t.Errorf("the plot: %v", err)
	}
	if n := namespacesOf(t, "rn"); n != 0 {
		t.Errorf("%d namespaces are left", n)
	}
	code, out, errs := call(t, "lab", "run", planesWith(t, "{link: 'spine-2-2:Eth2', at: 0s, up: "+
		"false}"), "--name",
		"rn", "--rate", "100Mbps", "--duration", "8s", "--at", "5s")
	if code != 0 || !strings.Contains(out, "link spine-2-2:Eth2, up: false") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// moved runs the lab with load for so long and says what is not as it should be.
func moved(t *testing.T, seconds float64, plot string) (problems []string) {
	t.Helper()
	code, out, errs := call(t, "lab", "run", filepath.Join(scenarios(t), "lab-planes.yaml"), "--name", "rn",
		"--rate", "200Mbps", "--duration", fmt.Sprint(seconds, "s"), "--at", fmt.Sprint(seconds*0.4, "s"),
		"--plot", plot, "--force", "--json")
	if code != 0 {
		return []string{fmt.Sprintf("exit %d: %s", code, errs)}
	}
	var moves []labMove
	if err := json.Unmarshal([]byte(out), &moves); err != nil || len(moves) != 3 {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	for i, m := range moves {
		t.Logf("%-36s %4.0f ms, path %.3f to %.3f of %.3f to %.3f Gbit/s, %d "+
			"again", m.Event, m.Moved, m.Before,
			m.After, m.Arrived, m.Arrives, m.Again)
		if !m.Verified {
			t.Errorf("the bytes differ: %+v", m)
		}
		if i < 2 && (m.Moved < 0 || m.After > 0.1*m.Before) {
			problems = append(problems, fmt.Sprintf("%+v", m))
		}
		if share := m.Before / m.Arrived; i == 1 && (share < 0.3 || share > 0.7) {
			problems = append(problems,
				fmt.Sprintf("a plane of two carries %.2f before it is drained", share))
		}
	}
	return problems
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
