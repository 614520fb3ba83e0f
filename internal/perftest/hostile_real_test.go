package perftest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/verbs"
)

// raw sends a line to a server and returns its answer. The connection stays open until the test ends.
func raw(t *testing.T, to netip.AddrPort, line string) (answer string) {
	t.Helper()
	c, err := net.Dial("tcp", to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(c, line)
	answer, _ = bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(answer)
}

// serve is a server for unknown clients, and its memory in use.
func serve(t *testing.T) *Server {
	t.Helper()
	dev, err := OpenNear(verbs.DeviceConfig{}, netip.MustParseAddr("127.77.1.1"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dev: dev}
	if err := s.Listen(0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		dev.Close()
	})
	return s
}

// settled waits until a server holds no memory and no session.
func settled(t *testing.T, s *Server) {
	t.Helper()
	for range 12_000 {
		s.mu.Lock()
		held := s.memory
		s.mu.Unlock()
		if held == 0 && s.sessions.Load() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bytes and %d sessions are held for nobody", s.memory, s.sessions.Load())
}

// An impossible request is answered with its error, however large it is, and leaves no state. A valid request is
// served after all of them.
func TestRealHostileRequests(t *testing.T) {
	s := serve(t)
	info := s.Dev.Addr().String()
	ok := Request{Version: version, Op: OpWrite, Size: 4096, Connect: plainConnect,
		QPs: []verbs.Info{{Addr: s.Dev.Addr(), QPN: 17, PSN: 5, MTU: 4096, Room: 1 << 20, Reads: 1}}}
	for name, c := range map[string]struct {
		change func(r *Request)
		want   string
	}{
		"another version": {func(r *Request) { r.Version = 2 }, "speaks version 2"},
		"no test":         {func(r *Request) { r.Op = "" }, `unknown test ""`},
		"no size":         {func(r *Request) { r.Size = 0 }, "size 0 is out of range"},
		"a size below 0":  {func(r *Request) { r.Size = -1 << 40 }, "is out of range 1–"},
		"a large size":    {func(r *Request) { r.Size = MaxSize + 1 }, "is out of range 1–"},
		"an overflow":     {func(r *Request) { r.Size = 1 << 62 }, "is out of range 1–"},
		"no queue pair":   {func(r *Request) { r.QPs = nil }, "queue pairs"},
		"many":            {func(r *Request) { r.QPs = slices.Repeat(r.QPs, MaxQPs+1) }, "found 1025"},
		"all memory": {func(r *Request) { r.Size, r.QPs = MaxSize, slices.Repeat(r.QPs, 5) },
			"5 queue pairs with 1,073,741,824 bytes each need more than"},
		"an MTU of no port":  {func(r *Request) { r.Connect.MTU = 1500 }, "1500"},
		"a long timeout":     {func(r *Request) { r.Connect.Timeout = 32 }, "timeout"},
		"a timeout wrapped":  {func(r *Request) { r.Connect.Timeout = 256 + 14 }, "timeout"},
		"many retries":       {func(r *Request) { r.Connect.RetryCount = 8 }, "8 is out of range of RetryCount, 0–7"},
		"retries wrapped":    {func(r *Request) { r.Connect.RetryCount = 256 + 7 }, "263 is out of range"},
		"retries below 0":    {func(r *Request) { r.Connect.RNRRetry = -1 }, "RNR"},
		"a million ports":    {func(r *Request) { r.Connect.Entropy = 1 << 40 }, "entropy"},
		"room below 0":       {func(r *Request) { r.QPs[0].Room = -5 }, "impossible"},
		"reads below 0":      {func(r *Request) { r.QPs[0].Reads = -1 }, "impossible"},
		"a PSN of 25 bits":   {func(r *Request) { r.QPs[0].PSN = 1 << 24 }, "impossible"},
		"no address":         {func(r *Request) { r.QPs[0].Addr = netip.Addr{} }, "address"},
		"an MTU of nothing":  {func(r *Request) { r.QPs[0].MTU = 0 }, "0"},
		"an MTU below 0":     {func(r *Request) { r.QPs[0].MTU = -4096 }, "4096"},
		"the second is none": {func(r *Request) { r.QPs = append(r.QPs, verbs.Info{}) }, "queue pair"},
	} {
		r := ok
		r.QPs = slices.Clone(ok.QPs)
		c.change(&r)
		line, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var reply Reply
		if err := json.Unmarshal([]byte(raw(t, s.Addr(), string(line))), &reply); err != nil {
			t.Errorf("%s: no answer: %v", name, err)
		} else if reply.Error == "" || !strings.Contains(reply.Error, c.want) {
			t.Errorf("%s: %q, want %q", name, reply.Error, c.want)
		}
	}
	for _, line := range []string{"", "hello", "{", `{"version": "1"}`, "[]", "null", `{"qps": {}}`,
		strings.Repeat("x", 1<<20)} {
		if got := raw(t, s.Addr(), line); strings.Contains(got, `"qps":[{`) {
			t.Errorf("%.20q from %s is served: %s", line, info, got)
		}
	}
	dev, err := OpenNear(verbs.DeviceConfig{}, s.Dev.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	spec := &Spec{Op: OpWrite, Sizes: []int64{5000}, QPs: 2, Depth: 4, Iters: 20, Connect: plainConnect}
	c, err := Connect(context.Background(), dev, s.Addr(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := c.Run(context.Background(), spec, 5000, nil); err != nil || !r.Verified {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := c.Finish(); err != nil {
		t.Error(err)
	}
	c.Close()
}

// The server frees the memory of a client that is gone, or was rejected half way.
func TestRealNothingIsHeldForNobody(t *testing.T) {
	s := serve(t)
	good := verbs.Info{Addr: s.Dev.Addr(), QPN: 17, PSN: 5, MTU: 4096, Room: 1 << 20, Reads: 1}
	for name, qps := range map[string][]verbs.Info{"gone": {good, good}, "refused": {good, {}}} {
		line, err := json.Marshal(&Request{Version: version, Op: OpSend, Size: 1 << 20, Connect: plainConnect,
			QPs: qps})
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s\n", line)
		answer, _ := bufio.NewReader(c).ReadString('\n')
		if taken := !strings.Contains(answer, `"error"`); taken != (name == "gone") {
			t.Errorf("%s: %s", name, answer)
		}
		c.Close()
		settled(t, s)
	}
}

// A server with invalid answers is reported differently from an unreachable one, and no client hangs.
func TestRealHostileServers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	answers := make(chan string)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(c).ReadString('\n')
			fmt.Fprint(c, <-answers)
			c.Close()
		}
	}()
	dev, err := OpenNear(verbs.DeviceConfig{}, netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	to := l.Addr().(*net.TCPAddr).AddrPort()
	spec := &Spec{Op: OpRead, Sizes: []int64{64}, QPs: 2, Depth: 1, Iters: 1, Connect: plainConnect}
	for answer, want := range map[string]string{
		"":                             "the peer closed the connection",
		"\n":                           "the peer sent no connection data",
		"HTTP/1.1 400 Bad Request\r\n": "the peer sent no connection data",
		"{\"error\": \"busy\"}\n":      "the server refuses: busy",
		"{}\n":                         "the server responds with 0 queue pairs for 2",
		"{\"qps\": [{}]}\n":            "the server responds with 1 queue pair for 2",
		"{\"qps\": [{}, {}, {}]}\n":    "the server responds with 3 queue pairs for 2",
		"{\"qps\": [{}, {}]}\n":        "",
		"{\"qps\": [{\"addr\": \"127.0.0.1\", \"psn\": 99999999}, {}]}\n": "impossible",
	} {
		go func() { answers <- answer }()
		c, err := Connect(context.Background(), dev, to, spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", answer, err, want)
		}
		if c != nil && err == nil {
			c.Close()
		}
	}
	l.Close()
	if _, err := Connect(context.Background(), dev, to, spec); err == nil ||
		!strings.Contains(err.Error(), "no server at "+to.String()) {
		t.Error(err)
	}
}
