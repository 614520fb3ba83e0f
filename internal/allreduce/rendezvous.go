// Package allreduce runs a ring all-reduce on real data between processes, over
// the queue pairs of package verbs, and checks every element of the result.
//
// The ranks find each other as the seeds describe it: rank 0 listens on TCP
// (MASTER_ADDR, MASTER_PORT), the others connect, everybody says who it is and
// which queue pairs and memory it has, and rank 0 tells each its neighbours.
// After that TCP carries only the start signal and the results.
package allreduce

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strings"
	"time"

	"railyard/verbs"
)

// hello is what a rank tells rank 0.
type hello struct {
	Rank  int          `json:"rank"`
	World int          `json:"world"`
	Job   string       `json:"job"`  // sizes, type and operation: all ranks must agree
	Next  []verbs.Info `json:"next"` // the queue pairs towards the next rank
	Prev  []verbs.Info `json:"prev"` // the queue pairs and memory for the previous rank
}

// welcome is what rank 0 answers: the neighbours' sides.
type welcome struct {
	Error string       `json:"error,omitempty"`
	Next  []verbs.Info `json:"next"` // of the next rank, for us to write to
	Prev  []verbs.Info `json:"prev"` // of the previous rank, which writes to us
}

// join is this rank's connection to all others.
type join struct {
	rank, world int
	conns       []net.Conn // rank 0: by rank, nil for itself; others: one
}

// JoinError says that the ranks did not come together.
type JoinError struct{ Err error }

func (e *JoinError) Error() string { return e.Err.Error() }
func (e *JoinError) Unwrap() error { return e.Err }

// rendezvous meets the other ranks. wait bounds how long the last may take.
func rendezvous(ctx context.Context, at string, h *hello, wait time.Duration) (*join, *welcome, error) {
	if h.World == 1 {
		return &join{0, 1, nil}, &welcome{Next: h.Prev, Prev: h.Next}, nil
	}
	if h.Rank == 0 {
		return host(ctx, at, h, wait)
	}
	d := net.Dialer{Timeout: time.Second}
	var c net.Conn
	var err error
	for until := time.Now().Add(wait); ; time.Sleep(50 * time.Millisecond) {
		if c, err = d.DialContext(ctx, "tcp", at); err == nil {
			break
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return nil, nil, &JoinError{fmt.Errorf("rank %d found no rank 0 at %s: %w", h.Rank, at, err)}
		}
	}
	if err := c.SetDeadline(time.Now().Add(wait + 10*time.Second)); err != nil {
		return nil, nil, err
	}
	var w welcome
	if err = verbs.WriteLine(c, h); err == nil {
		err = verbs.ReadLine(c, &w)
	}
	if err == nil && w.Error != "" {
		err = errors.New(w.Error)
	}
	if err != nil {
		c.Close()
		return nil, nil, &JoinError{fmt.Errorf("rank %d: rank 0 says: %w", h.Rank, err)}
	}
	return &join{h.Rank, h.World, []net.Conn{c}}, &w, c.SetDeadline(time.Time{})
}

// host is rank 0's side.
func host(ctx context.Context, at string, own *hello, wait time.Duration) (*join, *welcome, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, nil, &JoinError{fmt.Errorf("rank 0 cannot listen on %s: %w", at, errors.Unwrap(err))}
	}
	defer l.Close()
	return hostOn(ctx, l, own, wait)
}

