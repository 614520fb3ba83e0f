// Package allreduce runs a ring all-reduce on real data between processes, over
// the queue pairs of package verbs, and checks every element of the result.
//
// The ranks find each other as in the source documents: rank 0 listens on TCP (MASTER_ADDR, MASTER_PORT) and the
// others connect. Each rank announces its queue pairs and memory, and rank 0 sends each its neighbours. Afterwards
// TCP carries the start signal, the results, and heartbeats. A rank that is silent for Spec.Patience ends all
// others, which report its name.
package allreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"railyard/internal/lobby"
	"railyard/unit"
	"railyard/verbs"
)

// hello is a rank's announcement to rank 0.
type hello struct {
	Rank  int          `json:"rank"`
	World int          `json:"world"`
	Speak int          `json:"speak"` // version of the messages
	Job   string       `json:"job"`   // sizes, type and operation: all ranks must agree
	Next  []verbs.Info `json:"next"`  // the queue pairs towards the next rank
	Prev  []verbs.Info `json:"prev"`  // the queue pairs and memory for the previous rank
}

// speaks is the version of the ranks' messages: 2 has heartbeats.
const speaks = 2

// welcome is rank 0's answer: the neighbours' data.
type welcome struct {
	Error string       `json:"error,omitempty"`
	Next  []verbs.Info `json:"next"` // memory of the next rank, which this rank writes to
	Prev  []verbs.Info `json:"prev"` // memory of this rank for the previous one, which writes to it
}

// JoinError reports that the ranks did not all connect.
type JoinError struct{ Err error }

func (e *JoinError) Error() string { return e.Err.Error() }
func (e *JoinError) Unwrap() error { return e.Err }

// rendezvous connects the ranks. wait bounds the time until the last one joins.
func rendezvous(ctx context.Context, at string, h *hello, wait time.Duration) ([]*peer, *welcome, error) {
	if h.World == 1 {
		return nil, &welcome{Next: h.Prev, Prev: h.Next}, nil
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
	return join(ctx, c, h, wait)
}

// join announces a rank to rank 0 on an open connection, which is closed unless the rank is accepted.
func join(ctx context.Context, c net.Conn, h *hello, wait time.Duration) ([]*peer, *welcome, error) {
	stop := context.AfterFunc(ctx, func() { c.Close() })
	defer stop()
	p := newPeer(0, c, bufio.NewReader(c))
	if err := c.SetDeadline(time.Now().Add(wait + 10*time.Second)); err != nil {
		return nil, nil, err
	}
	var w welcome
	err := verbs.WriteLine(c, h)
	if err == nil {
		err = verbs.ReadLine(p.in, &w)
	}
	if err == nil && w.Error != "" {
		err = errors.New(w.Error)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("nothing for %v", wait+10*time.Second)
	}
	if err != nil {
		c.Close()
		return nil, nil, &JoinError{fmt.Errorf("rank %d: rank 0 reports: %w", h.Rank, err)}
	}
	return []*peer{p}, &w, c.SetDeadline(time.Time{})
}

// host is rank 0's side.
func host(ctx context.Context, at string, own *hello, wait time.Duration) ([]*peer, *welcome, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, nil, &JoinError{fmt.Errorf("rank 0 cannot listen on %s: %w", at, errors.Unwrap(err))}
	}
	return hostOn(ctx, l, own, wait)
}

// hostOn is host on an open listener, which it closes.
func hostOn(ctx context.Context, l net.Listener, own *hello, wait time.Duration) ([]*peer, *welcome, error) {
	defer l.Close()
	guests := make(chan *lobby.Guest[hello])
	full := make(chan struct{})
	defer close(full)
	go func() { // ends with the listener; later connections are refused
		_ = lobby.Serve(l, 5*time.Second, func(g *lobby.Guest[hello]) {
			select {
			case guests <- g:
			case <-full:
				g.Close()
			}
		})
	}()
	late := time.NewTimer(wait)
	defer late.Stop()
	hellos, peers := make([]*hello, own.World), make([]*peer, 0, own.World-1)
	hellos[0] = own
	give := func(err error) ([]*peer, *welcome, error) {
		for _, p := range peers {
			_ = p.say(&welcome{Error: err.Error()})
			p.c.Close()
		}
		return nil, nil, err
	}
	for len(peers) < own.World-1 {
		select {
		case g := <-guests:
			if problem := own.mismatch(&g.Say, hellos); problem != "" {
				_ = verbs.WriteLine(g, &welcome{Error: problem})
				g.Close()
				continue
			}
			hellos[g.Say.Rank] = &g.Say
			peers = append(peers, newPeer(g.Say.Rank, g.Conn, g.In))
		case <-late.C:
			return give(&JoinError{fmt.Errorf("%[2]s did not connect within %[1]v", wait, missing(hellos))})
		case <-ctx.Done():
			return give(ctx.Err())
		}
	}
	n := own.World
	for _, p := range peers {
		if err := p.say(&welcome{Next: hellos[(p.rank+1)%n].Prev, Prev: hellos[p.rank-1].Next}); err != nil {
			return give(&JoinError{fmt.Errorf("rank %d connected and disconnected: %w", p.rank, err)})
		}
	}
	return peers, &welcome{Next: hellos[1%n].Prev, Prev: hellos[n-1].Next}, nil
}

// mismatch returns the reason why a rank cannot join.
func (own *hello) mismatch(h *hello, have []*hello) string {
	switch {
	case h.Speak != own.Speak:
		return fmt.Sprintf("rank %d speaks version %d of the rendezvous, rank 0 %d", h.Rank, h.Speak, own.Speak)
	case h.World != own.World:
		return fmt.Sprintf("the world has %s, rank %d thinks %d", unit.Plural(own.World, "rank"), h.Rank, h.World)
	case h.Rank < 1 || h.Rank >= own.World:
		return fmt.Sprintf("rank %[2]d is out of range 0–%[1]d", own.World-1, h.Rank)
	case have[h.Rank] != nil:
		return fmt.Sprintf("rank %d is there already", h.Rank)
	case h.Job != own.Job:
		return fmt.Sprintf("rank 0 runs %s, rank %d runs %s", own.Job, h.Rank, h.Job)
	case len(h.Next) != len(own.Next) || len(h.Prev) != len(own.Prev):
		return fmt.Sprintf("rank 0 has %s per neighbour, rank %d has %d",
			unit.Plural(len(own.Next), "queue pair"),
			h.Rank, len(h.Next))
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
	if len(m) == 1 {
		return "rank " + m[0]
	}
	return "ranks " + strings.Join(m, ", ")
}
