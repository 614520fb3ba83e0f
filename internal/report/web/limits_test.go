package web

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Pipes among the runs keep no request waiting, whatever they are called.
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
			quick(t, f+view, func() {
				if w := ask(s, "GET", "/api/runs/"+filepath.Base(dir)+view, "", nil); w.Code != 400 ||
					!strings.Contains(w.Body.String(), "no regular file") {
					t.Errorf("%s%s: %d %s", f, view, w.Code, w.Body)
				}
			})
		}
	}
	quick(t, "the list", func() {
		w := ask(s, "GET", "/api/runs", "", nil)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "no regular file but a pipe") ||
			!strings.Contains(w.Body.String(), name) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// What a page sends is bounded as a file is.
func TestScenariosOfThePageAreBounded(t *testing.T) {
	s, _ := server(t, "")
	for text, want := range map[string]string{
		strings.Repeat("- ", 100_000) + "x":  "nests deeper than 32 levels",
		strings.Repeat(`k: 1\n`, 80_000):     "more than 2048 keys",
		strings.Repeat(`\"`, 500_000):        "scenario:1:",
		strings.Repeat(`---\n`, 150_000):     "a second document",
		"name: [" + strings.Repeat("[", 999): "nests deeper",
	} {
		quick(t, want, func() {
			w := ask(s, "POST", "/api/check", `{"text":"`+text+`"}`, nil)
			if !strings.Contains(w.Body.String(), want) || w.Body.Len() > 1000 {
				t.Errorf("%.300s, want %q", w.Body, want)
			}
		})
	}
}

// Connections that say nothing, half a request, or nothing more after their answer,
// keep nobody from being answered: 256 of them held every file of the process.
func TestIdleConnectionsGiveWay(t *testing.T) {
	s, _ := server(t, "")
	for name, says := range map[string]string{"nothing": "", "half a request": "GET / HTTP",
		"one request": "GET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h := s.HTTP()
		h.ReadHeaderTimeout = time.Hour // they are not to give way because their time has run out
		h.ReadTimeout, h.IdleTimeout = time.Hour, time.Hour
		open := atomic.Int32{}
		changed := h.ConnState
		h.ConnState = func(c net.Conn, st http.ConnState) {
			changed(c, st)
			switch st {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Add(-1)
			}
		}
		go h.Serve(l)
		for range 256 {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.Write([]byte(says))
		}
		quick(t, name, func() {
			r, err := http.Get("http://" + l.Addr().String() + "/api/about")
			if err != nil || r.StatusCode != 200 {
				t.Errorf("%s: %v", name, err)
				return
			}
			r.Body.Close()
		})
		for range 12_000 {
			if open.Load() <= maxConns {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := open.Load(); n > maxConns {
			t.Errorf("%s: %d connections are kept", name, n)
		}
		h.Close()
	}
}

// quick fails when f waits for others, or for a pipe: they would keep it for an hour, or for ever.
func quick(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() { f(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s has no answer", what)
	}
}
