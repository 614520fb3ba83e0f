package rc

import (
	"fmt"

	"railyard/roce"
)

// MaxMessage is the largest message of the transport, 2 GiB (IBTA 9.7.1).
const MaxMessage = 1 << 31

// maxReadPackets is the maximum number of responses of one READ. It keeps the sequence numbers of a READ well below
// half of the space.
const maxReadPackets = 1 << 22

// Verb is the operation of a work request.
type Verb uint8

// Verbs. From Read on the responder answers with data.
const (
	Write Verb = iota
	WriteImm
	Send
	SendImm
	SendInv // SEND that invalidates an rkey of the peer
	Read
	CompareSwap
	FetchAdd
)

var verbNames = [...]string{"WRITE", "WRITE with immediate", "SEND", "SEND with immediate",
	"SEND with invalidate", "READ", "CMP_SWAP", "FETCH_ADD"}

func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return fmt.Sprintf("verb %d", uint8(v))
}

// answered reports a verb whose answer carries data: READ and the atomics.
func (v Verb) answered() bool { return v >= Read }

// opcodes of the packets of a message: the only one, or first, middle, last.
var opcodes = [...]struct{ only, first, middle, last roce.Opcode }{
	Write:       {roce.WriteOnly, roce.WriteFirst, roce.WriteMiddle, roce.WriteLast},
	WriteImm:    {roce.WriteOnlyImm, roce.WriteFirst, roce.WriteMiddle, roce.WriteLastImm},
	Send:        {roce.SendOnly, roce.SendFirst, roce.SendMiddle, roce.SendLast},
	SendImm:     {roce.SendOnlyImm, roce.SendFirst, roce.SendMiddle, roce.SendLastImm},
	SendInv:     {roce.SendOnlyInv, roce.SendFirst, roce.SendMiddle, roce.SendLastInv},
	Read:        {only: roce.ReadRequest},
	CompareSwap: {only: roce.CompareSwap},
	FetchAdd:    {only: roce.FetchAdd},
}

// Request is a work request of the send queue.
type Request struct {
	VA   uint64 // remote address: WRITE, READ, atomics
	Len  int64  // bytes of the message; atomics have 8
	RKey uint32 // remote key: WRITE, READ, atomics
	Verb Verb
	// Solicited raises a solicited event at the peer; Fence delays the request until earlier READs and atomics are
	// complete.
	Solicited, Fence bool
	// Unprotected marks a local buffer without access rights: the request fails with LocalProtectionError in its turn.
	Unprotected bool
	ID          uint64
	// Data is the local buffer: the source of WRITE and SEND, the destination of READ and atomic answers. It is nil
	// in the simulator, which moves no bytes; otherwise it has Len bytes.
	Data []byte
	Imm  uint32 // immediate data, or the rkey to invalidate
	// Continues marks a further part of the previous request's message: a draining queue pair finishes all parts.
	Continues bool
	SwapAdd   uint64 // atomics: what to add, or to swap in
	Compare   uint64 // CMP_SWAP
}

// wr is a posted work request whose packets have the PSNs [first, end). It fills two cache lines, so that build reads
// only the first.
type wr struct {
	first, end uint64
	Request
	_ [32]byte
}

// Write posts an RDMA WRITE of length bytes to the remote address va.
func (q *QP) Write(id uint64, va uint64, rkey uint32, length int64) error {
	return q.Post(&Request{ID: id, VA: va, RKey: rkey, Len: length})
}

// Post appends a work request to the send queue.
func (q *QP) Post(r *Request) error {
	if q.state != ReadyToSend && q.state != SendQueueDrain {
		return fmt.Errorf("%w: posting in %v", ErrState, q.state)
	}
	switch {
	case int(r.Verb) >= len(opcodes):
		return fmt.Errorf("unknown %v", r.Verb)
	case r.Len < 0 || r.Len > MaxMessage:
		return fmt.Errorf("message of %d bytes: at most %d fit one work request", r.Len, int64(MaxMessage))
	case r.Data != nil && int64(len(r.Data)) != r.Len:
		return fmt.Errorf("message of %d bytes with a buffer of %d", r.Len, len(r.Data))
	case r.Verb > Read && r.Len != 8:
		return fmt.Errorf("%v works on 8 bytes, found %d", r.Verb, r.Len)
	case r.Verb > Read && r.VA%8 != 0:
		return fmt.Errorf("%v needs an address divisible by 8, found %#x", r.Verb, r.VA)
	}
	n := q.packets(r.Len)
	if r.Verb.answered() {
		if q.cfg.Reads == 0 {
			return fmt.Errorf("%v posted on a queue pair whose read depth is 0", r.Verb)
		}
		if n > maxReadPackets {
			return fmt.Errorf("READ of %d packets: at most %d fit one work request", n, maxReadPackets)
		}
		q.special |= specialReads
	}
	if r.Fence || r.Unprotected {
		q.special |= specialReads
	}
	q.wrs = append(q.wrs, wr{first: q.end, end: q.end + n, Request: *r})
	q.end += n
	q.protect()
	return nil
}

// protect fails the connection when a request without a usable buffer is the
// oldest one: everything before it has ended.
func (q *QP) protect() {
	if len(q.wrs) > 0 && q.wrs[0].Unprotected {
		q.fail(LocalProtectionError)
	}
}

// packets returns the number of packets of a message of the given size; an empty message takes one.
func (q *QP) packets(length int64) uint64 {
	return uint64(max(1, (length+int64(q.cfg.MTU)-1)/int64(q.cfg.MTU)))
}

// build fills p with the packet of sequence number s of request w and returns the next sequence number. The
// packet's opcode follows from its place in the message. A READ uses the sequence numbers of its responses; a
// repeated READ starts at the first missing one.
func (q *QP) build(p *Packet, w *wr, s uint64) (after uint64) {
	i := int64(s - w.first)
	mtu := int64(q.cfg.MTU)
	left := w.Len - i*mtu
	first, last := i == 0, s+1 == w.end
	*p = Packet{PSN: uint32(s) & roce.PSNMask, Payload: int32(min(left, mtu)),
		AckReq: last || q.ackEvery == 1 || (s+1)%uint64(q.ackEvery) == 0}
	ops := &opcodes[w.Verb]
	switch {
	case w.Verb.answered():
		*p = Packet{Opcode: ops.only, PSN: p.PSN, AckReq: true, VA: w.VA + uint64(i*mtu), RKey: w.RKey,
			Len:     uint32(left),
			SwapAdd: w.SwapAdd, Compare: w.Compare}
		return w.end
	case q.cfg.WriteOnly && w.Verb <= WriteImm:
		// Every packet carries its own range. Only the last has the immediate; the solicited bit, otherwise unused,
		// marks all packets but the last.
		p.Opcode = roce.WriteOnly
		if last {
			p.Opcode = ops.only
		}
		p.Solicited = !last && w.Verb == WriteImm
		p.VA, p.RKey, p.Len = w.VA+uint64(i*mtu), w.RKey, uint32(p.Payload)
	case first && last:
		p.Opcode = ops.only
		p.VA, p.RKey, p.Len = w.VA, w.RKey, uint32(w.Len)
	case first:
		p.Opcode = ops.first
		p.VA, p.RKey, p.Len = w.VA, w.RKey, uint32(w.Len)
	case last:
		p.Opcode = ops.last
	default:
		p.Opcode = ops.middle
	}
	if last {
		p.Imm, p.Solicited = w.Imm, w.Solicited
	}
	if w.Data != nil {
		p.Data = w.Data[i*mtu:][:p.Payload]
	}
	return s + 1
}
