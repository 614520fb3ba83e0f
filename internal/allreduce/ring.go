package allreduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"railyard/rcudp"
	"railyard/verbs"
)

// ring is this rank's position in the ring. It has queue pairs to the next rank, to which it writes, and from the
// previous one, which writes into stage and result.
//
// The buffers are cut into one chunk per rank, each chunk into slices. In the first world-1 steps (reduce-scatter),
// step s of rank r sends chunk r-s. It receives chunk r-s-1 into the stage, where it is added to the rank's own. In
// the second world-1 steps (all-gather) it sends chunk r+1-s and receives chunk r-s directly into the result. A
// slice is sent as soon as the slice on which it depends has arrived. Each slice is a WRITE with immediate, which
// contains the all-reduce (odd or even), the step and the slice. Several queue pairs, and the previous rank itself,
// may therefore be ahead.
//
// No further flow control is needed: a stage slot is used once per all-reduce. The previous rank is at most one
// all-reduce ahead, once this rank has read its whole stage (all of its chunks have passed here).
type ring struct {
	rank, world int
	dev         *verbs.Device
	cq          *verbs.CQ
	next, prev  []*verbs.QP
	peer        []verbs.Info // the next rank's memory: stage, then result

	kind   kind
	op     Op
	send   []byte // this rank's contribution
	stage  []byte
	result []byte
	memory []byte // stage and result
	mr     *verbs.MR
	src    *verbs.MR // send

	bytes   int // size of the current all-reduce
	chunk   int
	slice   int
	flying  int // sends not yet complete
	backlog []job
	turn    uint32 // parity of the number of the current all-reduce
	early   []job  // early slices of the next all-reduce, which the previous rank has begun
	wc      []verbs.WC
}

// job is a slice to send.
type job struct{ step, slice int }

// Depths of the queues, and the longest slice.
const (
	sendDepth = 64
	recvDepth = 512
	sliceSize = 256 << 10
)

// newRing opens queue pairs and memory for up to size bytes.
func newRing(dev *verbs.Device, rank, world, qps, size int, k kind, op Op) (*ring, error) {
	r := &ring{rank: rank, world: world, dev: dev, kind: k, op: op, wc: make([]verbs.WC, 64)}
	var err error
	if r.cq, err = dev.CreateCQ(qps*(sendDepth+recvDepth)*2, nil); err != nil {
		return nil, err
	}
	pd := dev.AllocPD()
	padded := (size + 63) &^ 63
	r.memory, r.send = make([]byte, 2*padded), make([]byte, padded)
	r.stage, r.result = r.memory[:padded], r.memory[padded:]
	if r.mr, err = pd.RegMR(r.memory, verbs.LocalWrite|verbs.RemoteWrite); err != nil {
		return nil, err
	}
	if r.src, err = pd.RegMR(r.send, verbs.LocalWrite); err != nil {
		return nil, err
	}
	for range qps {
		for _, to := range []*[]*verbs.QP{&r.next, &r.prev} {
			qp, err := pd.CreateQP(verbs.QPInitAttr{SendCQ: r.cq, RecvCQ: r.cq, MaxSendWR: sendDepth,
				MaxRecvWR: recvDepth, SignalAll: true})
			if err != nil {
				return nil, err
			}
			*to = append(*to, qp)
		}
	}
	return r, nil
}

// hello describes the ring's ends to the other ranks.
func (r *ring) hello(jobName string) *hello {
	h := &hello{Rank: r.rank, World: r.world, Speak: speaks, Job: jobName}
	for i := range r.next {
		h.Next = append(h.Next, r.next[i].Info(nil))
		h.Prev = append(h.Prev, r.prev[i].Info(r.mr))
	}
	return h
}

