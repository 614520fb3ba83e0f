package allreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"railyard/rcudp"
	"railyard/verbs"
)

// device opens a device at an unused loopback address.
func device(t *testing.T) *verbs.Device {
	t.Helper()
	for addr := netip.MustParseAddr("127.88.0.1"); ; addr = addr.Next() {
		dev, err := verbs.OpenDevice(verbs.DeviceConfig{Addr: addr})
		if err == nil {
			return dev
		}
		if used := (*rcudp.PortInUseError)(nil); !errors.As(err, &used) {
			t.Fatal(err)
		}
	}
}

// patience is a timeout for a real hang.
const patience = 10 * time.Minute

// world runs all ranks in this process, each with a separate device.
func world(t *testing.T, n int, change func(rank int, s *Spec)) (rows []Row, errs []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return worldUntil(ctx, t, n, change, func(int) {})
}

// worldUntil runs ranks under a context, and reports each that has ended.
func worldUntil(ctx context.Context, t *testing.T, n int, change func(rank int, s *Spec),
	ended func(rank int)) (rows []Row, errs []error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errs = make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		dev := device(t)
		defer dev.Close()
		s := &Spec{Rank: r, World: n, Rendezvous: l.Addr().String(), Type: "float32", Op: Sum, Iters: 2,
			Warmup: 1, QPs: 1,
			Sizes: []int64{4, 40, 4096, 1_000_004}, Wait: patience, Connect: verbs.DefaultConnect()}
		if r == 0 {
			s.Listener = l
		}
		s.Connect.Timeout = 18 // a second, because all ranks share this process and may get little time
		if change != nil {
			change(r, s)
		}
		wg.Go(func() {
			errs[r] = Run(ctx, dev, s, func(row Row) { rows = append(rows, row) })
			ended(r)
		})
	}
	wg.Wait()
	return rows, errs
}

// Every element of every size, type and operation is right on every rank, with
// chunks that do not divide evenly and several queue pairs.
func TestRealRing(t *testing.T) {
	for _, c := range []struct {
		ranks, qps int
		typ        string
		op         Op
	}{
		{1, 1, "float32", Sum}, {2, 1, "float32", Sum}, {3, 2, "float64", Max},
		{5, 3, "int32", Prod}, {4, 1, "int64", Min}, {8, 2, "uint8", Sum},
	} {
		rows, errs := world(t, c.ranks, func(_ int, s *Spec) {
			s.QPs, s.Type, s.Op = c.qps, c.typ, c.op
			for i := range s.Sizes {
				s.Sizes[i] = (s.Sizes[i] + 7) &^ 7
			}
		})
		for r, err := range errs {
			if err != nil {
				t.Fatalf("%+v: rank %d: %v", c, r, err)
			}
		}
		if len(rows) != 4 {
			t.Fatalf("%+v: %d rows", c, len(rows))
		}
		for _, row := range rows {
			if row.Wrong != 0 || row.TimeUS <= 0 || row.BusBW > row.AlgBW*2 {
				t.Errorf("%+v: %+v", c, row)
			}
		}
	}
}

// Ranks with incompatible settings report why instead of hanging. Rank 0, which waits for others, ends when it is
// interrupted.
func TestRealMismatch(t *testing.T) {
	ctx, interrupt := context.WithTimeout(t.Context(), patience)
	defer interrupt()
	var refused atomic.Int32
	_, errs := worldUntil(ctx, t, 3, func(r int, s *Spec) { s.Sizes[0] += 4 * int64(r) }, func(int) {
		if refused.Add(1) == 2 {
			interrupt()
		}
	})
	for r, err := range errs[1:] {
		want := fmt.Sprintf("rank %d: rank 0 reports: rank 0 runs [4 40", r+1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v, want %q", r+1, err, want)
		}
	}
	if !errors.Is(errs[0], context.Canceled) {
		t.Errorf("rank 0: %v", errs[0])
	}
}

// A rank that joins and then disappears ends all others, which report its name, although the transport between them
// would wait for hours.
func TestRealRankIsGone(t *testing.T) {
	_, errs := world(t, 4, func(r int, s *Spec) {
		s.Patience = time.Hour
		s.Connect.Timeout = 31
		if r == 2 { // an observer in place of the rank, whose own spec cannot run
			job, at := s.job(), s.Rendezvous
			s.Rank, s.World = 0, 1
			go leaves(t, 2, 4, job, at)
		}
	})
	for r, err := range errs {
		if r != 2 && (err == nil || !strings.Contains(err.Error(), "rank 2 is gone: ")) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

// leaves joins a world like all other ranks and then disappears.
func leaves(t *testing.T, rank, world int, job, at string) {
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	info := []verbs.Info{{QPN: 9, Addr: netip.MustParseAddr("127.88.200.1"), MTU: 1024, Reads: 1,
		Room: 1 << 16, Length: 2 * ((1_000_004 + 63) &^ 63)}}
	h := hello{Rank: rank, World: world, Speak: speaks, Job: job, Next: info, Prev: info}
	var w welcome
	if err := verbs.WriteLine(c, &h); err != nil {
		t.Error(err)
	}
	if err := verbs.ReadLine(bufio.NewReader(c), &w); err != nil || w.Error != "" {
		t.Errorf("%v %s", err, w.Error)
	}
}

// Silent connections do not prevent ranks from joining.
func TestRealRendezvousWithIdleConnections(t *testing.T) {
	rows, errs := world(t, 3, func(r int, s *Spec) {
		for i := 0; r == 0 && i < 300; i++ {
			c, err := net.Dial("tcp", s.Rendezvous)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}
	})
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
}
