package verbs

import (
	"errors"
	"fmt"
	"net/netip"

	"railyard/rc"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// State is the state of a queue pair.
type State = rc.State

// States.
const (
	Reset = rc.Reset
	Init  = rc.Init
	RTR   = rc.ReadyToReceive
	RTS   = rc.ReadyToSend
	SQD   = rc.SendQueueDrain
	Err   = rc.Error
)

// QPInitAttr creates a queue pair. Zero caps take the defaults in brackets.
type QPInitAttr struct {
	SendCQ, RecvCQ *CQ
	MaxSendWR      int  // [128]
	MaxRecvWR      int  // [128]
	MaxSGE         int  // [16]
	SignalAll      bool // every send request completes in the CQ, asked for or not
}

// QPAttr are the attributes that Modify takes with a step. A step reads what it
// needs and ignores the rest.
type QPAttr struct {
	State State

	Access Access // INIT: what the peer may do, beside what regions allow

	PathMTU      int        // RTR: 256, 512, 1024, 2048 or 4096
	DestQPN      uint32     // RTR
	RQPSN        uint32     // RTR: the PSN that the peer starts with
	DestAddr     netip.Addr // RTR
	MaxDestReads int        // RTR: READs and atomics that the peer may have under way
	MinRNRTimer  uint8      // RTR: timer code, roce.RNRTimer
	Entropy      int        // RTR: UDP source ports; 1 per queue pair, more sprays packets over them

	SQPSN      uint32 // RTS: the PSN that we start with
	Timeout    int    // RTS: local ACK timeout, 4.096 us x 2^n; 0 is never
	RetryCount int    // RTS: 0 to 7
	RNRRetry   int    // RTS: 0 to 7; 7 is endless
	MaxReads   int    // RTS: READs and atomics that we may have under way
	InFlight   unit.Bytes
}

// QP is a reliable connection queue pair.
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
	fatal bool
	drain bool

	destroyed bool
}

// sent is what PostSend remembers of a request until it completes.
type sent struct {
	wr      SendWR
	parts   int // READ in pieces: how many are still to complete
	scatter [][]byte
	bounce  []byte
	bytes   int64
	status  Status
}

// CreateQP returns a queue pair in RESET.
func (pd *PD) CreateQP(a QPInitAttr) (*QP, error) {
	def := func(v *int, d, most int, name string) error {
		if *v == 0 {
			*v = d
		}
		if *v < 1 || *v > most {
			return fmt.Errorf("%s must lie between 1 and %d, found %d", name, most, *v)
		}
		return nil
	}
	if err := errors.Join(def(&a.MaxSendWR, 128, 1<<15, "MaxSendWR"), def(&a.MaxRecvWR, 128, 1<<15, "MaxRecvWR"), def(&a.MaxSGE, 16, 256, "MaxSGE")); err != nil {
		return nil, err
	}
	if a.SendCQ == nil || a.RecvCQ == nil {
		return nil, errors.New("a queue pair needs a send and a receive completion queue")
	}
	d := pd.dev
	if err := d.alive(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	qp := &QP{pd: pd, init: a, QPN: random(d.qpns, roce.PSNMask), psn: random(nil, roce.PSNMask), piece: readPiece}
	d.qpns[qp.QPN] = true
	d.mu.Unlock()
	qp.cfg = &rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(14), Retries: 7, RNRRetries: 7, RNRTimer: 12, WriteOnly: d.cfg.WriteOnly}
	if d.cfg.Selective {
		qp.cfg.Recovery, qp.cfg.Window, qp.cfg.NakAfter = rc.Selective, 4096, 2
	}
	qp.conn = rcudp.NewConn(qp.cfg, pd.mem, d.controller(), d.cfg.Line, d.cfg.InFlight)
	qp.conn.Paced, qp.conn.QPN = d.cfg.Paced, qp.QPN
	qp.conn.OnComplete, qp.conn.OnReceive = qp.completed, qp.received
	if d.cfg.OnRate != nil {
		qp.conn.OnRate = func(now unit.Time, r unit.Rate) { d.cfg.OnRate(qp.QPN, now, r) }
	}
	var err error
	d.dev.Do(func(e *rcudp.Endpoint, _ unit.Time) { err = e.Add(qp.conn) })
	return qp, err
}

// Destroy forgets the queue pair; packets for it count as unknown, and what was
// posted to it does not complete.
func (qp *QP) Destroy() {
	var ports []uint16
	again := false
	qp.do(func(e *rcudp.Endpoint) {
		if again = qp.destroyed; again {
			return
		}
		qp.destroyed = true
		e.Remove(qp.conn)
		ports, qp.conn.Ports = qp.conn.Ports, nil
		qp.sends, qp.recvs = nil, 0
	})
	if again {
		return // its number may be another's by now
	}
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
	})
	return a
}