// connect connects to the neighbours.
func (r *ring) connect(w *welcome, o verbs.ConnectOptions) error {
	if len(w.Next) != len(r.next) || len(w.Prev) != len(r.prev) {
		return errors.New("the neighbours have other numbers of queue pairs")
	}
	o.Share = 2 * len(r.next)
	for i := range r.next {
		if w.Next[i].Length != uint64(len(r.memory)) {
			return fmt.Errorf("the next rank's memory has %d bytes, this rank's %d", w.Next[i].Length, len(r.memory))
		}
		if err := errors.Join(r.next[i].Connect(w.Next[i], o), r.prev[i].Connect(w.Prev[i], o)); err != nil {
			return err
		}
		for range recvDepth {
			if err := r.prev[i].PostRecv(&verbs.RecvWR{}); err != nil {
				return err
			}
		}
	}
	r.peer = w.Next
	return nil
}

// prepare divides the buffers for an all-reduce of a size and fills them.
func (r *ring) prepare(bytes int) {
	el := r.kind.size()
	r.bytes = bytes
	r.chunk = max(el, (bytes/el+r.world-1)/r.world*el)
	r.slice = max(el, min(sliceSize, (r.chunk/4+el-1)/el*el))
	if r.chunk <= 16<<10 {
		r.slice = r.chunk
	}
	r.kind.fill(r.send[:bytes], r.rank, 0, r.op)
	r.spoil()
}

// spoil overwrites the result, so that a later correct result proves a later all-reduce.
func (r *ring) spoil() {
	for i := range r.result[:r.bytes] {
		r.result[i] = 0xee
	}
}

// span returns the bytes of a slice of a chunk; the end of the buffer may truncate both.
func (r *ring) span(chunk, slice int) (from, to int) {
	from = min(chunk*r.chunk+slice*r.slice, (chunk+1)*r.chunk, r.bytes)
	return from, min(from+r.slice, (chunk+1)*r.chunk, r.bytes)
}

// slices returns the number of slices that a chunk has.
func (r *ring) slices() int { return (r.chunk + r.slice - 1) / r.slice }

func (r *ring) mod(c int) int { return ((c % r.world) + r.world) % r.world }

// steps is the number of steps; the first half reduces.
func (r *ring) steps() int { return 2 * (r.world - 1) }

// chunkSent and chunkReceived are the ring's schedule.
func (r *ring) chunkSent(step int) int {
	if step < r.world-1 {
		return r.mod(r.rank - step)
	}
	return r.mod(r.rank + 1 - (step - (r.world - 1)))
}

func (r *ring) chunkReceived(step int) int { return r.mod(r.chunkSent(step) - 1) }

