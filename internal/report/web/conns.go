package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConns is the maximum number of connections, well below a limit of 256 open files per process.
const maxConns = 100

// conns closes the longest-waiting connection when there are too many, so that idle clients cannot block others. A
// connection waits until its request, including the body, has arrived, and again when it has its answer.
type conns struct {
	mu   sync.Mutex
	next int
	at   map[net.Conn]*waiter
}

// waiter is a connection's place in the queue of those that wait.
type waiter struct {
	since int
	busy  bool
}

type connKey struct{}

// HTTP returns a server with limits against overload by clients.
func (s *Server) HTTP() *http.Server {
	c := &conns{at: map[net.Conn]*waiter{}}
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			conn, _ := q.Context().Value(connKey{}).(net.Conn)
			if q.Body == nil || q.ContentLength == 0 {
				c.mark(conn, true)
			} else {
				q.Body = &arriving{q.Body, func() { c.mark(conn, true) }}
			}
			defer c.mark(conn, false)
			s.ServeHTTP(w, q)
		}),
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
		ConnState:         c.changed,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      10 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// arriving is the body of a request; whole is called at its end.
type arriving struct {
	io.ReadCloser
	whole func()
}

// Read makes arriving an io.Reader.
func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if err != nil {
		a.whole()
	}
	return n, err
}

func (c *conns) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.next++
		c.at[conn] = &waiter{since: c.next}
		c.shed()
	case http.StateHijacked, http.StateClosed:
		delete(c.at, conn)
	}
}

// mark sets whether a connection's request is being processed.
func (c *conns) mark(conn net.Conn, busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.at[conn]; p != nil {
		c.next++
		p.since, p.busy = c.next, busy
	}
}

// shed closes the longest-waiting connections until few enough are left.
func (c *conns) shed() {
	for len(c.at) > maxConns {
		var oldest net.Conn
		for conn, p := range c.at {
			if !p.busy && (oldest == nil || p.since < c.at[oldest].since) {
				oldest = conn
			}
		}
		if oldest == nil {
			return // all are being processed and will end
		}
		delete(c.at, oldest)
		oldest.Close()
	}
}
