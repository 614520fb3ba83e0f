package verbs

import (
	"errors"
	"fmt"

	"railyard/rc"
	"railyard/rcudp"
)

// Opcode is the operation of a send request.
type Opcode = rc.Verb

// Opcodes of send requests.
const (
	Write        = rc.Write
	WriteWithImm = rc.WriteImm
	Send         = rc.Send
	SendWithImm  = rc.SendImm
	SendWithInv  = rc.SendInv
	Read         = rc.Read
	CmpSwap      = rc.CompareSwap
	FetchAdd     = rc.FetchAdd
)

// SendWR is a request of the send queue.
type SendWR struct {
	WRID       uint64
	Opcode     Opcode
	SGList     []SGE // WRITE, SEND: gathered; READ, atomics: destination of the answer
	RemoteAddr uint64
	RKey       uint32
	ImmData    uint32 // or the rkey to invalidate
	CompareAdd uint64 // FETCH_ADD: the addend; CMP_SWAP: the value to compare with
	Swap       uint64
	Signaled   bool
	Solicited  bool
	Fence      bool
}

// RecvWR is a request of the receive queue.
type RecvWR struct {
	WRID   uint64
	SGList []SGE
}

// Errors of posting.
var (
	ErrQueueFull = errors.New("work queue is full")
	ErrTooLong   = errors.New("message is longer than 2 GiB")
	ErrDestroyed = errors.New("the queue pair is destroyed")
	ErrClosed    = errors.New("the device is closed")
)

// readPiece is the longest READ on the wire, if the receive buffer has room for it.
const readPiece = 256 << 10

// PostSend appends a request to the send queue.
func (qp *QP) PostSend(wr *SendWR) error {
	var err error
	qp.do(func(*rcudp.Endpoint) { err = qp.postSend(wr) })
	if err != nil {
		return fmt.Errorf("posting %v on queue pair %#x: %w", wr.Opcode, qp.QPN, err)
	}
	return nil
}

func (qp *QP) postSend(wr *SendWR) error {
	if err := qp.alive(); err != nil {
		return err
	}
	if len(qp.sends) >= qp.init.MaxSendWR {
		return ErrQueueFull
	}
	into := wr.Opcode == Read || wr.Opcode == CmpSwap || wr.Opcode == FetchAdd
	parts, total, mine, err := qp.resolve(wr.SGList, into)
	if err != nil {
		return err
	}
	if qp.conn.QP.State() == Err { // IBTA 10.3.1.7: accepted, and flushed
		qp.push(qp.init.SendCQ, WC{WRID: wr.WRID, Status: StatusWRFlushErr, Opcode: opcodeOf[wr.Opcode],
			QP: qp}, false)
		return nil
	}
	s := sent{wr: *wr, parts: 1, bytes: total}
	s.wr.SGList = nil
	r := rc.Request{Verb: wr.Opcode, VA: wr.RemoteAddr, RKey: wr.RKey, Len: total, Imm: wr.ImmData,
		Solicited: wr.Solicited, Fence: wr.Fence}
	switch {
	case !mine: // the request fails in its turn
		r.Unprotected, r.Len = true, 0
		if wr.Opcode == CmpSwap || wr.Opcode == FetchAdd {
			r.Len = 8
		}
	case len(parts) == 0:
		r.Data = []byte{}
	case len(parts) == 1:
		r.Data = parts[0]
	default: // gathered now; scattered when the answer is complete
		r.Data = make([]byte, total)
		if into {
			s.scatter, s.bounce = parts, r.Data
		} else {
			at := 0
			for _, p := range parts {
				at += copy(r.Data[at:], p)
			}
		}
	}
	switch wr.Opcode {
	case CmpSwap:
		r.SwapAdd, r.Compare = wr.Swap, wr.CompareAdd
	case FetchAdd:
		r.SwapAdd = wr.CompareAdd
	case Read:
		if mine && total > int64(qp.piece) {
			return qp.postPieces(r, s)
		}
	}
	// First, because a request may fail, and complete, while it is posted.
	qp.sends = append(qp.sends, s)
	if err := qp.conn.Post(&r); err != nil {
		qp.sends = qp.sends[:len(qp.sends)-1]
		return err
	}
	return nil
}

// postPieces posts a long READ as several.
func (qp *QP) postPieces(r rc.Request, s sent) error {
	s.parts = 0
	data, va := r.Data, r.VA
	for len(data) > 0 {
		n := min(len(data), qp.piece)
		r.Data, r.Len, r.VA = data[:n], int64(n), va
		if err := qp.conn.Post(&r); err != nil {
			return err // only the first piece can fail, because the state does not change between pieces
		}
		data, va = data[n:], va+uint64(n)
		r.Fence, r.Continues = false, true
		s.parts++
	}
	qp.sends = append(qp.sends, s)
	return nil
}