// run does one all-reduce.
func (r *ring) run(ctx context.Context) error {
	if r.world == 1 {
		copy(r.result[:r.bytes], r.send[:r.bytes])
		return nil
	}
	waiting := r.steps()*r.slices() - len(r.early)
	r.turn ^= 1
	for s := range r.slices() {
		if err := r.post(job{0, s}); err != nil {
			return err
		}
	}
	early := r.early
	r.early = nil
	for _, j := range early {
		if err := r.arrived(j); err != nil {
			return err
		}
	}
	for waiting > 0 || r.flying > 0 {
		n, err := r.wait(ctx)
		if err != nil {
			return err
		}
		for _, w := range r.wc[:n] {
			switch {
			case w.Status != verbs.StatusSuccess:
				return r.blame(w)
			case w.Opcode == verbs.WCRecvRDMAWithImm:
				if err := w.QP.PostRecv(&verbs.RecvWR{}); err != nil {
					return err
				}
				j := job{int(w.ImmData >> 16 & 0x7fff), int(w.ImmData & 0xffff)}
				if w.ImmData>>31 != r.turn {
					r.early = append(r.early, j)
					continue
				}
				waiting--
				if err := r.arrived(j); err != nil {
					return err
				}
			default:
				r.flying--
				if err := r.unblock(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// blame returns the neighbour of a failed request.
func (r *ring) blame(w verbs.WC) error {
	next, prev := r.mod(r.rank+1), r.mod(r.rank-1)
	switch {
	case !slices.Contains(r.next, w.QP):
		return fmt.Errorf("rank %d: the connection from rank %d broke: %v", r.rank, prev, w.Status)
	case w.Status == verbs.StatusRetryExcErr:
		return fmt.Errorf("rank %d: rank %d does not respond (%v): it is stopped or isolated", r.rank, next, w.Status)
	}
	return fmt.Errorf("rank %d: %v to rank %d failed with %v", r.rank, w.Opcode, next, w.Status)
}

// stall is the maximum time without progress while all heartbeats arrive: the network between two ranks may lose all
// data.
const stall = 20 * time.Second

func (r *ring) wait(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	n, err := r.cq.Wait(ctx, r.wc)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("rank %d: nothing has come from rank %d, or through it, for %v", r.rank,
			r.mod(r.rank-1), stall)
	}
	return n, err
}

// arrived processes a slice written by the previous rank, and forwards the slices that it completes.
func (r *ring) arrived(j job) error {
	if j.step >= r.steps() || j.slice >= r.slices() {
		return fmt.Errorf("rank %d: the previous rank sent slice %d of step %d, which does not exist", r.rank,
			j.slice, j.step)
	}
	if j.step < r.world-1 {
		from, to := r.span(r.chunkReceived(j.step), j.slice)
		r.kind.reduce(r.result[from:to], r.stage[from:to], r.send[from:to], r.op)
	}
	if j.step+1 == r.steps() {
		return nil
	}
	return r.post(job{j.step + 1, j.slice})
}

// post sends a slice, or queues it until the send queue has a free entry.
func (r *ring) post(j job) error {
	if r.flying >= sendDepth*len(r.next) || len(r.backlog) > 0 {
		r.backlog = append(r.backlog, j)
		return nil
	}
	from, to := r.span(r.chunkSent(j.step), j.slice)
	wr := verbs.SendWR{Opcode: verbs.WriteWithImm, ImmData: r.turn<<31 | uint32(j.step<<16|j.slice)}
	i := j.slice % len(r.next)
	wr.RKey, wr.RemoteAddr = r.peer[i].RKey, r.peer[i].VA+uint64(from)
	switch {
	case j.step == 0:
		wr.SGList = []verbs.SGE{r.src.SGE(from, to-from)}
	default:
		wr.SGList = []verbs.SGE{r.mr.SGE(len(r.stage)+from, to-from)}
	}
	if j.step >= r.world-1 {
		wr.RemoteAddr += uint64(len(r.stage))
	}
	err := r.next[i].PostSend(&wr)
	if errors.Is(err, verbs.ErrQueueFull) {
		r.backlog = append(r.backlog, j)
		return nil
	}
	r.flying++
	return err
}

// unblock posts queued slices as far as there are free entries.
func (r *ring) unblock() error {
	for n := len(r.backlog); n > 0 && r.flying < sendDepth*len(r.next); n-- {
		j := r.backlog[0]
		rest := r.backlog[1:]
		r.backlog = nil
		if err := r.post(j); err != nil {
			return err
		}
		blocked := len(r.backlog) > 0
		if r.backlog = append(r.backlog, rest...); blocked {
			return nil
		}
	}
	return nil
}

// Stats are the transport's counters.
type Stats struct {
	Retransmissions int64 `json:"retransmissions"`
	Timeouts        int64 `json:"timeouts"`
	CNPs            int64 `json:"cnps"`
	Cuts            int64 `json:"cuts"` // by congestion control
	CE              int64 `json:"ce_marks"`
	Drops           int64 `json:"kernel_drops"`
}

// Add adds the counters of another rank or size.
func (s *Stats) Add(o Stats) {
	s.Retransmissions += o.Retransmissions
	s.Timeouts += o.Timeouts
	s.CNPs += o.CNPs
	s.Cuts += o.Cuts
	s.CE += o.CE
	s.Drops += o.Drops
}

func (r *ring) stats() Stats {
	c, drops, _, _ := r.dev.Counters()
	s := statsOf(c, drops)
	for _, q := range r.next {
		s.Cuts += q.Stats().Cuts
	}
	return s
}

func statsOf(c rcudp.Counters, drops int64) Stats {
	return Stats{Retransmissions: c.Again, Timeouts: c.Timeouts, CNPs: c.CNPs, CE: c.CE, Drops: drops}
}

// timed runs n all-reduces and returns the mean seconds of one.
func (r *ring) timed(ctx context.Context, n int) (float64, error) {
	began := time.Now()
	for range n {
		if err := r.run(ctx); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds() / float64(max(1, n)), nil
}
