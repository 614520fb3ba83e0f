package lobby

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// hello is how guests of these tests introduce themselves.
type hello struct{ Name string }

// pipes is a listener for connections of net.Pipe, whose deadlines follow the clock of a synctest bubble.
type pipes struct {
	accepts chan net.Conn
	closed  chan struct{}
	close   func()
}

func newPipes() *pipes {
	p := &pipes{accepts: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepts:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// socket is the accepted end of a pipe. It takes deadlines when the peer has closed, as sockets do.
type socket struct{ net.Conn }

func (s socket) SetDeadline(at time.Time) error {
	if err := s.Conn.SetDeadline(at); !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}

// dial returns the near end of a connection that was accepted.
func (p *pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	p.accepts <- socket{far}
	t.Cleanup(func() { near.Close() })
	return near
}

// open serves until the test ends, and sends to heard each guest's name and what it said behind its
// introduction.
func open(t *testing.T, patience time.Duration) (l *pipes, heard chan string) {
	t.Helper()
	l, heard = newPipes(), make(chan string, 100)
	ended := make(chan error)
	go func() {
		ended <- Serve(l, patience, func(g *Guest[hello]) {
			defer g.Close()
			rest, err := io.ReadAll(g.In)
			if err != nil {
				rest = append(rest, err.Error()...)
			}
			heard <- g.Say.Name + "|" + string(rest)
		})
	}()
	t.Cleanup(func() {
		l.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return l, heard
}

// hangsUp waits for the other side to close, and returns when it did.
func hangsUp(t *testing.T, what string, c net.Conn) (at time.Time) {
	t.Helper()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%s: still connected, %v", what, err)
	}
	return time.Now()
}

// What is no introduction ends the connection at once, without an answer that a stranger could use, and
// the next one is heard.
func TestNoIntroduction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, heard := open(t, time.Hour)
		began := time.Now()
		for what, says := range map[string]string{
			"no JSON":          "GET / HTTP/1.1\r\n\r\n",
			"another type":     `{"Name": 5}` + "\n",
			"a list":           "[1,2,3]\n",
			"bytes":            "\x16\x03\x01\x02\x00\n",
			"an empty line":    "\n",
			"two on one line":  `{"Name":"a"}{"Name":"b"}` + "\n",
			"no end":           `{"Name":"` + strings.Repeat("x", 1<<20),
			"deep nesting":     strings.Repeat("[", 100_000) + "\n",
			"a number without": "1e999999\n",
		} {
			c := l.dial(t)
			io.WriteString(c, says) // which may be refused half way
			hangsUp(t, what, c)
		}
		if d := time.Since(began); d > 0 {
			t.Errorf("strangers were borne for %v", d)
		}
		c := l.dial(t)
		fmt.Fprintln(c, `{"name":"last"}`)
		c.Close()
		if got := <-heard; got != "last|" {
			t.Errorf("%q", got)
		}
		if len(heard) > 0 {
			t.Errorf("%q was welcome", <-heard)
		}
	})
}

// Patience is for the whole introduction: a byte now and then does not renew it.
func TestDripping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		l, heard := open(t, patience)
		began := time.Now()
		c := l.dial(t)
		var drops sync.WaitGroup
		defer drops.Wait()
		drops.Go(func() {
			for {
				if _, err := c.Write([]byte(" ")); err != nil {
					return
				}
				time.Sleep(20*time.Millisecond + 1)
			}
		})
		if d := hangsUp(t, "a drip", c).Sub(began); d != patience {
			t.Errorf("borne for %v, want %v", d, patience)
		}
		if len(heard) > 0 {
			t.Errorf("%q was welcome", <-heard)
		}
	})
}

// A guest's own time is its own: once introduced it may be silent for longer than the patience, and what
// came with the introduction is read first. The introduction may come in pieces.
func TestGuestsHaveTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		l, heard := open(t, patience)
		c := l.dial(t)
		for _, piece := range []string{`{"na`, `me":"slow"`, "}", "\nfirst "} {
			time.Sleep(patience/4 - 1)
			io.WriteString(c, piece)
		}
		time.Sleep(100 * patience)
		io.WriteString(c, "second")
		c.Close()
		if got := <-heard; got != "slow|first second" {
			t.Errorf("%q", got)
		}
	})
}

// When more wait than there is room for, the one that has waited longest goes, and only that one.
func TestTheOldestGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, heard := open(t, time.Hour)
		var all []net.Conn
		for range Most {
			all = append(all, l.dial(t))
		}
		late := l.dial(t)
		hangsUp(t, "the oldest", all[0])
		for i, c := range append(all[1:], late) {
			fmt.Fprintf(c, "{\"name\":\"%d\"}\n", i+1)
			c.Close()
		}
		names := map[string]bool{}
		for range Most {
			names[<-heard] = true
		}
		if len(names) != Most || names["0|"] {
			t.Errorf("%d different ones", len(names))
		}
	})
}

// Closing the listener hangs up on those that wait and waits for guests to finish.
func TestClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		in, leave := make(chan bool), make(chan bool)
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(l, time.Hour, func(g *Guest[hello]) {
				in <- true
				<-leave
				fmt.Fprintln(g, "farewell")
				g.Close()
			})
		}()
		guest, idle := l.dial(t), l.dial(t)
		fmt.Fprintln(guest, "{}")
		<-in
		l.Close()
		hangsUp(t, "one that waits", idle)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("ended with guests inside: %v", err)
		default:
		}
		close(leave)
		if b, err := io.ReadAll(guest); err != nil || string(b) != "farewell\n" {
			t.Errorf("a guest was cut off: %q, %v", b, err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

// failing is a listener that hands over connections and errors as they are sent to it.
type failing chan any

func (f failing) Accept() (net.Conn, error) {
	x := <-f
	if err, ok := x.(error); ok {
		return nil, err
	}
	return x.(net.Conn), nil
}
func (f failing) Close() error   { return nil }
func (f failing) Addr() net.Addr { return &net.TCPAddr{} }

// Errors that others cause, or that pass, do not end the service; where no file is left, and there only,
// the one that has waited longest gives its own. Other errors end it and are told.
func TestErrorsOfAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the network is gone")
		fails := func(e syscall.Errno) error {
			return &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", e)}
		}
		next, heard, done := make(failing), make(chan string), make(chan error, 1)
		go func() {
			done <- Serve(next, time.Hour, func(g *Guest[hello]) { heard <- g.Say.Name })
		}()
		a, inA := net.Pipe()
		b, inB := net.Pipe()
		c, inC := net.Pipe()
		for _, x := range []any{inA, inB, inC, fails(syscall.EMFILE)} {
			next <- x
		}
		hangsUp(t, "the oldest, for its file", a)
		next <- fails(syscall.ECONNABORTED) // somebody else has changed its mind
		next <- fails(syscall.ECONNABORTED)
		fmt.Fprintln(b, `{"name":"b"}`)
		if got := <-heard; got != "b" {
			t.Errorf("%q", got)
		}
		next <- broken
		hangsUp(t, "when all ended", c)
		if err := <-done; err != broken {
			t.Errorf("%v", err)
		}
	})
}
