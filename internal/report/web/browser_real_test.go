package web

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
)

// TestRealScripts runs the page's own computations without a browser. It compares the effect of failures on random
// fabrics with a check of every pair of NICs (web/e2e/failures.mjs). It checks the editor's completions at every
// key of every shipped scenario (web/e2e/complete.mjs).
func TestRealScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("../../../web/node_modules/vite"); err != nil {
		t.Skip("vite is not installed: npm install --no-save in the folder web")
	}
	for script, said := range map[string]string{"failures.mjs": "single points of failure found",
		"complete.mjs": "places completed"} {
		cmd := exec.Command(node, "e2e/"+script)
		cmd.Dir = "../../../web"
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), said) {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
}

// Every view in a real browser: figures against the tables, the pause cascade in its order, keyboard alone, no
// console error, no request to other hosts, no serious accessibility fault (web/e2e/views.mjs).
func TestRealBrowser(t *testing.T) {
	scripted := browser(t)
	s, name := server(t, "")
	j, err := s.jobs.start(request{Text: step})
	if err != nil {
		t.Fatal(err)
	}
	training := await(t, s, j.ID)
	if training.State != "done" {
		t.Fatalf("%+v", training)
	}
	if j, err = s.jobs.start(request{Text: lossy}); err != nil {
		t.Fatal(err)
	}
	losing := await(t, s, j.ID)
	if losing.State != "done" {
		t.Fatalf("%+v", losing)
	}
	if j, err = s.jobs.start(request{Text: pods}); err != nil {
		t.Fatal(err)
	}
	placed := await(t, s, j.ID)
	if placed.State != "done" {
		t.Fatalf("%+v", placed)
	}
	if j, err = s.jobs.start(request{Text: alltoall64}); err != nil {
		t.Fatal(err)
	}
	wide := await(t, s, j.ID)
	if wide.State != "done" {
		t.Fatalf("%+v", wide)
	}
	captured(t, filepath.Join(s.Root, "captured"))
	capturedAs(t, filepath.Join(s.Root, "mrc"), "transport=mrc", "fabric.ip=6")
	capturedAs(t, filepath.Join(s.Root, "srd"), "transport=srd")
	for name, text := range endings {
		ending(t, filepath.Join(s.Root, name), text)
	}
	os.MkdirAll(filepath.Join(s.Root, "broken"), 0o755)
	r, err := Open(filepath.Join(s.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(report, page, 0o644); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	scripted("views.mjs", h.URL+"/", name, "captured", training.Run, report, "broken", losing.Run, placed.Run, wide.Run)
}

// TestRealFlow opens a run by flows, which claims nothing of packets and queues, and goes from run to run by the
// address (web/e2e/flow.mjs).
func TestRealFlow(t *testing.T) {
	scripted := browser(t)
	s, name := server(t, "")
	text, err := os.ReadFile("../../../scenarios/fattree1024-permutation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	j, err := s.jobs.start(request{Text: string(text), Sets: []string{"fidelity=flow"}})
	if err != nil {
		t.Fatal(err)
	}
	flowing := await(t, s, j.ID)
	if flowing.State != "done" {
		t.Fatalf("%+v", flowing)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	scripted("flow.mjs", h.URL+"/", flowing.Run, name)
}

// TestRealMany opens a study and many runs: heat map, Pareto front, parallel coordinates (web/e2e/many.mjs).
func TestRealMany(t *testing.T) {
	scripted := browser(t)
	s, _ := server(t, "")
	x := studyOf(t, filepath.Join(s.Root, "which"))
	defer x.Close()
	x.Pool, x.Engine = &study.Pool{}, halfway(func(trials []*sweep.Trial) error {
		for n, trial := range trials {
			at := float64(1e9 - 1e6*n)
			r := &sweep.Record{Status: sweep.Done, Figures: map[string]float64{"step_time": at,
				"queue_peak": float64(1000 * (n % 5))}, Causes: map[string]int64{"incast": int64(at)}}
			if err := x.Take(trial, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		j, err := s.jobs.start(request{Text: three, Sets: []string{"lb=" + []string{"ecmp", "spray"}[i%2],
			fmt.Sprintf("seed=%d", 1+i/2)}})
		if err != nil {
			t.Fatal(err)
		}
		await(t, s, j.ID)
	}
	h := httptest.NewServer(s)
	defer h.Close()
	scripted("many.mjs", h.URL+"/", "which")
}

// TestRealForms checks configurations and counters, and plans, by the page's forms (web/e2e/forms.mjs).
func TestRealForms(t *testing.T) {
	scripted := browser(t)
	s, err := New(Config{Root: t.TempDir(), Version: "test", Scenarios: map[string]string{"three.yaml": three},
		Schema: scenario.Schema(), Names: map[string][]string{"training.model": model.Names(), "gpu": model.GPUNames()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h := httptest.NewServer(s)
	defer h.Close()
	scripted("forms.mjs", h.URL+"/", "../scenarios/configs/seed-dcqcn.cfg")
}

// TestRealRemedy goes from an empty folder to a comparison by the pointer alone, in under three minutes: a run, its
// cause, a simulated remedy, and both compared (web/e2e/remedy.mjs counts clicks and seconds).
func TestRealRemedy(t *testing.T) {
	scripted := browser(t)
	text, err := os.ReadFile("../../../scenarios/three-flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Root: t.TempDir(), Version: "test", Schema: scenario.Schema(),
		Scenarios: map[string]string{"three-flows.yaml": string(text)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	h := httptest.NewServer(s)
	defer h.Close()
	scripted("remedy.mjs", h.URL+"/")
}

// browser returns how a script of web/e2e is run in Chromium. It skips the test if a program is not installed.
func browser(t *testing.T) func(script string, args ...string) {
	web, err := filepath.Abs("../../../web")
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat(filepath.Join(web, "node_modules", "playwright-core")); err != nil {
		t.Skip("playwright-core is not installed: npm install --no-save in the folder web")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	return func(script string, args ...string) {
		t.Helper()
		if shots := os.Getenv("RAILYARD_SHOTS"); shots != "" {
			args = append(args, shots)
		}
		cmd := exec.Command(node, append([]string{"e2e/" + script}, args...)...)
		cmd.Dir = web
		cmd.Env = append(os.Environ(), "CHROMIUM="+chromium)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "pages looked at") {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	}
}
