package rc

import "railyard/roce"

// part is the position of a request packet in its message, and the message's kind.
type part uint8

const (
	partSend part = 1 << iota
	partWrite
	partRead
	partAtomic
	partStarts
	partEnds
)

const partOnly = partStarts | partEnds

// parts lists the opcodes that a responder accepts; FLUSH, ATOMIC WRITE and responses are not among them.
var parts = [256]part{
	roce.SendFirst: partSend | partStarts, roce.SendMiddle: partSend,
	roce.SendLast: partSend | partEnds, roce.SendLastImm: partSend | partEnds,
	roce.SendLastInv: partSend | partEnds,
	roce.SendOnly:    partSend | partOnly, roce.SendOnlyImm: partSend | partOnly,
	roce.SendOnlyInv: partSend | partOnly,
	roce.WriteFirst:  partWrite | partStarts, roce.WriteMiddle: partWrite,
	roce.WriteLast: partWrite | partEnds, roce.WriteLastImm: partWrite | partEnds,
	roce.WriteOnly: partWrite | partOnly, roce.WriteOnlyImm: partWrite | partOnly,
	roce.ReadRequest: partRead | partOnly,
	roce.CompareSwap: partAtomic | partOnly, roce.FetchAdd: partAtomic | partOnly,
}

// check returns the rule that the next request packet in order violates, or nothing. It changes nothing except the
// region of a WRITE. The order is IBTA 9.7.4.1's: opcode sequence, opcode, rights of the queue pair, length, key. A
// missing receive is checked last: it is the only error that a later retry can cure.
func (q *QP) check(p *Packet) (is part, bad roce.Syndrome) {
	is = parts[p.Opcode]
	switch {
	case is == 0, is&partStarts != 0 && q.midMessage(),
		is&partStarts == 0 && !(is&partSend != 0 && q.inSend || is&partWrite != 0 && q.inWrite):
		return is, roce.NakInvalid
	case q.cfg.Deny != 0 && q.cfg.Deny&rights[is&^partOnly] != 0:
		return is, roce.NakInvalid // an operation that this queue pair does not support, of any length
	case is&(partRead|partAtomic) != 0:
		return is, 0 // these carry no payload; takeRead and takeAtomic check the rest
	case int(p.Payload) != q.cfg.MTU && is&partEnds == 0, int(p.Payload) > q.cfg.MTU,
		is&partOnly == partEnds && p.Payload == 0:
		return is, roce.NakInvalid // FIRST and MIDDLE are full, LAST is not empty
	case is&partWrite != 0:
		return is, q.checkWrite(p, is)
	case p.Opcode.HasIETH() && !q.mem.mayInvalidate(p.Imm):
		return is, roce.NakRemoteAccess
	}
	return is, 0
}

// goesAhead is a fast version of check for the most common packet: a full MIDDLE of a WRITE that has begun.
func (q *QP) goesAhead(p *Packet) bool {
	return q.inWrite && int(p.Payload) == q.cfg.MTU && int64(p.Payload) < q.msgLeft &&
		q.cfg.Deny == 0 && !q.region.dead
}

// rights are the accesses that a queue pair must allow for a kind of request.
var rights = [partStarts]Access{partWrite: RemoteWrite, partRead: RemoteRead, partAtomic: RemoteAtomic}

// checkWrite checks the range of a WRITE and that its packets match the announced length.
func (q *QP) checkWrite(p *Packet, is part) roce.Syndrome {
	left := q.msgLeft
	if is&partStarts != 0 {
		if left = int64(p.Len); left > MaxMessage { // IBTA 9.7.1
			return roce.NakInvalid
		}
	}
	if more := left - int64(p.Payload); is&partEnds != 0 && more != 0 || is&partEnds == 0 && more <= 0 {
		return roce.NakInvalid // more or less data than the RETH announced
	}
	if is&partStarts != 0 {
		q.region = nil
		if p.Len > 0 { // IBTA 9.7.4.1.5: an empty WRITE needs no key
			if q.region = q.mem.find(p.RKey, p.VA, p.Len, RemoteWrite); q.region == nil {
				return roce.NakRemoteAccess
			}
		}
	}
	if p.Payload > 0 && q.region.dead {
		return roce.NakRemoteAccess
	}
	return 0
}
