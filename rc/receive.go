package rc

import (
	"fmt"

	"railyard/roce"
)

// Receive is a posted receive: the buffer of the next SEND.
type Receive struct {
	ID   uint64
	Data [][]byte // filled in turn; a message longer than all of it costs the connection
	// Unprotected buffers are not the caller's to use: the SEND that would fill
	// them ends the connection with LocalProtectionError.
	Unprotected bool
}

// Received is a finished receive.
type Received struct {
	ID        uint64
	Status    Status
	Len       int64 // payload of the SEND, or of the WRITE with immediate
	Imm       uint32
	HasImm    bool
	Write     bool   // completed by WRITE with immediate: no bytes in the receive itself
	InvKey    uint32 // the rkey that the peer invalidated
	HasInv    bool
	Solicited bool
}

// PostReceive appends a buffer to the receive queue.
func (q *QP) PostReceive(r Receive) error {
	if q.state == Reset || q.state == Error {
		return fmt.Errorf("%w: posting a receive in %v", ErrState, q.state)
	}
	q.receives = append(q.receives, r)
	return nil
}

// PopReceived takes the oldest finished receive.
func (q *QP) PopReceived() (Received, bool) {
	if len(q.received) == 0 {
		return Received{}, false
	}
	r := q.received[0]
	q.received = q.received[:copy(q.received, q.received[1:])]
	return r, true
}

// needsReceive reports whether p consumes a receive: the start of a SEND, and
// the end of a WRITE with immediate.
func (q *QP) needsReceive(p *Packet) bool {
	if p.Opcode.IsSend() {
		return !q.inSend
	}
	return p.Opcode.HasImm()
}

// takeSend places one packet of a SEND, already checked, in its receive buffer.
func (q *QP) takeSend(p *Packet, is part) (bad roce.Syndrome) {
	if is&partStarts != 0 {
		q.sendAt = 0
	}
	q.inSend = is&partEnds == 0
	if q.cfg.AlwaysReady {
		return 0
	}
	if q.receives[0].Unprotected { // the responder's own fault: IBTA 9.7.5.2, remote operational error
		q.finishReceive(Received{Status: LocalProtectionError})
		return roce.NakRemoteOp
	}
	if !q.scatter(p) { // IBTA 9.7.4.1.7: the message does not fit
		q.finishReceive(Received{Status: LocalLengthError})
		return roce.NakInvalid
	}
	if p.Opcode.Ends() {
		r := Received{Len: int64(q.sendAt), Imm: p.Imm, HasImm: p.Opcode.HasImm(), Solicited: p.Solicited}
		if p.Opcode.HasIETH() {
			r.Imm, r.InvKey, r.HasInv = 0, p.Imm, true
			q.mem.Deregister(p.Imm)
		}
		q.finishReceive(r)
	}
	return 0
}

// scatter appends a packet's payload to the data already in the receive.
func (q *QP) scatter(p *Packet) bool {
	at, data := q.sendAt, p.Data
	q.sendAt += int(p.Payload)
	for _, b := range q.receives[0].Data {
		if at >= len(b) {
			at -= len(b)
			continue
		}
		n := copy(b[at:], data)
		if data, at = data[n:], 0; len(data) == 0 {
			break
		}
	}
	return len(data) == 0
}

// finishReceive completes the oldest receive.
func (q *QP) finishReceive(r Received) {
	r.ID = q.receives[0].ID
	rest := copy(q.receives, q.receives[1:])
	clear(q.receives[rest:])
	q.receives = q.receives[:rest]
	q.received = append(q.received, r)
}
