package cc

import "railyard/unit"

// clock measures one sender's round trips, for both drivers alike: from the first bit of a packet
// that asks for an acknowledgement leaving to the acknowledgement of that very packet being taken. The
// responder answers such a packet at once, so no wait of acknowledgements for one another is in it; a
// NIC's own time at the far end is, because RoCEv2 carries no time stamps that would tell it apart.
//
// Nothing is measured of a packet that went again, nor of those that were under way when one did
// (Karn): their acknowledgements may be those of another copy, or may have waited for what was missing.
// Where answers name their packets, none waits, and only packets that went again are left out.
type clock struct {
	asked []question // a ring
	head  int
	n     int
	last  uint32 // the last packet that asked,
	owed  bool   // and whether its acknowledgement, or that of one behind it, is still to come
	mute  int    // packets since that did not ask
	named bool   // answers name the packet that they are about
	ack   Ack    // the one that is told
}

// question is a packet that asked for an acknowledgement.
type question struct {
	psn uint32
	at  unit.Time
}

// mostAsked bounds the packets that are timed at once; of more under way some give no time. The ring
// grows to what a sender's window has needed, so that there is no allocation per packet.
const mostAsked = 4096

// behind reports that PSN a comes before b, of 24 bits each (IBTA 9.7.2).
func behind(a, b uint32) bool { return int32((a-b)<<8) < 0 }

// launched notes a packet that leaves now.
func (k *clock) launched(now unit.Time, psn uint32, asks, again bool) {
	if again && k.named {
		k.forget(psn)
	} else if again {
		k.n = 0
	}
	if again {
		if !behind(k.last, psn) {
			k.owed = false // of those that asked the responder may have thrown all away
		}
	}
	if !asks {
		k.mute++
		return
	}
	k.last, k.owed, k.mute = psn, true, 0
	if again {
		return
	}
	if k.n == len(k.asked) {
		if k.n == mostAsked {
			return
		}
		k.grow()
	}
	k.asked[(k.head+k.n)&(len(k.asked)-1)] = question{psn, now}
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

// answered takes note that everything before una is acknowledged, and returns the round trip of
// the packet psn: zero when it was not timed.
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
		if q := k.find(psn); q != nil {
			rtt = k.since(now, *q)
		}
	}
	return rtt
}

// wentAgain is the time of a packet that went once more.
const wentAgain = unit.Never

func (k *clock) since(now unit.Time, q question) unit.Time {
	if q.at == wentAgain {
		return 0
	}
	return now - q.at
}

// find returns the question of a packet that has not been acknowledged in order; nil: it did not ask.
func (k *clock) find(psn uint32) *question {
	lo, hi := 0, k.n
	for lo < hi {
		mid := (lo + hi) / 2
		switch q := &k.asked[(k.head+mid)&(len(k.asked)-1)]; {
		case q.psn == psn:
			return q
		case behind(q.psn, psn):
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil
}

// forget leaves out a packet that goes again.
func (k *clock) forget(psn uint32) {
	if q := k.find(psn); q != nil {
		q.at = wentAgain
	}
}
