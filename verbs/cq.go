package verbs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"railyard/rc"
)

// Status is the outcome of a work request. The names are libibverbs'.
type Status int

// Completion statuses (IBTA 11.6.2).
const (
	StatusSuccess Status = iota
	StatusLocLenErr
	StatusLocQPOpErr
	StatusLocEECOpErr
	StatusLocProtErr
	StatusWRFlushErr
	StatusMWBindErr
	StatusBadRespErr
	StatusLocAccessErr
	StatusRemInvReqErr
	StatusRemAccessErr
	StatusRemOpErr
	StatusRetryExcErr
	StatusRNRRetryExcErr
)

var statusNames = [...]string{"SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR",
	"WR_FLUSH_ERR", "MW_BIND_ERR",
	"BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR", "RETRY_EXC_ERR",
	"RNR_RETRY_EXC_ERR"}

func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("status %d", int(s))
	}
	return "IBV_WC_" + statusNames[s]
}

var statusOf = map[rc.Status]Status{rc.Success: StatusSuccess, rc.LocalLengthError: StatusLocLenErr,
	rc.LocalProtectionError: StatusLocProtErr, rc.BadResponse: StatusBadRespErr,
	rc.Flushed: StatusWRFlushErr, rc.RemoteInvalidRequest: StatusRemInvReqErr,
	rc.RemoteAccessError:    StatusRemAccessErr,
	rc.RemoteOperationError: StatusRemOpErr, rc.RetryExceeded: StatusRetryExcErr,
	rc.RNRRetryExceeded: StatusRNRRetryExcErr}

// WCOpcode is the kind of a completed operation.
type WCOpcode int

// Completion opcodes.
const (
	WCSend WCOpcode = iota
	WCRDMAWrite
	WCRDMARead
	WCCompSwap
	WCFetchAdd
	WCRecv
	WCRecvRDMAWithImm
)

func (o WCOpcode) String() string {
	names := [...]string{"SEND", "RDMA_WRITE", "RDMA_READ", "COMP_SWAP", "FETCH_ADD", "RECV", "RECV_RDMA_WITH_IMM"}
	if o < 0 || int(o) >= len(names) {
		return fmt.Sprintf("opcode %d", int(o))
	}
	return names[o]
}

// WC is a work completion.
type WC struct {
	WRID    uint64
	Status  Status
	Opcode  WCOpcode
	ByteLen int64
	ImmData uint32
	HasImm  bool
	InvRKey uint32 // by a SEND with invalidate
	HasInv  bool
	QP      *QP
}

// ErrCQOverrun is returned by Poll once completions were lost in a full queue; the affected queue pairs are in ERR.
var ErrCQOverrun = errors.New("completion queue overran")

// CQ is a completion queue.
type CQ struct {
	dev     *Device
	channel *CompChannel
	waiting atomic.Int64 // completions in the ring

	mu      sync.Mutex
	ring    []WC
	head    int
	n       int
	armed   armed
	overran bool
	bell    chan struct{}
}

type armed uint8

const (
	notArmed armed = iota
	armedSolicited
	armedAny
)

// CompChannel delivers completion events.
type CompChannel struct{ c chan *CQ }

// CreateCompChannel returns a channel for the events of completion queues.
func (d *Device) CreateCompChannel() *CompChannel { return &CompChannel{make(chan *CQ, 1024)} }

// Get waits for an event: a completion queue that was armed got a completion.
func (ch *CompChannel) Get(ctx context.Context) (*CQ, error) {
	select {
	case cq := <-ch.c:
		return cq, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// MaxCQ is the largest completion queue.
const MaxCQ = 1 << 20

// CreateCQ returns a queue for depth completions. channel may be nil.
func (d *Device) CreateCQ(depth int, channel *CompChannel) (*CQ, error) {
	if depth < 1 || depth > MaxCQ {
		return nil, fmt.Errorf("a completion queue has 1 to %d entries, found %d", MaxCQ, depth)
	}
	return &CQ{dev: d, channel: channel, ring: make([]WC, depth), bell: make(chan struct{}, 1)}, nil
}

// Poll takes up to len(wc) completions.
func (cq *CQ) Poll(wc []WC) (n int, err error) {
	if cq.waiting.Load() == 0 {
		return 0, nil
	}
	cq.mu.Lock()
	defer cq.mu.Unlock()
	if cq.overran && cq.n == 0 {
		return 0, ErrCQOverrun
	}
	for n < len(wc) && cq.n > 0 {
		wc[n] = cq.ring[cq.head]
		cq.ring[cq.head] = WC{}
		cq.head = (cq.head + 1) % len(cq.ring)
		cq.n--
		n++
	}
	if !cq.overran {
		cq.waiting.Add(int64(-n))
	}
	return n, nil
}

// ReqNotify arms the queue: the next completion (the next solicited or failed one) sends an event to its channel.
func (cq *CQ) ReqNotify(solicitedOnly bool) {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	if cq.armed = armedAny; solicitedOnly {
		cq.armed = armedSolicited
	}
}

// Wait polls and, if there is no completion, sleeps until there is one or the context ends. It combines Poll,
// ReqNotify and Get, for one caller at a time.
func (cq *CQ) Wait(ctx context.Context, wc []WC) (n int, err error) {
	for {
		if n, err = cq.Poll(wc); n > 0 || err != nil {
			return n, err
		}
		select {
		case <-cq.bell:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-cq.dev.closed:
			return 0, ErrClosed
		}
	}
}

// push adds a completion; the device is locked. It returns false on overflow.
func (cq *CQ) push(w WC, solicited bool) bool {
	cq.mu.Lock()
	defer cq.mu.Unlock()
	ok := cq.n < len(cq.ring)
	if ok {
		cq.ring[(cq.head+cq.n)%len(cq.ring)] = w
		cq.n++
	} else if !cq.overran {
		cq.overran = true
		cq.dev.event(AsyncEvent{Type: EventCQError, CQ: cq})
	}
	cq.waiting.Add(1)
	select {
	case cq.bell <- struct{}{}:
	default:
	}
	if cq.channel != nil && (cq.armed == armedAny || cq.armed == armedSolicited &&
		(solicited || w.Status != StatusSuccess)) {
		select {
		case cq.channel.c <- cq:
			cq.armed = notArmed
		default: // a thousand events wait: the next completion tries again
		}
	}
	return ok
}