// hostOn is host on an open listener.
func hostOn(ctx context.Context, l net.Listener, own *hello, wait time.Duration) (*join, *welcome, error) {
	until := time.Now().Add(wait)
	if err := l.(*net.TCPListener).SetDeadline(until); err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	hellos := make([]*hello, own.World)
	hellos[0] = own
	j := &join{0, own.World, make([]net.Conn, own.World)}
	for got := 1; got < own.World; {
		c, err := l.Accept()
		if err != nil {
			j.close()
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			return nil, nil, &JoinError{fmt.Errorf("after %v %s did not join: %w", wait, missing(hellos), err)}
		}
		var h hello
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		if err := verbs.ReadLine(c, &h); err != nil {
			c.Close() // not one of ours
			continue
		}
		_ = c.SetDeadline(time.Time{})
		if problem := own.mismatch(&h, hellos); problem != "" {
			_ = verbs.WriteLine(c, &welcome{Error: problem})
			c.Close()
			continue
		}
		hellos[h.Rank], j.conns[h.Rank] = &h, c
		got++
	}
	n := own.World
	for r := 1; r < n; r++ {
		if err := verbs.WriteLine(j.conns[r], &welcome{Next: hellos[(r+1)%n].Prev, Prev: hellos[r-1].Next}); err != nil {
			j.close()
			return nil, nil, err
		}
	}
	return j, &welcome{Next: hellos[1%n].Prev, Prev: hellos[n-1].Next}, nil
}

// mismatch says why a rank cannot join.
func (own *hello) mismatch(h *hello, have []*hello) string {
	switch {
	case h.World != own.World:
		return fmt.Sprintf("the world has %d ranks, rank %d thinks %d", own.World, h.Rank, h.World)
	case h.Rank < 1 || h.Rank >= own.World:
		return fmt.Sprintf("a rank lies between 0 and %d, found %d", own.World-1, h.Rank)
	case have[h.Rank] != nil:
		return fmt.Sprintf("rank %d is there already", h.Rank)
	case h.Job != own.Job:
		return fmt.Sprintf("rank 0 runs %s, rank %d runs %s", own.Job, h.Rank, h.Job)
	case len(h.Next) != len(own.Next) || len(h.Prev) != len(own.Prev):
		return fmt.Sprintf("rank 0 has %d queue pairs per neighbour, rank %d has %d", len(own.Next), h.Rank, len(h.Next))
	}
	return ""
}

func missing(have []*hello) string {
	var m []string
	for r, h := range have {
		if h == nil {
			m = append(m, fmt.Sprint(r))
		}
	}
	sort.Strings(m)
	if len(m) == 1 {
		return "rank " + m[0]
	}
	return "ranks " + strings.Join(m, ", ")
}

// report is what a rank tells rank 0 after a size.
type report struct {
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
	Wrong   int64   `json:"wrong"`
	Stats   Stats   `json:"stats"`
}

// gather brings a value of every rank to rank 0 (by rank) and tells the others
// to go on: a barrier with a result. Others get only their own back.
func (j *join) gather(own report) ([]report, error) {
	all := make([]report, j.world)
	all[j.rank] = own
	var bad error
	if j.rank != 0 {
		if err := verbs.WriteLine(j.conns[0], &own); err != nil {
			return nil, err
		}
		var r report
		if err := verbs.ReadLine(j.conns[0], &r); err != nil {
			return nil, fmt.Errorf("rank 0 is gone: %w", err)
		}
		if r.Error != "" {
			return nil, errors.New(r.Error)
		}
		return all, nil
	}
	if own.Error != "" {
		bad = errors.New(own.Error)
	}
	for r := 1; r < j.world; r++ {
		if err := verbs.ReadLine(j.conns[r], &all[r]); err != nil {
			bad = errors.Join(bad, fmt.Errorf("rank %d is gone: %w", r, err))
		} else if all[r].Error != "" {
			bad = errors.Join(bad, fmt.Errorf("rank %d: %s", r, all[r].Error))
		}
	}
	var verdict report
	if bad != nil {
		verdict.Error = bad.Error()
	}
	for r := 1; r < j.world; r++ {
		_ = verbs.WriteLine(j.conns[r], &verdict) // a rank that is gone is in bad already
	}
	return all, bad
}

func (j *join) close() {
	for _, c := range j.conns {
		if c != nil {
			c.Close()
		}
	}
}
