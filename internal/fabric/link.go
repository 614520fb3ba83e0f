package fabric

import (
	"fmt"
	"math"

	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

// LinkState is the state of a link at one time, seen from one of its ports.
type LinkState struct {
	Up   bool
	Rate unit.Rate // rate at which the port sends
	Back unit.Rate // rate of the other direction, if different; 0: equal
	BER  float64   // bit error rate
}

// In is the rate at which the port receives.
func (s *LinkState) In() unit.Rate {
	if s.Back > 0 {
		return s.Back
	}
	return s.Rate
}

// Link returns the state of the cable at a port.
func (n *Net) Link(port int32) LinkState {
	tx := &n.Ports[port]
	s := LinkState{Up: !tx.Down, Rate: tx.Rate, BER: n.cfg[port].ber}
	if back := n.Ports[tx.Peer].Rate; back != tx.Rate {
		s.Back = back
	}
	return s
}

// SetLink sets the state of the link at port. One direction's rate may change alone; other settings apply to both
// directions.
//
// A broken link loses the packets sent into it, and both ends reset their pause state. After the repair, an ingress
// that is still congested pauses its peer again. A new rate applies to later frames. Frames on the wire finish at
// the old rate. Neither end begins another frame before both have finished, as with ports that train a link
// together. Otherwise a pause after a slow frame would reach an already fast sender later than the headroom allows.
// Headroom and WRED's idle time are sized for the link's own rate (Rate). A port that has become faster serves a
// pause's quanta in less time, so the pauses in force are repeated.
func (n *Net) SetLink(port int32, s LinkState) {
	ends := [2]int32{port, n.Ports[port].Peer}
	was := n.Link(port)
	rates, had := [2]unit.Rate{s.Rate, s.In()}, [2]unit.Rate{was.Rate, was.In()}
	if rates != had {
		n.retrain(ends, rates)
	}
	for _, p := range ends {
		n.setErrors(p, s.BER)
		if s.Up != was.Up {
			n.setUp(p, s.Up)
		}
		if s.Up && (!was.Up || rates[0] > had[0] || rates[1] > had[1]) {
			n.pauseAgain(p)
		}
		if s.Up && !was.Up {
			n.creditAgain(p)
			n.gradeAgain(p)
		}
		if node := n.node[p]; n.sched != nil && n.sched.at[node] != nil {
			n.uplinks(node, n.sched.at[node])
		}
	}
}

func (n *Net) setUp(port int32, up bool) {
	tx := &n.Ports[port]
	tx.Down = !up
	tx.Flags &^= flagDown
	if up {
		return
	}
	tx.Flags |= flagDown
	n.uncredit(port)
	for c := range queue.Classes {
		n.unpause(port, c)
	}
}

// pauseAgain repeats the pauses that a port's congestion calls for.
func (n *Net) pauseAgain(port int32) {
	for c := range queue.Classes {
		if slot := n.slot(port, c); n.ing[slot].pausing {
			n.sendPause(slot)
		}
	}
}

// setErrors changes a direction's bit error rate. The distance to the next bit error is distributed exponentially, so
// the remaining distance scales with the mean.
func (n *Net) setErrors(port int32, ber float64) {
	c := &n.cfg[port]
	switch {
	case ber == 0:
		n.Ports[port].Flags &^= flagErrors
	case c.ber > 0:
		c.bitsLeft *= c.ber / ber
	default:
		n.Ports[port].Flags |= flagErrors
		if !c.erred {
			link := &n.errors[port/2]
			c.stream, c.erred = rng.New(link.seed, fmt.Sprintf("ber/%s/%d", link.name, port&1)), true
		}
		c.bitsLeft = exponential(&c.stream) / ber
	}
	c.ber = ber
}

// errorSource is the source of a cable's random bit errors.
type errorSource struct {
	seed uint64
	name string
}

// setRate sets a line rate and, if it is a whole number, the picoseconds per byte.
func setRate(tx *route.Port, r unit.Rate) {
	tx.Rate, tx.PsPerByte = r, 0
	const bits = 8 * int64(unit.Second)
	if byteTime := bits / int64(r); byteTime*int64(r) == bits && byteTime < math.MaxInt32 {
		tx.PsPerByte = int32(byteTime)
	}
}

// span is a period in which a direction had one rate; 0 while it waited for the other direction.
type span struct {
	until unit.Time // frames that began before had it
	rate  unit.Rate
	tx    int64 // TxBytes then
}

// past is the earlier rate of a port after a change, while a frame of that rate may be on the wire.
type past struct {
	out, in []span    // capacity of the sending and of the receiving direction
	highest unit.Rate // highest of its earlier rates; a change at 0 s has no earlier rate
}

// retrain changes the rates of a cable's ends.
func (n *Net) retrain(ends [2]int32, rates [2]unit.Rate) {
	now := n.Q.Now()
	quiet := max(now, n.Ports[ends[0]].BusyUntil, n.Ports[ends[1]].BusyUntil)
	for i, p := range ends {
		tx := &n.Ports[p]
		if past := n.pastOf(p); now > 0 {
			past.highest = max(past.highest, tx.Rate)
		}
		spans := append(n.pastOf(p).out, span{max(now, tx.BusyUntil), tx.Rate, tx.TxBytes})
		if quiet > tx.BusyUntil {
			tx.BusyUntil = quiet
			spans = append(spans, span{quiet, 0, tx.TxBytes})
		}
		for len(spans) > 1 && spans[0].until < now-tx.Flight { // the whole span has arrived
			spans = spans[1:]
		}
		n.pastOf(p).out = spans
		n.pastOf(tx.Peer).in = append(n.pastOf(tx.Peer).in[:0], spans...)
		setRate(tx, rates[i])
		n.encode(p)
	}
}

// Highest returns the highest rate at which a port has sent so far.
func (n *Net) Highest(port int32) unit.Rate {
	rate := n.Ports[port].Rate
	if past := n.cfg[port].past; past != nil {
		rate = max(rate, past.highest)
	}
	return rate
}

func (n *Net) pastOf(port int32) *past {
	c := &n.cfg[port]
	if c.past == nil {
		c.past = &past{}
	}
	return c.past
}

// rateOf returns the rate of the frame whose header arrives at a port now.
func (n *Net) rateOf(in int32) unit.Rate {
	if past := n.cfg[in].past; past != nil {
		left := n.Q.Now() - n.Ports[n.Ports[in].Peer].Flight
		for _, s := range past.in {
			if left < s.until && s.rate > 0 {
				return s.rate
			}
		}
		return n.Ports[n.Ports[in].Peer].Rate // the rate of the other direction, which may have changed alone
	}
	return n.Ports[in].Rate
}

// ahead returns the bytes of the frame on the wire that are not yet out, rounded up.
func (n *Net) ahead(port int32) (bytes int64) {
	p, now := &n.Ports[port], n.Q.Now()
	until, rate := p.BusyUntil, p.Rate
	part := func(from unit.Time) {
		if from = max(from, now); from < until {
			if rate > 0 {
				bytes += int64(unit.InTime(rate, until-from-1)) + 1
			}
			until = from
		}
	}
	if past := n.cfg[port].past; past != nil {
		for i := len(past.out) - 1; i >= 0; i-- {
			part(past.out[i].until)
			rate = past.out[i].rate
		}
	}
	part(now)
	return bytes
}

// overfull reports whether a port has sent more since its last rate change than its rate permits.
func (n *Net) overfull(port int32) bool {
	p, since := &n.Ports[port], span{}
	if past := n.cfg[port].past; past != nil {
		since = past.out[len(past.out)-1]
	}
	return unit.Serialize(unit.Bytes(p.TxBytes-since.tx), p.Rate) > max(p.BusyUntil, n.Q.Now())-since.until
}

// Accessors of single ports, for code that builds or observes a network.

// LimitPFC leaves a port only some priorities to pause its neighbour for and to obey pauses of. Bytes that arrive
// there in a lossless class beyond xOFF and headroom are lost, because the sender is not stopped.
func (n *Net) LimitPFC(port int32, priorities uint8) { n.cfg[port].noPFC = ^priorities }

// TapPort captures both directions at a port, or stops doing so.
func (n *Net) TapPort(port int32, on bool) {
	peer := n.Ports[port].Peer
	n.Ports[port].Flags &^= flagTapOut
	n.Ports[peer].Flags &^= flagTapIn
	if on {
		n.Ports[port].Flags |= flagTapOut
		n.Ports[peer].Flags |= flagTapIn
	}
}

// FaultPort makes Fault decide about the packets that leave a port.
func (n *Net) FaultPort(port int32) { n.Ports[port].Flags |= flagFault }
