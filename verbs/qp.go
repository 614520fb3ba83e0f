package verbs

import (
	"errors"
	"fmt"

	"railyard/cc"
	"railyard/entropy"
	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// QPInitAttr creates a queue pair. Zero caps take the defaults in brackets.
type QPInitAttr struct {
	SendCQ, RecvCQ *CQ
	MaxSendWR      int    // [128]
	MaxRecvWR      int    // [128]
	MaxSGE         int    // [16]
	Transport      string // RC or MRC [the device's]
	SignalAll      bool   // every send request completes in the CQ, even without the flag
	Selective      bool   // store packets that arrive out of order if the peer does, too [the device's]
}

// QP is a queue pair: a reliable connection, or one of MRC.
type QP struct {
	QPN uint32

	pd    *PD
	init  QPInitAttr
	cfg   *rc.Config
	conn  *rcudp.Conn
	attr  QPAttr
	sends []sent // outstanding, oldest first
	recvs int
	psn   uint32
	piece int // longest READ on the wire

	mrc *mrcAttr // nil: RC

	drain     bool // report when the send queue has drained
	told      bool // a completion has reported why the responder gave up
	destroyed bool
}

// sent is the state of a request from PostSend until it completes.
type sent struct {
	wr      SendWR
	parts   int // READ in pieces: how many are still to complete
	scatter [][]byte
	bounce  []byte
	bytes   int64
	status  Status
}

// transport returns the attributes of a queue pair in RESET.
func (d *Device) transport(selective bool) *rc.Config {
	c := &rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(14), Retries: 7, RNRRetries: 7,
		RNRTimer:  12,
		WriteOnly: d.cfg.WriteOnly}
	if selective {
		c.Recovery, c.Window, c.NakAfter = rc.Selective, selectiveWindow, batch
	}
	return c
}

// batch is the number of datagrams that may overtake one without a loss: the endpoint's longest run for one
// connection, which the kernel does not split.
const batch = 64

// selectiveWindow is the number of packets that a selective queue pair stores after a missing one.
const selectiveWindow = 4096

// CreateQP returns a queue pair in RESET.
func (pd *PD) CreateQP(a QPInitAttr) (*QP, error) {
	def := func(v *int, d, most int, name string) error {
		if *v == 0 {
			*v = d
		}
		if *v < 1 || *v > most {
			return fmt.Errorf("%s %d is out of range 1–%d", name, *v, most)
		}
		return nil
	}
	if err := errors.Join(def(&a.MaxSendWR, 128, 1<<15, "MaxSendWR"),
		def(&a.MaxRecvWR, 128, 1<<15, "MaxRecvWR"), def(&a.MaxSGE, 16, 256, "MaxSGE")); err != nil {
		return nil, err
	}
	if a.SendCQ == nil || a.RecvCQ == nil {
		return nil, errors.New("a queue pair needs a send and a receive completion queue")
	}
	d := pd.dev
	a.Selective = a.Selective || d.cfg.Selective
	if err := d.alive(); err != nil {
		return nil, err
	}
	m, err := d.multipath(a.Transport)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	qp := &QP{pd: pd, mrc: m, init: a, QPN: random(d.qpns, roce.PSNMask), psn: random(nil, roce.PSNMask),
		piece: readPiece}
	d.qpns[qp.QPN] = true
	d.mu.Unlock()
	qp.cfg = d.transport(a.Selective)
	qp.conn = rcudp.NewConn(qp.cfg, pd.mem, nil, d.cfg.Line, d.cfg.InFlight)
	qp.conn.Paced, qp.conn.QPN, qp.conn.Choose = d.cfg.Paced, qp.QPN, d.choose
	qp.conn.OnComplete, qp.conn.OnReceive = qp.completed, qp.received
	qp.conn.OnEstablished, qp.conn.OnError = qp.established, qp.failed
	if d.cfg.OnRate != nil {
		qp.conn.OnRate = func(now unit.Time, r unit.Rate) { d.cfg.OnRate(qp.QPN, now, r) }
	}
	d.dev.Do(func(e *rcudp.Endpoint, _ unit.Time) { err = e.Add(qp.conn) })
	return qp, err
}

