package cc

import "railyard/unit"

// clock measures one sender's round trips for both drivers. A round trip starts with the first bit of a packet that
// requests an acknowledgement, and ends when that acknowledgement is processed. The responder answers such a packet
// immediately, so the time contains no coalescing of acknowledgements. It includes the far NIC's processing time,
// because RoCEv2 has no time stamps to separate it.
//
// Retransmitted packets, and packets in flight at a retransmission, are not measured (Karn). Their acknowledgements
// may belong to another copy, or may have been delayed by the missing packet. Where answers name their packets,
// none waits, and only retransmitted packets are ignored. All others are measured: a marked packet is answered
// though it requested nothing. The first retransmission of a trimmed packet is measured, because no other copy of it
// can arrive (uet-htsim: processAck and validateSendTs of uec.cpp).
type clock struct {
	asked []question // a ring
	head  int
	n     int
	last  uint32 // PSN of the last packet that requested an acknowledgement
	owed  bool   // the acknowledgement of packet last, or of a later one, is outstanding
	mute  int    // packets since last without a request
	named bool   // answers name the packet that they are about
	ack   Ack    // the value passed to the controller
}

// question is a packet that requested an acknowledgement, or may be answered without.
type question struct {
	psn     uint32
	trimmed bool // not retransmitted since
	again   bool // at is the time of the first retransmission
	at      unit.Time
}

// mostAsked is the maximum number of packets that are timed at a time; further packets in flight are not timed. The
// ring grows to the sender's largest window, so that no packet causes an allocation.
const mostAsked = 4096

// behind reports that PSN a comes before b, of 24 bits each (IBTA 9.7.2).
func behind(a, b uint32) bool { return int32((a-b)<<8) < 0 }

// launched notes a packet that leaves now.
func (k *clock) launched(now unit.Time, psn uint32, asks, again bool) {
	if again && k.named {
		k.again(now, psn)
	} else if again {
		k.n = 0
	}
	if again {
		if !behind(k.last, psn) {
			k.owed = false // the responder may have discarded all packets that requested an acknowledgement
		}
	}
	if k.mute++; asks {
		k.last, k.owed, k.mute = psn, true, 0
	}
	if !again && (asks || k.named) {
		k.insert(k.n, question{psn: psn, at: now})
	}
}

// insert makes a question the ith of the ring, unless mostAsked packets are timed.
func (k *clock) insert(i int, q question) {
	if k.n == len(k.asked) {
		if k.n == mostAsked {
			return
		}
		k.grow()
	}
	mask := len(k.asked) - 1
	for j := k.n; j > i; j-- {
		k.asked[(k.head+j)&mask] = k.asked[(k.head+j-1)&mask]
	}
	k.asked[(k.head+i)&mask] = q
	k.n++
}

// grow doubles the ring.
func (k *clock) grow() {
	ring := make([]question, max(16, 2*len(k.asked)))
	for i := range k.n {
		ring[i] = k.asked[(k.head+i)&(len(k.asked)-1)]
	}
	k.asked, k.head = ring, 0
}

// answered records that everything before una is acknowledged. It returns the round trip of packet psn, zero if it
// was not measured.
func (k *clock) answered(now unit.Time, una, psn uint32) (rtt unit.Time) {
	if behind(k.last, una) {
		k.owed = false
	}
	for k.n > 0 {
		q := k.asked[k.head]
		if !behind(q.psn, una) {
			break
		}
		if q.psn == psn {
			rtt = k.since(now, q)
		}
		k.head = (k.head + 1) & (len(k.asked) - 1)
		k.n--
	}
	if k.named && behind(una, psn) {
		if q, _ := k.find(psn); q != nil {
			rtt = k.since(now, *q)
		}
	}
	return rtt
}

// wentAgain replaces the send time of a retransmitted packet, whose acknowledgement may belong to another copy.
const wentAgain = unit.Never

func (k *clock) since(now unit.Time, q question) unit.Time {
	if q.at == wentAgain {
		return 0
	}
	return now - q.at
}

// find returns the question of a packet that has not been acknowledged in order, and its place in the ring. If the
// packet requested no acknowledgement, it returns nil and the place for one.
func (k *clock) find(psn uint32) (*question, int) {
	lo, hi := 0, k.n
	for lo < hi {
		mid := (lo + hi) / 2
		switch q := &k.asked[(k.head+mid)&(len(k.asked)-1)]; {
		case q.psn == psn:
			return q, mid
		case behind(q.psn, psn):
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil, lo
}

// trimmed notes that a switch trimmed the copy of a packet that is in flight.
func (k *clock) trimmed(psn uint32) {
	if !k.named {
		return
	}
	if q, i := k.find(psn); q == nil {
		k.insert(i, question{psn: psn, trimmed: true, at: wentAgain})
	} else {
		q.trimmed = true
	}
}

// again notes that a packet is retransmitted.
func (k *clock) again(now unit.Time, psn uint32) {
	q, i := k.find(psn)
	if q == nil {
		k.insert(i, question{psn: psn, again: true, at: wentAgain})
		return
	}
	first := q.trimmed && !q.again
	q.trimmed, q.again = false, true
	if q.at = wentAgain; first {
		q.at = now
	}
}
