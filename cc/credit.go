package cc

import "railyard/unit"

// Credited is a Controller whose sender sends what its receiver grants. The account is the controller's own;
// the Pacer finds it when the sender begins, and keeps it.
type Credited interface {
	Credit() *Credit
}

// Credit is a sender's account with its receiver. All sums are bytes of wire since the connection began, as
// an IPv4 network carries them, preamble and gap included, and they only grow: a grant or a request that is
// lost is made good by the next one. A packet may go while anything at all is left.
//
// What the sender asks for is what it has to send beyond what it may send unasked, but no more than a window
// beyond what it has sent on credit: what it holds or waits for is bounded, and a sender that is gone
// leaves its receiver with little to grant in vain. What may go unasked is void once a grant comes, but for so
// much that with what has been asked for it lasts a round trip, until the answer to the next request: else a
// sender that had counted on it would stand still. uet-htsim gets by without through credit that its receivers
// grant unasked to whoever is idle ("slow pull"). A loss voids all of it.
type Credit struct {
	first  int64     // what a burst may send unasked
	window int64     // most credit at hand and asked for
	trip   int64     // what goes in a round trip
	least  unit.Time // asked again no earlier than so long after it was asked for, or granted, last

	sent, granted int64
	free          int64 // sent, or to be sent, on no grant
	kept          int64 // of that what may still go, at most
	asked         int64
	looked        int64     // sent when Ask was called last
	at            unit.Time // what was asked for is late then
	wait          unit.Time
	heard         unit.Time // when a grant came last, or began to be waited for
	late          bool      // at has come
	pulled        bool      // what arrives grants more: nothing is asked for but what is late

	since, held unit.Time // it waits since then, and has waited so long before

	grants, requests, repeats int64
}

// Waits that end in asking again double while nothing comes, up to so often.
const mostPatience = 64

// NewCredit opens an account: so much may go unasked at the beginning of a burst, so much may be at hand or
// asked for, so much goes in a round trip, and a grant that does not come within patience was lost, unless
// grants are further apart.
func NewCredit(first, window, trip unit.Bytes, patience unit.Time) Credit {
	return Credit{first: int64(first), window: int64(window), trip: int64(trip), least: patience, wait: patience,
		at: unit.Never, since: unit.Never}
}

// begin starts a burst: nothing was under way or posted. What was left of the last one is void.
func (c *Credit) begin(now unit.Time) {
	c.free = c.sent - c.granted + c.first
	c.kept, c.heard, c.looked = c.first, now, c.sent
}

// Unasked returns what a burst may send without a grant.
func (c *Credit) Unasked() unit.Bytes { return unit.Bytes(c.first) }

// spent reports that nothing is left.
func (c *Credit) spent() bool { return c.sent >= c.free+c.granted }

// empties reports that nothing is left once so much has gone.
func (c *Credit) empties(wire int64) bool { return c.sent+wire >= c.free+c.granted }

// charge counts what has gone. It returns true when Ask should be called.
func (c *Credit) charge(wire int64) bool {
	c.sent += wire
	return !c.pulled && c.sent-c.looked >= c.window/4 || c.spent()
}

// void takes from what may go unasked what is more than keep.
func (c *Credit) void(keep int64) {
	left := c.gratis()
	c.kept = min(left, max(0, keep))
	c.free -= left - c.kept
}

// gratis returns the bytes that may still be sent without credit; what was granted goes first.
func (c *Credit) gratis() int64 { return max(0, min(c.kept, c.free+c.granted-c.sent)) }

// take takes a grant: so much in all. It returns false for old news.
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

// ask says what to ask for, given what there is to send: ok is false where nothing need be.
func (c *Credit) ask(now unit.Time, backlog int64) (total int64, ok bool) {
	c.looked = c.sent
	gratis := c.gratis()
	need := c.sent - (c.free - gratis) + min(max(0, backlog-gratis), c.window)
	switch {
	case backlog == 0 || need <= c.granted:
		c.at, c.late = unit.Never, false // nothing is waited for
		return 0, false
	case c.late: // what was asked for has not come
		c.late = false
		c.repeats++
		c.wait = min(2*c.wait, mostPatience*c.least)
	case c.pulled || need <= c.asked || c.asked-c.granted >= c.window/2 && need-c.asked < c.window/4:
		if c.at == unit.Never {
			c.at = now + c.wait
		}
		return 0, false // the receiver knows enough for a round trip, and its grants have this called again
	}
	if c.asked <= c.granted {
		c.heard = now
	}
	c.asked = max(c.asked, need)
	c.requests++
	c.at = now + c.wait
	return c.asked, true
}

// tick notes that what was asked for is late; ask comes next.
func (c *Credit) tick(now unit.Time) {
	if c.at <= now {
		c.at, c.late = unit.Never, true
	}
}

// hold notes that something waits for credit, rest that nothing does.
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

// Held returns how long something has waited for credit so far.
func (c *Credit) Held(now unit.Time) unit.Time {
	if c.since != unit.Never {
		return c.held + now - c.since
	}
	return c.held
}

// Left returns the credit at hand, below zero where the last packet was larger than it.
func (c *Credit) Left() unit.Bytes { return unit.Bytes(c.free + c.granted - c.sent) }

// Asked returns what has been asked for and not been granted.
func (c *Credit) Asked() unit.Bytes { return unit.Bytes(max(0, c.asked-c.granted)) }
