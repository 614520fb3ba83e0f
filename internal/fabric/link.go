package fabric

import (
	"fmt"
	"math"

	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

// LinkState is the state of a link at one time, as one of its ports sees it.
type LinkState struct {
	Up   bool
	Rate unit.Rate // at which the port sends
	Back unit.Rate // and the other one, where that differs; 0: at the same
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

// SetLink makes the cable at port what it is from now on; one rate alone may change, all else is of both
// directions.
//
// A broken cable loses what is sent into it, and both ends forget that they were paused; once it
// is whole again, an ingress that is still congested pauses its peer anew. A new rate is that of
// the frames to come: those on the wire finish at the old one, and neither end begins another
// before both have, as ports that train a link together would. Without that a pause behind a slow
// frame would reach a sender that is fast already later than the headroom was sized for, which is
// by the cable's own rate (Rate), as WRED's idle time is. A port that has become faster serves
// a pause's quanta in less time, so the pauses in force are sent again.
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

// setErrors changes a direction's bit error rate. The bits up to the next error are distributed
// exponentially, so what is left of them scales with their mean.
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

// errorSource is whose random stream a cable's bit errors come from.
type errorSource struct {
	seed uint64
	name string
}

// setRate enters a line rate and, where it is whole, how many picoseconds a byte takes.
func setRate(tx *route.Port, r unit.Rate) {
	tx.Rate, tx.PsPerByte = r, 0
	const bits = 8 * int64(unit.Second)
	if byteTime := bits / int64(r); byteTime*int64(r) == bits && byteTime < math.MaxInt32 {
		tx.PsPerByte = int32(byteTime)
	}
}

// span is a stretch of time in which a direction had one rate, 0 while it waited for the other one.
type span struct {
	until unit.Time // frames that began before had it
	rate  unit.Rate
	tx    int64 // TxBytes then
}

// past is the earlier rate of a port whose rate has changed: as long as a frame of that time
// may be on the wire.
type past struct {
	out, in []span    // of what it sends, and of what it receives
	highest unit.Rate // of its earlier rates; one that an event changed at 0 s was none
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
		for len(spans) > 1 && spans[0].until < now-tx.Flight { // all of it has arrived
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

// rateOf returns the rate of the frame whose header comes in at a port now.
func (n *Net) rateOf(in int32) unit.Rate {
	if past := n.cfg[in].past; past != nil {
		left := n.Q.Now() - n.Ports[n.Ports[in].Peer].Flight
		for _, s := range past.in {
			if left < s.until && s.rate > 0 {
				return s.rate
			}
		}
		return n.Ports[n.Ports[in].Peer].Rate // which has changed, perhaps alone
	}
	return n.Ports[in].Rate
}

// ahead returns the wire bytes that a port has begun to send and that are not out, rounded up.
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

// overfull reports that a port has sent more since its rate changed last than there was time for.
func (n *Net) overfull(port int32) bool {
	p, since := &n.Ports[port], span{}
	if past := n.cfg[port].past; past != nil {
		since = past.out[len(past.out)-1]
	}
	return unit.Serialize(unit.Bytes(p.TxBytes-since.tx), p.Rate) > max(p.BusyUntil, n.Q.Now())-since.until
}

// What whoever builds or watches a network asks of single ports.

// LimitPFC leaves a port only some priorities to pause its neighbour for and to
// obey pauses of. What arrives there in a lossless class beyond xOFF and headroom
// is lost, because nothing stops the sender.
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

// FaultPort lets Fault decide about what leaves a port.
func (n *Net) FaultPort(port int32) { n.Ports[port].Flags |= flagFault }
