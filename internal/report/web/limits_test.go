package web

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Pipes among the runs block no request, whatever their name.
func TestPipesAmongRuns(t *testing.T) {
	s, name := server(t, "")
	for _, f := range []string{"run.json", "summary.json", "topology.json", "ports.parquet",
		"capture.pcapng", "other"} {
		dir := filepath.Join(s.Root, "with-"+strings.ReplaceAll(f, ".", "-"))
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.Root, name))); err != nil {
			t.Fatal(err)
		}
		os.Remove(filepath.Join(dir, f))
		if err := syscall.Mkfifo(filepath.Join(dir, f), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, view := range []string{"/info", "/packets", "/flows"} {
			if w := ask(s, "GET", "/api/runs/"+filepath.Base(dir)+view, "", nil); w.Code != 400 ||
				!strings.Contains(w.Body.String(), "not a regular file") {
				t.Errorf("%s%s: %d %s", f, view, w.Code, w.Body)
			}
		}
	}
	w := ask(s, "GET", "/api/runs", "", nil)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "not a regular file but a pipe") ||
		!strings.Contains(w.Body.String(), name) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A request's body is bounded like a file.
func TestScenariosOfThePageAreBounded(t *testing.T) {
	s, _ := server(t, "")
	for text, want := range map[string]string{
		strings.Repeat("- ", 100_000) + "x":  "nests deeper than 32 levels",
		strings.Repeat(`k: 1\n`, 80_000):     "more than 2048 keys",
		strings.Repeat(`\"`, 500_000):        "scenario:1:",
		strings.Repeat(`---\n`, 150_000):     "a second document",
		"name: [" + strings.Repeat("[", 999): "nests deeper",
	} {
		w := ask(s, "POST", "/api/check", `{"text":"`+text+`"}`, nil)
		if !strings.Contains(w.Body.String(), want) || w.Body.Len() > 1000 {
			t.Errorf("%.300s, want %q", w.Body, want)
		}
	}
}
