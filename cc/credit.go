package cc

import "railyard/unit"

// Credited is a Controller whose sender sends only what its receiver grants. The controller owns the account; the
// Pacer takes it when the sender begins.
type Credited interface {
	Credit() *Credit
}

// Credit is a sender's account with its receiver. All sums are bytes on the wire since the connection began, as an
// IPv4 network carries them, with preamble and gap. Totals only grow, so the next grant or request replaces a lost
// one. A packet may be sent while any credit is left.
//
// A sender requests credit for its data beyond the unsolicited part, but at most one window beyond what it has sent
// on credit. Credit in hand and outstanding is therefore bounded, and a sender that has disappeared holds little of
// its receiver's credit. The first grant voids the unsolicited part. Only what the outstanding credit lacks to the
// bytes of a round trip is kept, until the answer to the next request. Without this exception a sender that relied
// on the unsolicited part would stall. uet-htsim needs none, because its receivers also grant credit to idle
// senders ("slow pull"). A loss voids the unsolicited part.
type Credit struct {
	first  int64     // bytes that a burst may send before its first grant
	window int64     // maximum of credit in hand and outstanding
	trip   int64     // bytes sent in a round trip
	least  unit.Time // minimum time after the last request or grant before the request is repeated

	sent, granted int64
	free          int64 // sent, or to be sent, on no grant
	kept          int64 // maximum remainder of it that may still be sent
	asked         int64
	looked        int64     // bytes sent when Ask was last called
	at            unit.Time // time at which the outstanding credit is overdue
	wait          unit.Time
	heard         unit.Time // time of the last grant, or start of waiting for one
	late          bool      // at has come
	pulled        bool      // each arriving packet is granted another, so only overdue credit is requested

	since, held unit.Time // start of the current wait for credit, and the sum of earlier waits

	grants, requests, repeats int64
}

// The timeout before a repeated request doubles while nothing arrives, up to this factor.
const mostPatience = 64

// NewCredit returns an account. Its parameters are the bytes that a burst may send unsolicited, the maximum of
// credit in hand and outstanding, and the bytes of a round trip. A grant that does not arrive within patience
// counts as lost, unless grants are less frequent than that.
func NewCredit(first, window, trip unit.Bytes, patience unit.Time) Credit {
	return Credit{first: int64(first), window: int64(window), trip: int64(trip), least: patience, wait: patience,
		at: unit.Never, since: unit.Never}
}

// begin starts a burst when nothing is in flight or posted. The rest of the last burst's unsolicited part is void.
func (c *Credit) begin(now unit.Time) {
	c.free = c.sent - c.granted + c.first
	c.kept, c.heard, c.looked = c.first, now, c.sent
}

// Unasked returns the bytes that a burst may send without a grant.
func (c *Credit) Unasked() unit.Bytes { return unit.Bytes(c.first) }

// spent reports that nothing is left.
func (c *Credit) spent() bool { return c.sent >= c.free+c.granted }

// empties reports whether sending this many bytes uses up the credit.
func (c *Credit) empties(wire int64) bool { return c.sent+wire >= c.free+c.granted }

// charge subtracts sent bytes. It reports whether Ask should be called.
func (c *Credit) charge(wire int64) bool {
	c.sent += wire
	return !c.pulled && c.sent-c.looked >= c.window/4 || c.spent()
}

// void reduces the unsolicited part to keep.
func (c *Credit) void(keep int64) {
	left := c.gratis()
	c.kept = min(left, max(0, keep))
	c.free -= left - c.kept
}

// gratis returns the bytes that may still be sent unsolicited; granted bytes are used first.
func (c *Credit) gratis() int64 { return max(0, min(c.kept, c.free+c.granted-c.sent)) }

// take adds a grant; the argument is the total granted so far. It returns false for an outdated grant.
func (c *Credit) take(now unit.Time, total int64) bool {
	if total <= c.granted {
		return false
	}
	if !c.pulled {
		c.void(c.trip - (c.asked - c.granted))
	}
	c.granted = total
	c.grants++
	c.wait = max(c.least, min(2*(now-c.heard), mostPatience*c.least))
	c.heard, c.late, c.at = now, false, unit.Never
	if c.asked > c.granted {
		c.at = now + c.wait
	}
	c.rest(now)
	return true
}

// ask returns the credit to request for the given backlog; ok is false if no request is needed.
func (c *Credit) ask(now unit.Time, backlog int64) (total int64, ok bool) {
	c.looked = c.sent
	gratis := c.gratis()
	need := c.sent - (c.free - gratis) + min(max(0, backlog-gratis), c.window)
	switch {
	case backlog == 0 || need <= c.granted:
		c.at, c.late = unit.Never, false // no timer is set
		return 0, false
	case c.late: // the outstanding credit is overdue
		c.late = false
		c.repeats++
		c.wait = min(2*c.wait, mostPatience*c.least)
	case c.pulled || need <= c.asked || c.asked-c.granted >= c.window/2 && need-c.asked < c.window/4:
		if c.at == unit.Never {
			c.at = now + c.wait
		}
		return 0, false // the receiver has requests for a round trip; its grants cause the next call
	}
	if c.asked <= c.granted {
		c.heard = now
	}
	c.asked = max(c.asked, need)
	c.requests++
	c.at = now + c.wait
	return c.asked, true
}

// tick records that the outstanding credit is overdue; the next call is ask.
func (c *Credit) tick(now unit.Time) {
	if c.at <= now {
		c.at, c.late = unit.Never, true
	}
}

// hold records that packets wait for credit; rest records that none does.
func (c *Credit) hold(now unit.Time) {
	if c.since == unit.Never {
		c.since = now
	}
}

func (c *Credit) rest(now unit.Time) {
	if c.since != unit.Never {
		c.held += now - c.since
		c.since = unit.Never
	}
}

// Held returns the time that data have waited for credit so far.
func (c *Credit) Held(now unit.Time) unit.Time {
	if c.since != unit.Never {
		return c.held + now - c.since
	}
	return c.held
}

// Left returns the credit in hand. It is negative if the last packet was larger than the credit.
func (c *Credit) Left() unit.Bytes { return unit.Bytes(c.free + c.granted - c.sent) }

// Asked returns the credit requested and not yet granted.
func (c *Credit) Asked() unit.Bytes { return unit.Bytes(max(0, c.asked-c.granted)) }
