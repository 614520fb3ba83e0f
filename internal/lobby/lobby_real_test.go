package lobby

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// patience guards against a true hang.
const patience = 5 * time.Minute

// Three hundred connections that say nothing, or half a line, keep nobody from
// being heard, and are gone when the listener closes.
func TestRealIdleConnectionsGiveWay(t *testing.T) {
	for what, says := range map[string]string{
		"nothing":     "",
		"half a line": `{"name":`,
		"no JSON":     "GET / HTTP/1.1\n",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan string, 1)
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(l, time.Hour, func(g *Guest[struct{ Name string }]) {
				defer g.Close()
				rest, _ := io.ReadAll(g.In)
				heard <- g.Say.Name + string(rest)
			})
		}()
		var idle []net.Conn
		for range 300 {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, says)
			idle = append(idle, c)
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, `{"name":"rank 3"}`+"\nand more")
		c.Close()
		select {
		case s := <-heard:
			if s != "rank 3and more" {
				t.Errorf("%s: %q", what, s)
			}
		case <-time.After(patience): // Serve's own is an hour
			t.Fatalf("%s: 300 of them keep everybody waiting", what)
		}
		l.Close()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("%s: it does not end", what)
		}
		idle[299].SetReadDeadline(time.Now().Add(patience))
		if _, err := idle[299].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: somebody still waits: %v", what, err)
		}
	}
}
