package rc

import (
	"fmt"

	"railyard/roce"
	"railyard/unit"
)

// MaxMessage is the largest message of the transport, 2 GiB (IBTA 9.7.1).
const MaxMessage = 1 << 31

// Write posts an RDMA WRITE of length bytes to the remote address va.
func (q *QP) Write(id uint64, va uint64, rkey uint32, length int64) error {
	if q.state != ReadyToSend {
		return fmt.Errorf("%w: posting in %v", ErrState, q.state)
	}
	if length < 0 || length > MaxMessage {
		return fmt.Errorf("message of %d bytes: at most %d fit one work request", length, int64(MaxMessage))
	}
	packets := max(1, (length+int64(q.cfg.MTU)-1)/int64(q.cfg.MTU))
	q.wrs = append(q.wrs, wr{id: id, first: q.end, end: q.end + uint64(packets), va: va, len: uint32(length), rkey: rkey})
	q.end += uint64(packets)
	return nil
}

// Pending reports whether a packet could be sent now, windows of congestion
// control aside.
func (q *QP) Pending() bool {
	if q.sack.recovering {
		return q.sack.at < q.sack.until || q.mayAdvance()
	}
	return q.mayAdvance()
}

// mayAdvance reports whether a new packet is posted and fits the window: half
// the sequence space, or what a selective responder keeps.
func (q *QP) mayAdvance() bool {
	limit := uint64(1 << 23)
	if q.cfg.Recovery == Selective {
		limit = uint64(q.cfg.Window)
	}
	return q.next < q.end && q.next-q.una < limit
}

// InFlightBytes returns what is sent and not acknowledged, counting full
// packets.
func (q *QP) InFlightBytes() unit.Bytes {
	return unit.Bytes(q.next-q.una) * unit.Bytes(q.cfg.MTU)
}

// Next produces the next packet to send; ok is false when nothing may be sent.
func (q *QP) Next(now unit.Time, p *Packet) (ok bool) {
	if q.sack.recovering && q.nextLost(p) {
		return true
	}
	if !q.mayAdvance() {
		return false
	}
	if q.una == q.high { // nothing was outstanding: the timer starts here
		q.progressAt = now
	}
	w := &q.wrs[q.cur]
	q.build(p, w, q.next)
	q.next++
	if q.next == w.end {
		q.cur++
	}
	if q.next > q.high {
		q.high = q.next
	} else {
		p.Again = true
		q.Retransmitted++
	}
	return true
}

// build fills p with the packet of sequence number s of request w: which part
// of the message it is follows from its place alone.
func (q *QP) build(p *Packet, w *wr, s uint64) {
	i := int64(s - w.first)
	mtu := int64(q.cfg.MTU)
	left := int64(w.len) - i*mtu
	first, last := i == 0, s+1 == w.end
	*p = Packet{PSN: uint32(s) & roce.PSNMask, Payload: int32(min(left, mtu)),
		AckReq: last || uint64(q.cfg.AckEvery) == 1 || (s+1)%uint64(q.cfg.AckEvery) == 0}
	switch {
	case q.cfg.WriteOnly:
		// The last packet carries an immediate, so the receiver learns that
		// the message ended; every packet names its own range.
		p.Op = roce.WriteOnly
		if last {
			p.Op = roce.WriteOnlyImm
		}
		p.VA, p.RKey, p.Len = w.va+uint64(i*mtu), w.rkey, uint32(p.Payload)
	case first && last:
		p.Op = roce.WriteOnly
		p.VA, p.RKey, p.Len = w.va, w.rkey, w.len
	case first:
		p.Op = roce.WriteFirst
		p.VA, p.RKey, p.Len = w.va, w.rkey, w.len
	case last:
		p.Op = roce.WriteLast
	default:
		p.Op = roce.WriteMiddle
	}
}

// locate returns the index of the request that holds sequence number s.
func (q *QP) locate(s uint64) int {
	for i := range q.wrs {
		if s < q.wrs[i].end {
			return i
		}
	}
	return len(q.wrs)
}

// Acknowledged takes an ACK or NAK and returns how many packets it newly
// acknowledged. Completions are then ready in PopCompletion.
func (q *QP) Acknowledged(now unit.Time, p *Packet) (packets uint64) {
	if q.state != ReadyToSend {
		return 0
	}
	s := roce.Extend(p.PSN, q.una)
	nak := p.Syndrome.IsNak()
	cum := s + 1 // an ACK covers its PSN, a NAK everything before it
	if nak {
		cum = s
	}
	if cum > q.high || cum < q.una && !nak {
		return 0 // a ghost, or old news
	}
	if cum > q.una {
		packets = cum - q.una
		q.advance(now, cum)
	}
	if !nak {
		return packets
	}
	switch p.Syndrome {
	case roce.NakSequence:
		if cum == q.una && q.una < q.high {
			q.retries = 0
			if q.cfg.Recovery == Selective {
				q.sackNak(roce.Extend(p.MSN, q.una))
			} else {
				q.goBack(now)
			}
		}
	case roce.NakRemoteAccess:
		q.fail(RemoteAccessError)
	default:
		q.fail(RemoteInvalidRequest)
	}
	return packets
}

// advance moves una to cum and completes the requests that end there.
func (q *QP) advance(now unit.Time, cum uint64) {
	old := q.una
	q.una, q.progressAt, q.retries = cum, now, 0
	n := 0
	for n < len(q.wrs) && q.wrs[n].end <= cum {
		q.done = append(q.done, Completion{q.wrs[n].id, Success})
		n++
	}
	if n > 0 {
		q.wrs = q.wrs[:copy(q.wrs, q.wrs[n:])]
		q.cur = max(0, q.cur-n)
	}
	if q.next < cum {
		q.next = cum
		q.cur = q.locate(cum)
	}
	q.sackAdvance(old, cum)
}

// goBack restarts from the oldest unacknowledged packet.
func (q *QP) goBack(now unit.Time) {
	q.next, q.progressAt = q.una, now
	q.cur = q.locate(q.una)
}

// TimeoutAt returns when Timeout is due, unit.Never when nothing is in flight.
func (q *QP) TimeoutAt() unit.Time {
	if q.una >= q.high || q.cfg.Timeout == 0 || q.state != ReadyToSend {
		return unit.Never
	}
	return q.progressAt + q.cfg.Timeout
}

// Timeout handles the local ACK timeout: resend from the oldest unacknowledged
// packet, or fail once the retry count is used up (IBTA 9.9.2.1.1). It returns
// false when the timeout was not due.
func (q *QP) Timeout(now unit.Time) bool {
	if now < q.TimeoutAt() {
		return false
	}
	if q.retries >= q.cfg.Retries {
		q.fail(RetryExceeded)
		return true
	}
	q.retries++
	if q.cfg.Recovery == Selective {
		q.sackTimeout()
		q.progressAt = now
	} else {
		q.goBack(now)
	}
	return true
}
