package allreduce

import (
	"bufio"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"railyard/verbs"
)

// mute joins a world as a rank like all others and is then silent, as a process
// that is stopped or cut off.
func mute(t *testing.T, rank, world int, job, at string) {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { c.Close() })
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

// A rank that joins and is then silent ends all others within their patience,
// and they say which it was: without heartbeats they waited for ever.
// Ranks that live and get little time are given more of it.
func TestSilentRank(t *testing.T) {
	job := "[4 40 4096 1000004] bytes of float32, sum, 1+2 times"
	for patience := 1500 * time.Millisecond; ; patience *= 5 {
		var at string
		_, errs := world(t, 4, func(r int, s *Spec) {
			s.Patience = patience
			s.Connect.Timeout = 31 // the transport would wait for hours
			if r == 0 {
				at = s.Rendezvous
			}
			if r == 2 { // an observer in place of the rank: its own spec cannot run
				s.Rank, s.World = 0, 1
				go mute(t, 2, 4, job, at)
			}
		})
		wrong := 0
		for r, err := range errs {
			if r != 2 && (err == nil || !strings.Contains(err.Error(), "rank 2 has not been heard of")) {
				t.Logf("rank %d after %v: %v", r, patience, err)
				wrong++
			}
		}
		if wrong == 0 {
			return
		} else if patience > 30*time.Second {
			t.Fatalf("%d of 3 ranks do not say who is silent", wrong)
		}
	}
}

// The same when it is rank 0, through which all the others talk.
func TestSilentRank0(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // it says welcome, and no more
		c, err := l.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { c.Close() })
		var h hello
		if err := verbs.ReadLine(bufio.NewReader(c), &h); err != nil {
			t.Error(err)
		}
		if err := verbs.WriteLine(c, &welcome{Next: h.Prev, Prev: h.Next}); err != nil {
			t.Error(err)
		}
	}()
	dev := device(t)
	defer dev.Close()
	s := &Spec{Rank: 1, World: 2, Rendezvous: l.Addr().String(), Type: "uint8", Op: Sum, Iters: 1, QPs: 1,
		Sizes: []int64{64},
		Wait:  4 * time.Minute, Patience: 300 * time.Millisecond, Connect: verbs.DefaultConnect()}
	if err := Run(t.Context(), dev, s, nil); err == nil ||
		!strings.Contains(err.Error(), "rank 0 has not been heard of") {
		t.Error(err)
	}
}

// Connections that say nothing keep no rank from joining.
func TestRendezvousWithIdleConnections(t *testing.T) {
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
