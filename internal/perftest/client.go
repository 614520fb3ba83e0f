package perftest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"railyard/unit"
	"railyard/verbs"
)

// Client is the measuring side of a session.
type Client struct {
	dev   *verbs.Device
	tcp   net.Conn
	in    *bufio.Reader // data from TCP
	op    Op
	cq    *verbs.CQ
	qps   []*verbs.QP
	mrs   []*verbs.MR
	bufs  [][]byte
	peers []verbs.Info
	sums  bool // the server's memory cannot be read
}

// latDepth is the maximum number of open requests of the latency test. One is in flight, but its answer may arrive
// before its acknowledgement.
const latDepth = 16

// Spec is the settings of a client's measurement.
type Spec struct {
	Op      Op
	Sizes   []int64 // bytes per message, ascending
	QPs     int
	Depth   int   // requests in flight per queue pair
	Iters   int64 // messages per queue pair and size; 0 with a Duration
	Time    time.Duration
	Stop    func() bool // reports whether a test by time must end now; nil: when its time is over
	Warmup  int64
	Connect ConnectParams
	Setup   *Setup // unless nil, receives the set-up of the session's first queue pair
}

// Connect opens a session with the server at to.
func Connect(ctx context.Context, dev *verbs.Device, to netip.AddrPort, s *Spec) (c *Client, err error) {
	size := slices.Max(s.Sizes)
	// Before memory is allocated.
	if err := (&Request{Version: version, Op: s.Op, Size: size, Connect: s.Connect,
		QPs: make([]verbs.Info, s.QPs)}).check(); err != nil {
		return nil, err
	}
	c = &Client{dev: dev, op: s.Op, sums: s.Connect.Transport == verbs.MRC}
	depth := s.Depth
	if s.Op == OpLat {
		depth = latDepth
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	s.Setup.begin()
	pd := dev.AllocPD()
	s.Setup.domain()
	entries := min(verbs.MaxCQ, s.QPs*(s.Depth+recvDepth))
	if c.cq, err = dev.CreateCQ(entries, nil); err != nil {
		return c, err
	}
	s.Setup.completions(entries)
	req := Request{Version: version, Op: s.Op, Size: size, Connect: s.Connect}
	for range s.QPs {
		buf := make([]byte, size)
		for i := range buf {
			buf[i] = byte(i) ^ byte(i>>8)
		}
		s.Setup.begin()
		mr, err := pd.RegMR(buf, verbs.LocalWrite|verbs.RemoteWrite)
		if err != nil {
			return c, err
		}
		s.Setup.region(mr)
		qp, err := pd.CreateQP(verbs.QPInitAttr{SendCQ: c.cq, RecvCQ: c.cq, MaxSendWR: depth,
			MaxRecvWR: recvDepth, SignalAll: true, Transport: cmp.Or(s.Connect.Transport, verbs.RC)})
		if err != nil {
			return c, err
		}
		s.Setup.pair(qp, depth)
		c.bufs, c.mrs, c.qps = append(c.bufs, buf), append(c.mrs, mr), append(c.qps, qp)
		req.QPs = append(req.QPs, qp.Info(mr))
	}
	s.Setup.begin()
	d := net.Dialer{Timeout: 10 * time.Second}
	if c.tcp, err = d.DialContext(ctx, "tcp", to.String()); err != nil {
		return c, fmt.Errorf("no server at %v (start one there with: railyard rdma serve): %w", to,
			errors.Unwrap(err))
	}
	c.in = bufio.NewReader(c.tcp)
	var reply Reply
	if err := c.exchange(&req, &reply); err != nil {
		return c, err
	}
	if reply.Error != "" {
		return c, fmt.Errorf("the server refuses: %s", reply.Error)
	}
	if len(reply.QPs) != s.QPs {
		return c, fmt.Errorf("the server responds with %s for %d", unit.Plural(len(reply.QPs), "queue pair"), s.QPs)
	}
	c.peers = reply.QPs
	s.Setup.exchanged(to, req.QPs, reply.QPs)
	for i, qp := range c.qps {
		o := s.Connect.options(s.QPs)
		if s.Setup != nil {
			o.OnModify = s.Setup.modified
		}
		if err := qp.Connect(reply.QPs[i], o); err != nil {
			return c, err
		}
		if s.Op == OpLat {
			for range recvDepth {
				if err := qp.PostRecv(&verbs.RecvWR{}); err != nil {
					return c, err
				}
			}
		}
	}
	return c, nil
}

// Close ends the session in any state.
func (c *Client) Close() {
	for _, q := range c.qps {
		q.Destroy()
	}
	for _, m := range c.mrs {
		_ = m.Dereg()
	}
	if c.tcp != nil {
		c.tcp.Close()
	}
}

// Finish ends the session and returns the server's counters.
func (c *Client) Finish() (f Final, err error) {
	err = c.exchange(last{}, &f)
	return f, err
}

// exchange sends a message to the server and receives its answer, within ten seconds.
func (c *Client) exchange(say, hear any) error {
	if err := c.tcp.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if err := verbs.WriteLine(c.tcp, say); err != nil {
		return err
	}
	return verbs.ReadLine(c.in, hear)
}

// cuts returns the number of rate reductions of the client's queue pairs.
func (c *Client) cuts() (n int64) {
	for _, q := range c.qps {
		n += q.Stats().Cuts
	}
	return n
}

// Run measures one message size.
func (c *Client) Run(ctx context.Context, s *Spec, size int64, progress Progress) (Result, error) {
	before, _, _, _ := c.dev.Counters()
	cuts := c.cuts()
	var r Result
	var err error
	if s.Op == OpLat {
		r, err = c.latency(ctx, s, size, progress)
	} else {
		r, err = c.bandwidth(ctx, s, size, progress)
	}
	after, drops, unsent, why := c.dev.Counters()
	r.Retransmissions, r.Timeouts = after.Again-before.Again, after.Timeouts-before.Timeouts
	r.Cuts = c.cuts() - cuts
	r.CNPs, r.Drops, r.MTU = after.CNPs-before.CNPs, drops, c.qps[0].Query().PathMTU
	if err != nil && unsent > 0 {
		err = fmt.Errorf("%w (the kernel refused to send %s: %v)", err, unit.Plural(unsent, "time"), why)
	}
	return r, err
}

// request builds the work request of queue pair i.
func (c *Client) request(i int, size int64) verbs.SendWR {
	wr := verbs.SendWR{WRID: uint64(i), SGList: []verbs.SGE{c.mrs[i].SGE(0, int(size))},
		RemoteAddr: c.peers[i].VA, RKey: c.peers[i].RKey}
	switch c.op {
	case OpSend:
		wr.Opcode = verbs.Send
	case OpRead:
		wr.Opcode = verbs.Read
	case OpLat:
		wr.Opcode, wr.ImmData = verbs.WriteWithImm, uint32(size)
	}
	return wr
}

// over reports whether a test by time ends after the given time. A test that counts messages does not.
func (s *Spec) over(spent time.Duration) bool {
	return s.Time > 0 && (spent >= s.Time || s.Stop != nil && s.Stop())
}

// bandwidth keeps depth requests in flight on each queue pair.
func (c *Client) bandwidth(ctx context.Context, s *Spec, size int64, progress Progress) (Result, error) {
	r := Result{Op: s.Op, Size: size, QPs: s.QPs}
	limit := s.Iters
	if s.Time > 0 {
		limit = MaxIters
	}
	// post times of the requests in flight, oldest first
	posted, times := make([]int64, s.QPs), make([][]time.Time, s.QPs)
	lat := newSamples()
	wrs := make([]verbs.SendWR, s.QPs)
	for i := range wrs {
		wrs[i] = c.request(i, size)
		times[i] = make([]time.Time, 0, s.Depth)
	}
	post := func(i int) error {
		if posted[i] >= limit {
			return nil
		}
		posted[i]++
		times[i] = append(times[i], time.Now())
		return c.qps[i].PostSend(&wrs[i])
	}
	began := time.Now()
	for range s.Depth {
		for i := range c.qps {
			if err := post(i); err != nil {
				return r, err
			}
		}
	}
	wc := make([]verbs.WC, 64)
	var last time.Time
	for flying := true; flying; {
		n, err := c.cq.Wait(ctx, wc)
		if err != nil {
			return r, err
		}
		now := time.Now()
		spent := now.Sub(began)
		if s.over(spent) {
			limit = 0
		}
		for _, w := range wc[:n] {
			if w.Status != verbs.StatusSuccess {
				return r, &CompletionError{w}
			}
			i := int(w.WRID)
			lat.add(now.Sub(times[i][0]))
			times[i] = times[i][:copy(times[i], times[i][1:])]
			r.Iters++
			if err := post(i); err != nil {
				return r, err
			}
		}
		flying = false
		for i := range times {
			flying = flying || len(times[i]) > 0
		}
		if progress != nil && now.Sub(last) > 100*time.Millisecond {
			last = now
			share := float64(r.Iters) / float64(max(1, s.Iters*int64(s.QPs)))
			if s.Time > 0 {
				share = spent.Seconds() / s.Time.Seconds()
			}
			progress(min(1, share), float64(r.Iters*size)*8/spent.Seconds()/1e9)
		}
	}
	r.Seconds = time.Since(began).Seconds()
	r.Gbps = float64(r.Iters*size) * 8 / r.Seconds / 1e9
	r.MsgRate = float64(r.Iters) / r.Seconds
	lat.into(&r, 1)
	if s.Op == OpWrite {
		err := c.verify(ctx, size)
		r.Verified = err == nil
		return r, err
	}
	if s.Op == OpRead {
		for _, b := range c.bufs { // the server's memory is zero
			if !bytes.Equal(b[:size], make([]byte, size)) {
				return r, errors.New("READ brought other bytes than the server's memory has")
			}
		}
		r.Verified = true
	}
	return r, nil
}

// compare requests the checksums of the server's memory: MRC has no READ.
func (c *Client) compare(size int64) error {
	var got sums
	if err := c.exchange(last{Sum: size}, &got); err != nil {
		return err
	}
	if len(got.Memory) != len(c.qps) {
		return fmt.Errorf("the server sums up %d memories of %d", len(got.Memory), len(c.qps))
	}
	for i, qp := range c.qps {
		if want := sha256.Sum256(c.bufs[i][:size]); !bytes.Equal(got.Memory[i], want[:]) {
			return fmt.Errorf("queue pair %#x: the server's memory differs from what was written", qp.QPN)
		}
	}
	return nil
}

// verify reads back the written data.
func (c *Client) verify(ctx context.Context, size int64) error {
	if c.sums {
		return c.compare(size)
	}
	got := make([]byte, size)
	mr, err := c.mrs[0].PD().RegMR(got, verbs.LocalWrite)
	if err != nil {
		return err
	}
	defer mr.Dereg()
	for i, qp := range c.qps {
		clear(got)
		if err := qp.PostSend(&verbs.SendWR{Opcode: verbs.Read, SGList: mr.All(), RemoteAddr: c.peers[i].VA,
			RKey: c.peers[i].RKey}); err != nil {
			return err
		}
		if err := waitAll(ctx, c.cq, make([]verbs.WC, 1), 1); err != nil {
			return err
		}
		if !bytes.Equal(got, c.bufs[i][:size]) {
			return fmt.Errorf("queue pair %#x: the server's memory differs from what was written", qp.QPN)
		}
	}
	return nil
}

// latency runs a ping-pong: WRITE with immediate in both directions. Half of a round trip counts.
func (c *Client) latency(ctx context.Context, s *Spec, size int64, progress Progress) (Result, error) {
	r := Result{Op: s.Op, Size: size, QPs: 1}
	p := pinger{c: c, wr: c.request(0, size), wc: make([]verbs.WC, 2*latDepth)}
	lat := newSamples()
	began := time.Now()
	var last time.Time
	for i := int64(0); ; i++ {
		start := time.Now()
		if i == s.Warmup {
			began = start
		}
		if i > s.Warmup && s.over(start.Sub(began)) || s.Time == 0 && i == s.Warmup+s.Iters {
			break
		}
		now, err := p.ping(ctx)
		if err != nil {
			return r, err
		}
		if i < s.Warmup {
			continue
		}
		lat.add(now.Sub(start))
		r.Iters++
		if progress != nil && now.Sub(last) > 100*time.Millisecond {
			last = now
			share := float64(r.Iters) / float64(max(1, s.Iters))
			if s.Time > 0 {
				share = now.Sub(began).Seconds() / s.Time.Seconds()
			}
			progress(min(1, share), 0)
		}
	}
	r.Seconds = time.Since(began).Seconds()
	r.MsgRate = float64(r.Iters) / r.Seconds
	lat.into(&r, 0.5)
	return r, p.reap(ctx, 0)
}

// pinger sends one message after another, each when the previous one was answered.
type pinger struct {
	c    *Client
	wr   verbs.SendWR
	wc   []verbs.WC
	open int // requests without a completion
	back int // outstanding answers
}

// ping posts a request and returns when its answer has arrived. Its completion may be later; it is then reaped with
// a later one.
func (p *pinger) ping(ctx context.Context) (at time.Time, err error) {
	qp := p.c.qps[0]
	if err := p.reap(ctx, latDepth-1); err != nil {
		return at, err
	}
	if err := qp.PostSend(&p.wr); err != nil {
		return at, err
	}
	for p.open++; p.back == 0; {
		if err := p.poll(ctx); err != nil {
			return at, err
		}
	}
	at = time.Now()
	p.back--
	return at, qp.PostRecv(&verbs.RecvWR{})
}

// reap waits until at most n requests are open.
func (p *pinger) reap(ctx context.Context, most int) error {
	for p.open > most {
		if err := p.poll(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *pinger) poll(ctx context.Context) error {
	n, err := p.c.cq.Wait(ctx, p.wc)
	if err != nil {
		return err
	}
	for _, w := range p.wc[:n] {
		switch {
		case w.Status != verbs.StatusSuccess:
			return &CompletionError{w}
		case w.Opcode == verbs.WCRecvRDMAWithImm:
			p.back++
		default:
			p.open--
		}
	}
	return nil
}