// resolve finds the bytes of a list; ok is false when a key or range is wrong.
func (qp *QP) resolve(list []SGE, write bool) (parts [][]byte, total int64, ok bool, err error) {
	if len(list) > qp.init.MaxSGE {
		return nil, 0, false, fmt.Errorf("%d scatter/gather elements, at most %d", len(list), qp.init.MaxSGE)
	}
	ok = true
	for _, e := range list {
		if total += int64(e.Length); total > rc.MaxMessage {
			return nil, 0, false, ErrTooLong
		}
		b, mine := qp.pd.slice(e, write)
		ok = ok && mine
		parts = append(parts, b)
	}
	return parts, total, ok, nil
}

// PostRecv appends a request to the receive queue.
func (qp *QP) PostRecv(wr *RecvWR) error {
	var err error
	qp.do(func(*rcudp.Endpoint) { err = qp.postRecv(wr) })
	if err != nil {
		return fmt.Errorf("posting a receive on queue pair %#x: %w", qp.QPN, err)
	}
	return nil
}

func (qp *QP) postRecv(wr *RecvWR) error {
	if err := qp.alive(); err != nil {
		return err
	}
	if qp.recvs >= qp.init.MaxRecvWR {
		return ErrQueueFull
	}
	parts, _, mine, err := qp.resolve(wr.SGList, true)
	if err != nil {
		return err
	}
	if qp.conn.QP.State() == Err {
		qp.push(qp.init.RecvCQ, WC{WRID: wr.WRID, Status: StatusWRFlushErr, Opcode: WCRecv, QP: qp}, false)
		return nil
	}
	if err := qp.conn.PostReceive(rc.Receive{ID: wr.WRID, Data: parts, Unprotected: !mine}); err != nil {
		return err
	}
	qp.recvs++
	return nil
}

// opcodeOf names a finished send request.
var opcodeOf = map[Opcode]WCOpcode{Write: WCRDMAWrite, WriteWithImm: WCRDMAWrite, Send: WCSend,
	SendWithImm: WCSend, SendWithInv: WCSend,
	Read: WCRDMARead, CmpSwap: WCCompSwap, FetchAdd: WCFetchAdd}

// completed takes a finished send request; the device is locked. The pieces of a long READ count as one: the first
// failure decides.
func (qp *QP) completed(c rc.Completion) {
	s := &qp.sends[0]
	s.parts--
	if s.status == StatusSuccess {
		s.status = statusOf[c.Status]
	}
	if s.parts > 0 {
		return
	}
	for at, i := 0, 0; i < len(s.scatter) && s.status == StatusSuccess; i++ {
		at += copy(s.scatter[i], s.bounce[at:])
	}
	w := WC{WRID: s.wr.WRID, Status: s.status, Opcode: opcodeOf[s.wr.Opcode], ByteLen: s.bytes, QP: qp}
	tell := s.wr.Signaled || qp.init.SignalAll || s.status != StatusSuccess
	rest := copy(qp.sends, qp.sends[1:])
	qp.sends[rest] = sent{}
	qp.sends = qp.sends[:rest]
	if tell {
		qp.push(qp.init.SendCQ, w, false)
	}
	qp.drained()
}

// received takes a finished receive; the device is locked.
func (qp *QP) received(r rc.Received) {
	qp.recvs--
	qp.told = qp.told || r.Status != rc.Success && r.Status != rc.Flushed
	w := WC{WRID: r.ID, Status: statusOf[r.Status], Opcode: WCRecv, ByteLen: r.Len, ImmData: r.Imm,
		HasImm: r.HasImm, InvRKey: r.InvKey, HasInv: r.HasInv, QP: qp}
	if r.Write {
		w.Opcode = WCRecvRDMAWithImm
	}
	qp.push(qp.init.RecvCQ, w, r.Solicited)
}

// push delivers a completion and detects a queue pair that died of it.
func (qp *QP) push(cq *CQ, w WC, solicited bool) {
	if !cq.push(w, solicited) && qp.conn.QP.State() != Err {
		_ = qp.conn.QP.Modify(Err, 0) // its flushed requests complete in the other queue, if there is one
		qp.pd.dev.event(AsyncEvent{Type: EventQPFatal, QP: qp})
	}
}