// Stats are a queue pair's own counters.
type Stats struct {
	Retransmitted, Timeouts, CNPs, CE int64
	Rate                              unit.Rate // what congestion control allows now
}

// Stats returns the queue pair's counters.
func (qp *QP) Stats() (s Stats) {
	qp.do(func(*rcudp.Endpoint) {
		c := qp.conn
		s = Stats{int64(c.QP.Retransmitted), c.Timeouts, c.CNPs, c.CE, c.Rate()}
	})
	return s
}

// Modify moves the queue pair to a.State (IBTA 10.3.1 and table 91), checking
// the attributes that the step needs.
func (qp *QP) Modify(a QPAttr) error {
	if a.State == RTR {
		ports, err := qp.ports(a.Entropy)
		if err != nil {
			return err
		}
		qp.pd.dev.dev.Release(qp.conn.Ports) // of an earlier life
		qp.conn.Ports = ports
	}
	var err error
	qp.do(func(*rcudp.Endpoint) { err = qp.modify(a) })
	if err != nil {
		return fmt.Errorf("queue pair %#x to %v: %w", qp.QPN, a.State, err)
	}
	return nil
}

// modify runs a step with the device locked.
func (qp *QP) modify(a QPAttr) error {
	if err := qp.alive(); err != nil {
		return err
	}
	c, cfg := qp.conn, *qp.cfg
	switch from := c.QP.State(); {
	case a.State == Init:
		cfg.Deny = (RemoteWrite | RemoteRead | RemoteAtomic) &^ a.Access
		qp.attr = QPAttr{Access: a.Access}
	case a.State == RTR:
		if !a.DestAddr.IsValid() || a.DestAddr.Unmap().Is4() != qp.pd.dev.Addr().Is4() {
			return fmt.Errorf("destination address %v does not fit the device's %v", a.DestAddr, qp.pd.dev.Addr())
		}
		if a.DestQPN == 0 || a.DestQPN > roce.PSNMask || a.RQPSN > roce.PSNMask {
			return fmt.Errorf("destination queue pair %#x and PSN %#x have 24 bits", a.DestQPN, a.RQPSN)
		}
		cfg.MTU, cfg.ReadsIn, cfg.RNRTimer = a.PathMTU, a.MaxDestReads, a.MinRNRTimer
	case a.State == RTS && from != SQD:
		cfg.Timeout, cfg.Retries, cfg.RNRRetries, cfg.Reads = rc.LocalAckTimeout(a.Timeout), a.RetryCount, a.RNRRetry, a.MaxReads
		if a.Timeout < 0 || a.Timeout > 31 || a.SQPSN > roce.PSNMask {
			return fmt.Errorf("timeout lies between 0 and 31 and the PSN has 24 bits, found %d and %#x", a.Timeout, a.SQPSN)
		}
	}
	if err := cfg.Validate(); err != nil && a.State != Err && a.State != Reset {
		return err
	}
	old := *qp.cfg
	*qp.cfg = cfg
	psn := a.SQPSN
	if a.State == RTR {
		psn = a.RQPSN
	}
	if err := c.Modify(a.State, psn); err != nil {
		*qp.cfg = old
		return err
	}
	switch a.State {
	case RTR:
		c.DestQPN, c.Peer = a.DestQPN, a.DestAddr.Unmap()
		qp.attr.PathMTU, qp.attr.DestQPN, qp.attr.RQPSN, qp.attr.DestAddr = a.PathMTU, a.DestQPN, a.RQPSN, a.DestAddr
		qp.attr.MaxDestReads, qp.attr.MinRNRTimer, qp.attr.Entropy = a.MaxDestReads, a.MinRNRTimer, max(1, a.Entropy)
	case RTS:
		qp.attr.SQPSN, qp.attr.Timeout, qp.attr.RetryCount, qp.attr.RNRRetry, qp.attr.MaxReads = a.SQPSN, a.Timeout, a.RetryCount, a.RNRRetry, a.MaxReads
		if a.InFlight > 0 {
			c.SetInFlight(a.InFlight)
			qp.attr.InFlight = a.InFlight
		}
	case SQD:
		qp.drain = true
		qp.drained()
	case Reset:
		qp.sends, qp.recvs, qp.fatal = nil, 0, false
	}
	return nil
}

// ports opens the source ports of the queue pair: from its number, in the
// dynamic range, as the kernel's RoCE stack does.
func (qp *QP) ports(n int) ([]uint16, error) {
	if n < 0 || n > 256 {
		return nil, fmt.Errorf("entropy lies between 1 and 256 source ports, found %d", n)
	}
	var out []uint16
	h := qp.QPN*2654435761 ^ qp.psn
	for i := range max(1, n) {
		p, err := qp.pd.dev.dev.Source(0xc000 | uint16(h+uint32(i)*7919)&0x3fff)
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
