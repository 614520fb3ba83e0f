package perftest

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"railyard/rcudp"
	"railyard/verbs"
)

// session runs a server and connects a client to it, over loopback.
func session(t testing.TB, s *Spec, change func(*verbs.DeviceConfig)) *Client {
	t.Helper()
	return between(t, s, change, change)
}

// between is session with devices that are changed separately.
func between(t testing.TB, s *Spec, served, calling func(*verbs.DeviceConfig)) *Client {
	t.Helper()
	cfg := verbs.DeviceConfig{}
	if served != nil {
		served(&cfg)
	}
	var server *verbs.Device
	for addr := netip.MustParseAddr("127.77.0.1"); server == nil; addr = addr.Next() {
		cfg.Addr = addr
		var err error
		server, err = verbs.OpenDevice(cfg)
		if used := (*rcudp.PortInUseError)(nil); err != nil && !errors.As(err, &used) {
			t.Fatal(err)
		}
	}
	srv := Server{Dev: server, Log: t.Logf}
	if err := srv.Listen(0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		server.Close()
	})
	cfg = verbs.DeviceConfig{}
	if calling != nil {
		calling(&cfg)
	}
	dev, err := OpenNear(cfg, server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	c, err := Connect(ctx, dev, srv.Addr(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var plainConnect = ConnectParams{RetryCount: 7, RNRRetry: 7, Timeout: 16}

// Every test runs, transfers its bytes and verifies them.
func TestRealSessions(t *testing.T) {
	for _, op := range []Op{OpWrite, OpSend, OpRead, OpLat} {
		s := &Spec{Op: op, Sizes: []int64{1, 5000, 100_000}, QPs: 3, Depth: 8, Iters: 50, Warmup: 5,
			Connect: plainConnect}
		if op == OpLat {
			s.QPs, s.Depth = 1, 1
		}
		c := session(t, s, nil)
		for _, size := range s.Sizes {
			r, err := c.Run(context.Background(), s, size, nil)
			if err != nil {
				t.Fatalf("%s of %d: %v", op, size, err)
			}
			if r.Iters != 50*int64(s.QPs) || r.P50 <= 0 || r.P50 > r.P99 || r.P99 > r.Max ||
				(op == OpWrite || op == OpRead) && !r.Verified {
				t.Errorf("%s of %d: %+v", op, size, r)
			}
		}
		f, err := c.Finish()
		if err != nil || f.Counters.Received == 0 || f.Counters.BadICRC != 0 {
			t.Errorf("%s: %v, %+v", op, err, f)
		}
	}
}

// With MRC messages arrive as with RC. The memory is compared by its checksums.
func TestRealSessionsByMRC(t *testing.T) {
	for _, op := range []Op{OpWrite, OpLat} {
		s := &Spec{Op: op, Sizes: []int64{1, 100_000}, QPs: 3, Depth: 8, Iters: 50, Warmup: 5,
			Connect: plainConnect}
		if s.Connect.Transport = verbs.MRC; op == OpLat {
			s.QPs, s.Depth = 1, 1
		}
		c := session(t, s, nil)
		for _, size := range s.Sizes {
			r, err := c.Run(context.Background(), s, size, nil)
			if err != nil || op == OpWrite && !r.Verified {
				t.Fatalf("%s of %d: %v, %+v", op, size, err, r)
			}
		}
		if op == OpWrite { // the sums are of the memory's content
			c.bufs[1][7]++
			if err := c.compare(100); err == nil {
				t.Error("other bytes than the server has are taken for the same")
			}
		}
		if _, err := c.Finish(); err != nil {
			t.Error(err)
		}
	}
	if (&Request{Version: version, Op: OpRead, Size: 1, QPs: make([]verbs.Info, 1),
		Connect: ConnectParams{Transport: verbs.MRC}}).check() == nil {
		t.Error("READ by MRC is taken")
	}
}

// BenchmarkWrite is RDMA WRITE of 1 MiB messages over loopback, both ends in
// one process.
func BenchmarkWrite(b *testing.B) {
	s := &Spec{Op: OpWrite, Sizes: []int64{1 << 20}, QPs: 1, Depth: 16, Time: 2 * time.Second,
		Connect: plainConnect}
	for b.Loop() {
		c := session(b, s, nil)
		r, err := c.Run(context.Background(), s, 1<<20, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.Gbps, "Gbit/s")
		b.ReportMetric(float64(r.Retransmissions), "retrans")
	}
}

// TestRealSprayIsSelective sprays to a server started without flags. Packets overtake one another, and no end goes
// back N for that.
func TestRealSprayIsSelective(t *testing.T) {
	s := &Spec{Op: OpWrite, Sizes: []int64{256 << 10}, QPs: 1, Depth: 4, Iters: 50, Connect: plainConnect}
	s.Connect.Entropy = 16
	c := between(t, s, nil, func(cfg *verbs.DeviceConfig) { cfg.WriteOnly, cfg.Selective = true, true })
	if c.peers[0].Window == 0 {
		t.Error("the server goes back N")
	}
	if r, err := c.Run(t.Context(), s, s.Sizes[0], nil); err != nil || !r.Verified {
		t.Errorf("%+v, %v", r, err)
	}
}
