package allreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"railyard/verbs"
)

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

// dial returns the near end of an accepted connection.
func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.accepts <- socket{far}
	return socket{near}
}

// socket is an end of a pipe. It accepts deadlines when the peer has closed, as sockets do.
type socket struct{ net.Conn }

func (s socket) SetDeadline(at time.Time) error     { return unlessClosed(s.Conn.SetDeadline(at)) }
func (s socket) SetReadDeadline(at time.Time) error { return unlessClosed(s.Conn.SetReadDeadline(at)) }
func (s socket) SetWriteDeadline(at time.Time) error {
	return unlessClosed(s.Conn.SetWriteDeadline(at))
}

func unlessClosed(err error) error {
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// Ranks with incompatible settings report why instead of hanging. Rank 0 waits for the others as long as
// configured, and names those that did not join.
func TestMismatch(t *testing.T) {
	for what, c := range map[string]struct {
		change func(r int, s *Spec)
		says   map[string]int // expected message, and the number of ranks that receive it
	}{
		"other size": {func(r int, s *Spec) { s.Sizes[0] += 4 * int64(r) }, map[string]int{
			"rank 1: rank 0 reports: rank 0 runs [4 40] bytes of float32, sum, 1+2 times, rank 1 runs [8 40]":  1,
			"rank 2: rank 0 reports: rank 0 runs [4 40] bytes of float32, sum, 1+2 times, rank 2 runs [12 40]": 1,
			"ranks 1, 2 did not connect within 1s": 1}},
		"same rank": {func(r int, s *Spec) { s.Rank = min(r, 1) }, map[string]int{
			"rank 1: rank 0 reports: rank 1 is there already":          1,
			"rank 1: rank 0 reports: rank 2 did not connect within 1s": 1,
			"rank 2 did not connect within 1s":                         2}},
		"other world": {func(r int, s *Spec) { s.World += r }, map[string]int{
			"rank 1: rank 0 reports: the world has 3 ranks, rank 1 thinks 4": 1,
			"rank 2: rank 0 reports: the world has 3 ranks, rank 2 thinks 5": 1,
			"ranks 1, 2 did not connect within 1s":                           1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, began := newPipes(), time.Now()
			errs := make([]error, 3)
			var wg sync.WaitGroup
			for r := range errs {
				s := &Spec{Rank: r, World: 3, Sizes: []int64{4, 40}, Type: "float32", Op: Sum, Warmup: 1, Iters: 2}
				c.change(r, s)
				h := &hello{Rank: s.Rank, World: s.World, Speak: speaks, Job: s.job(),
					Next: make([]verbs.Info, 1), Prev: make([]verbs.Info, 1)}
				wg.Go(func() {
					if r == 0 {
						_, _, errs[r] = hostOn(t.Context(), l, h, time.Second)
						return
					}
					_, _, errs[r] = join(t.Context(), l.dial(), h, time.Second)
				})
			}
			wg.Wait()
			if d := time.Since(began); d != time.Second {
				t.Errorf("%s: it took %v", what, d)
			}
			all := errors.Join(errs...).Error()
			for says, times := range c.says {
				if n := strings.Count(all, says); n != times {
					t.Errorf("%s: %d ranks say %q, want %d:\n%s", what, n, says, times, all)
				}
			}
		})
	}
}

// pulses joins ranks, rank 0 with all others, except one that only has a connection.
func pulses(n, silent int, patience time.Duration) (live []*pulse, mute []net.Conn) {
	var hub []*peer
	for r := 1; r < n; r++ {
		near, far := net.Pipe()
		hub = append(hub, newPeer(r, socket{near}, bufio.NewReader(near)))
		switch {
		case r == silent:
			mute = append(mute, far)
		case silent == 0:
			mute = append(mute, near)
			fallthrough
		default:
			other := newPeer(0, socket{far}, bufio.NewReader(far))
			live = append(live, newPulse(context.Background(), r, []*peer{other}, patience))
		}
	}
	if silent != 0 {
		live = append(live, newPulse(context.Background(), 0, hub, patience))
	}
	return live, mute
}

// A rank that joins and is then silent, because it is stopped or disconnected, ends all others after their
// patience, and they report which rank it was. Without heartbeats they waited for ever. The same holds for rank 0,
// through which all others communicate.
func TestSilentRank(t *testing.T) {
	for _, c := range []struct {
		ranks, silent int
		reads         bool // messages to the silent rank go into its socket's buffer
	}{{4, 2, true}, {4, 2, false}, {2, 1, true}, {2, 0, true}, {2, 0, false}, {4, 0, false}} {
		synctest.Test(t, func(t *testing.T) {
			const patience = 1500 * time.Millisecond
			want, most := fmt.Sprintf("rank %d sent nothing for %v", c.silent, patience), patience
			if !c.reads { // messages to it are abandoned after this time
				most = 5 * time.Second
			}
			live, mute := pulses(c.ranks, c.silent, patience)
			began := time.Now()
			for _, m := range mute {
				defer m.Close()
				if c.reads {
					go io.Copy(io.Discard, m)
				}
			}
			var wg sync.WaitGroup
			for _, p := range live {
				wg.Go(func() {
					_, err := p.gather(report{})
					if d := time.Since(began); d < patience || d > most {
						t.Errorf("%+v: rank %d waited for %v, want %v", c, p.rank, d, most)
					}
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%+v: rank %d: %v, want %q", c, p.rank, err, want)
					}
					p.end()
					if d := time.Since(began); d > patience+15*time.Second {
						t.Errorf("%+v: rank %d took %v to end", c, p.rank, d)
					}
				})
			}
			wg.Wait()
		})
	}
}

// Ranks that compute for long are not silent: they have heartbeats. Then all gather their reports, and end.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		live, _ := pulses(5, -1, patience)
		var wg sync.WaitGroup
		for _, p := range live {
			wg.Go(func() {
				time.Sleep(time.Duration(p.rank) * time.Minute)
				all, err := p.gather(report{Wrong: int64(p.rank)})
				if err != nil {
					t.Errorf("rank %d: %v", p.rank, err)
				} else if p.rank == 0 && (len(all) != 5 || all[3].Wrong != 3) {
					t.Errorf("%+v", all)
				}
				p.end()
			})
		}
		wg.Wait()
	})
}
