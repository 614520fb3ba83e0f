package lobby

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hello is how guests of these tests introduce themselves.
type hello struct{ Name string }

// open serves on loopback until the test ends; what guests say behind their introduction is sent to heard
// with their names.
func open(t *testing.T, patience time.Duration) (at string, heard chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard, ended := make(chan string, 100), make(chan error)
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
	return l.Addr().String(), heard
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hangsUp waits for the other side to close, or to reset.
func hangsUp(t *testing.T, what string, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(2 * time.Minute))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: still there, %v", what, err)
	}
}

// What is no introduction ends the connection at once, without an answer that a stranger could use, and
// the next one is heard.
func TestNoIntroduction(t *testing.T) {
	at, heard := open(t, time.Hour)
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
		c := dial(t, at)
		c.SetWriteDeadline(time.Now().Add(2 * time.Minute))
		io.WriteString(c, says) // which may be refused half way
		hangsUp(t, what, c)
	}
	c := dial(t, at)
	fmt.Fprintln(c, `{"name":"last"}`)
	c.Close()
	if got := <-heard; got != "last|" {
		t.Errorf("%q", got)
	}
	if len(heard) > 0 {
		t.Errorf("%q was welcome", <-heard)
	}
}

// Patience is for the whole introduction: a byte now and then does not renew it.
func TestDripping(t *testing.T) {
	const patience = 300 * time.Millisecond
	at, heard := open(t, patience)
	began := time.Now() // it may be accepted before dial returns
	c := dial(t, at)
	borne := true
	for drops := 0; borne && drops < 3000; drops++ { // a minute, and more where the machine is busy
		_, err := c.Write([]byte(" "))
		borne = err == nil
		time.Sleep(20 * time.Millisecond)
	}
	hangsUp(t, "a drip", c)
	if d := time.Since(began); d < patience || borne {
		t.Errorf("it was borne for %v, to the end: %v", d, borne)
	}
	if len(heard) > 0 {
		t.Errorf("%q was welcome", <-heard)
	}
}

// A guest's own time is its own: once introduced it may be silent for longer than the patience, and what
// came with the introduction is read first. The introduction may come in pieces.
func TestGuestsHaveTime(t *testing.T) {
	// A machine may be too busy to read pieces within the first patience.
	for patience := time.Second; ; patience *= 4 {
		at, heard := open(t, patience)
		c := dial(t, at)
		for _, piece := range []string{`{"na`, `me":"slow"`, "}", "\nfirst "} {
			io.WriteString(c, piece)
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(patience + 200*time.Millisecond)
		io.WriteString(c, "second")
		c.(*net.TCPConn).CloseWrite()
		hangsUp(t, "who was heard", c)
		select {
		case got := <-heard:
			if got != "slow|first second" {
				t.Errorf("%q", got)
			}
			return
		default:
			if patience > 10*time.Second {
				t.Fatalf("an introduction in pieces is not heard within %v", patience)
			}
		}
	}
}

// When more wait than there is room for, the one that has waited longest goes, and only that one.
func TestTheOldestGivesWay(t *testing.T) {
	at, heard := open(t, time.Hour)
	var all []net.Conn
	for range Most {
		all = append(all, dial(t, at))
	}
	// The first one more can be welcome only when all before it were accepted.
	late := dial(t, at)
	hangsUp(t, "the oldest", all[0])
	for i, c := range append(all[1:], late) {
		fmt.Fprintf(c, "{\"name\":\"%d\"}\n", i+1)
		c.Close()
	}
	names := map[string]bool{}
	for range Most {
		select {
		case name := <-heard:
			names[name] = true
		case <-time.After(2 * time.Minute):
			t.Fatalf("%d of %d were heard", len(names), Most)
		}
	}
	if len(names) != Most || names["0|"] {
		t.Errorf("%d different ones", len(names))
	}
}

// Closing the listener hangs up on those that wait and waits for guests to finish.
func TestClosing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	guest, idle := dial(t, l.Addr().String()), dial(t, l.Addr().String())
	fmt.Fprintln(guest, "{}")
	<-in
	// Another guest behind the idle one: by then the idle one was accepted.
	second := dial(t, l.Addr().String())
	fmt.Fprintln(second, "{}")
	<-in
	l.Close()
	hangsUp(t, "one that waits", idle)
	select {
	case err := <-ended:
		t.Errorf("ended with guests inside: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	if b, err := io.ReadAll(guest); err != nil || string(b) != "farewell\n" {
		t.Errorf("a guest was cut off: %q, %v", b, err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
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
}
