package allreduce

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"railyard/rcudp"
	"railyard/verbs"
)

// device opens one at a loopback address that nobody uses.
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

// world runs all ranks in this process, each with a device of its own.
func world(t *testing.T, n int, change func(rank int, s *Spec)) (rows []Row, errs []error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	errs = make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		dev := device(t)
		defer dev.Close()
		s := &Spec{Rank: r, World: n, Rendezvous: l.Addr().String(), Type: "float32", Op: Sum, Iters: 2,
			Warmup: 1, QPs: 1,
			Sizes: []int64{4, 40, 4096, 1_000_004}, Wait: 4 * time.Minute, Connect: verbs.DefaultConnect()}
		if r == 0 {
			s.Listener = l
		}
		s.Connect.Timeout = 18 // a second: all ranks share this process, and may get little time
		if change != nil {
			change(r, s)
		}
		wg.Go(func() { errs[r] = Run(ctx, dev, s, func(row Row) { rows = append(rows, row) }) })
	}
	wg.Wait()
	return rows, errs
}

// Every element of every size, type and operation is right on every rank, with
// chunks that do not divide evenly and several queue pairs.
func TestRing(t *testing.T) {
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

// The check finds a wrong element: it is not satisfied by anything.
func TestCheckFindsErrors(t *testing.T) {
	k := kinds["float32"]
	got := make([]byte, 400)
	for r := range 3 {
		own := make([]byte, 400)
		k.fill(own, r, 0, Sum)
		k.reduce(got, got, own, Sum)
	}
	if n := k.wrong(got, 3, 0, Sum); n != 0 {
		t.Errorf("%d wrong in a right result", n)
	}
	got[7] ^= 1
	got[400-1] ^= 64
	if n := k.wrong(got, 3, 0, Sum); n != 2 {
		t.Errorf("%d wrong of 2", n)
	}
}

// Ranks that cannot work together say why instead of hanging. On a busy machine rank 0 may have gone before
// the others come: then it waits longer.
func TestMismatch(t *testing.T) {
	for what, c := range map[string]struct {
		change func(r int, s *Spec)
		want   string
	}{
		"other size":  {func(r int, s *Spec) { s.Sizes[0] += 4 * int64(r) }, "rank 0 runs"},
		"same rank":   {func(r int, s *Spec) { s.Rank = min(r, 1) }, "is there already"},
		"other world": {func(r int, s *Spec) { s.World += r }, "the world has 3 ranks"},
	} {
		for wait := time.Second; ; wait *= 5 {
			_, errs := world(t, 3, func(r int, s *Spec) {
				c.change(r, s)
				s.Wait = wait
			})
			all := ""
			for _, err := range errs {
				if err != nil {
					all += err.Error() + "\n"
				}
			}
			if strings.Contains(all, c.want) && strings.Contains(all, "did not join") {
				break
			} else if wait > time.Minute {
				t.Errorf("%s: %s", what, all)
				break
			}
		}
	}
}
