package web

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// Connections that are silent, send half a request, or stay open after their answer do not block others from being
// answered. 256 of them used all files of the process.
func TestRealIdleConnectionsGiveWay(t *testing.T) {
	const patience = 10 * time.Minute // a timeout for a real hang
	client := http.Client{Timeout: patience}
	s, _ := server(t, "")
	for name, says := range map[string]string{"nothing": "", "half a request": "GET / HTTP",
		"one request": "GET /api/about HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a body": "POST /api/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Content-Length: 1000\r\n\r\n{",
		"half a chunked body": "POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n5\r\n{"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h := s.HTTP()
		h.ReadHeaderTimeout = time.Hour // they must not be closed because their time has run out
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
		r, err := client.Get("http://" + l.Addr().String() + "/api/about")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r.Body.Close()
		if r.StatusCode != 200 {
			t.Errorf("%s: %s", name, r.Status)
		}
		for end := time.Now().Add(patience); open.Load() > maxConns; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %d connections are kept", name, open.Load())
			}
		}
		h.Close()
	}
}