// Destroy removes the queue pair. Packets for it count as unknown, and its posted requests do not complete.
func (qp *QP) Destroy() {
	var ports []uint16
	again := false
	qp.do(func(*rcudp.Endpoint) {}) // acknowledgements that wait are sent
	qp.do(func(e *rcudp.Endpoint) {
		if again = qp.destroyed; again {
			return
		}
		qp.destroyed = true
		e.Remove(qp.conn)
		ports, qp.conn.Ports = qp.owned(qp.conn.Ports), nil
		qp.sends, qp.recvs = nil, 0
	})
	if again {
		return // the number may be in use again
	}
	qp.pd.dev.dev.Forget()
	qp.pd.dev.dev.Release(ports)
	d := qp.pd.dev
	d.mu.Lock()
	delete(d.qpns, qp.QPN)
	d.mu.Unlock()
}

// alive refuses work that could never complete; the device is locked.
func (qp *QP) alive() error {
	if qp.destroyed {
		return ErrDestroyed
	}
	return qp.pd.dev.alive()
}

func (qp *QP) do(f func(e *rcudp.Endpoint)) {
	qp.pd.dev.dev.Do(func(e *rcudp.Endpoint, _ unit.Time) { f(e) })
}

// State returns the queue pair's state.
func (qp *QP) State() (s State) {
	qp.do(func(*rcudp.Endpoint) { s = qp.conn.QP.State() })
	return s
}

// Query returns the attributes in force.
func (qp *QP) Query() (a QPAttr) {
	qp.do(func(*rcudp.Endpoint) {
		a = qp.attr
		a.State = qp.conn.QP.State()
		a.Draining = a.State == SQD && !qp.conn.QP.Drained()
	})
	return a
}

// Stats are a queue pair's own counters.
type Stats struct {
	Retransmitted, Timeouts, CNPs, CE int64
	Cuts                              int64     // number of rate reductions by congestion control
	Rate                              unit.Rate // current allowed rate
}

// Stats returns the queue pair's counters.
func (qp *QP) Stats() (s Stats) {
	qp.do(func(*rcudp.Endpoint) {
		c := qp.conn
		cuts, ok := c.Counter(cc.CounterCuts)
		if !ok {
			cuts, _ = c.Controller().Counter(cc.CounterCuts)
		}
		again := int64(c.QP.Retransmitted)
		if n, ok := c.Counter("retransmissions"); ok {
			again = n
		}
		s = Stats{again, c.Timeouts, c.CNPs, c.CE, cuts, c.Rate()}
	})
	return s
}

// ports opens the source ports of the queue pair, from its number.
func (qp *QP) ports(n int) ([]uint16, error) {
	if qp.mrc != nil {
		return qp.pd.dev.dev.Entropy(mrcPorts)
	}
	var out []uint16
	h := qp.QPN * 2654435761
	for i := range max(1, n) {
		p, err := qp.pd.dev.dev.Source(entropy.Port(h, i))
		if err != nil {
			qp.pd.dev.dev.Release(out)
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// drained reports an empty send queue in SQD, once.
func (qp *QP) drained() {
	if qp.drain && qp.conn.QP.State() == SQD && qp.conn.QP.Drained() {
		qp.drain = false
		qp.pd.dev.event(AsyncEvent{Type: EventSQDrained, QP: qp})
	}
}

// The transport calls established and failed; the device is locked.
func (qp *QP) established() { qp.pd.dev.event(AsyncEvent{Type: EventCommEst, QP: qp}) }

// failed raises an event if no completion reports why the queue pair is in ERR. Its responder then rejected a
// request (IBTA 11.6.3.2). The requester's errors complete the request, and the caller's own step to ERR is not
// reported.
func (qp *QP) failed(why roce.Syndrome) {
	switch {
	case qp.told, why == 0:
	case why == roce.NakRemoteAccess:
		qp.pd.dev.event(AsyncEvent{Type: EventQPAccessErr, QP: qp})
	case why == roce.NakInvalid:
		qp.pd.dev.event(AsyncEvent{Type: EventQPReqErr, QP: qp})
	default:
		qp.pd.dev.event(AsyncEvent{Type: EventQPFatal, QP: qp})
	}
}
