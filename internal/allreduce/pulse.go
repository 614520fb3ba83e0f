package allreduce

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"railyard/verbs"
)

// report is a message between ranks after they have joined. Other ranks report to rank 0 that they are at a
// barrier, with their measurements. Rank 0 reports that all are. A heartbeat only shows that its sender is alive,
// and a farewell that it is done.
type report struct {
	Beat    bool    `json:"beat,omitempty"`
	Bye     bool    `json:"bye,omitempty"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
	Wrong   int64   `json:"wrong"`
	Stats   Stats   `json:"stats"`
}

// peer is the connection to another rank.
type peer struct {
	rank    int
	c       net.Conn
	in      *bufio.Reader
	writing chan bool   // holds one value while a line is written, because tests' clocks stop at a mutex
	reports chan report // closed at its farewell
}

func newPeer(rank int, c net.Conn, in *bufio.Reader) *peer {
	return &peer{rank: rank, c: c, in: in, writing: make(chan bool, 1), reports: make(chan report, 4)}
}

// say sends a line, in bounded time even to a peer that does not read.
func (p *peer) say(v any) error {
	p.writing <- true
	defer func() { <-p.writing }()
	if err := p.c.SetWriteDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	return verbs.WriteLine(p.c, v)
}

// pulse monitors the ranks after they have joined: rank 0 monitors all others, and others monitor rank 0. The first
// failure anywhere ends its context everywhere, with the same cause.
type pulse struct {
	ctx      context.Context
	rank     int
	peers    []*peer // rank 0: the other ranks from 1 on; other ranks: rank 0
	patience time.Duration
	cancel   context.CancelCauseFunc
	fate     sync.Mutex // held while the context ends, because end waits for the goroutines that fail starts
	ears     sync.WaitGroup
	mouths   sync.WaitGroup
}

// newPulse starts the heartbeats. They end when end is called.
func newPulse(ctx context.Context, rank int, peers []*peer, patience time.Duration) *pulse {
	p := &pulse{rank: rank, peers: make([]*peer, len(peers)), patience: patience}
	p.ctx, p.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	for _, q := range peers {
		p.peers[max(0, q.rank-1)] = q
	}
	for _, q := range p.peers {
		p.ears.Go(func() { p.listen(q) })
		p.mouths.Go(func() { p.beat(q) })
	}
	return p
}

// beat sends heartbeats to a peer.
func (p *pulse) beat(q *peer) {
	tick := time.NewTicker(p.patience / 5)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if q.say(&report{Beat: true}) != nil {
				return // the listener reports the error
			}
		case <-p.ctx.Done():
			return
		}
	}
}

// listen processes a peer's messages until it sends no more.
func (p *pulse) listen(q *peer) {
	for {
		var r report
		err := q.c.SetReadDeadline(time.Now().Add(p.patience))
		if p.ctx.Err() != nil {
			return
		}
		if err == nil {
			err = verbs.ReadLine(q.in, &r)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.fail(fmt.Errorf("rank %d sent nothing for %v: it is stopped or isolated", q.rank, p.patience))
			return
		case err != nil:
			p.fail(fmt.Errorf("rank %d is gone: %w", q.rank, err))
			return
		case r.Beat:
			continue
		case r.Bye:
			close(q.reports)
			return
		case r.Error != "":
			p.fail(errors.New(r.Error))
			return
		}
		select {
		case q.reports <- r:
		case <-p.ctx.Done():
			return
		}
	}
}

// fail ends the run on all ranks. Only the first cause counts.
func (p *pulse) fail(why error) {
	p.fate.Lock()
	defer p.fate.Unlock()
	if p.ctx.Err() != nil {
		return // another goroutine was faster, or it has ended
	}
	p.cancel(why)
	for _, q := range p.peers {
		p.mouths.Go(func() { _ = q.say(&report{Error: why.Error()}) }) // a rank may be stopped
	}
}

// gather collects a value of every rank at rank 0 (by rank) and lets the other ranks continue. It is a barrier with
// a result. Others receive only their own value.
func (p *pulse) gather(own report) ([]report, error) {
	all := make([]report, 1, len(p.peers)+1)
	all[0] = own
	if p.rank != 0 {
		if err := p.peers[0].say(&own); err != nil {
			p.fail(fmt.Errorf("rank 0 is gone: %w", err))
		}
	}
	for _, q := range p.peers {
		select {
		case r, more := <-q.reports:
			if !more {
				p.fail(fmt.Errorf("rank %d is done before rank %d", q.rank, p.rank))
				return nil, context.Cause(p.ctx)
			}
			all = append(all, r)
		case <-p.ctx.Done():
			return nil, context.Cause(p.ctx)
		}
	}
	if p.rank != 0 {
		return all[:1], nil
	}
	for _, q := range p.peers {
		if err := q.say(&report{}); err != nil {
			p.fail(fmt.Errorf("rank %d is gone: %w", q.rank, err))
			return nil, context.Cause(p.ctx)
		}
	}
	return all, nil
}

// end sends farewells, and closes the connections after the other ranks have closed theirs. Closing a connection
// with unread data would discard sent data.
func (p *pulse) end() {
	p.fate.Lock()
	well := p.ctx.Err() == nil
	p.cancel(nil)
	p.fate.Unlock()
	p.mouths.Wait()
	for _, q := range p.peers {
		if well {
			_ = q.say(&report{Bye: true})
		}
		if c, ok := q.c.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		_ = q.c.SetReadDeadline(time.Now().Add(time.Second))
	}
	p.ears.Wait()
	for _, q := range p.peers {
		_, _ = io.Copy(io.Discard, q.in)
		q.c.Close()
	}
}
