package cc

import "railyard/unit"

// clock measures one sender's round trips, for both drivers alike: from the first bit of a packet
// that asks for an acknowledgement leaving to the acknowledgement of that very packet being taken. The
// responder answers such a packet at once, so no wait of acknowledgements for one another is in it; a
// NIC's own time at the far end is, because RoCEv2 carries no time stamps that would tell it apart.
//
// Nothing is measured of a packet that went again, nor of those that were under way when one did
// (Karn): their acknowledgements may be those of another copy, or may have waited for what was missing.
type clock struct {
	asked []question // a ring
	head  int
	n     int
	last  uint32 // the last packet that asked,
	owed  bool   // and whether its acknowledgement, or that of one behind it, is still to come
	mute  int    // packets since that did not ask
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
	if again {
		k.n = 0
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
			rtt = now - q.at
		}
		k.head = (k.head + 1) & (len(k.asked) - 1)
		k.n--
	}
	return rtt
}
