package cc

import "railyard/unit"

// NSCC is one sender's window (docs/references.md, nscc). An acknowledgement is one of four cases, by its packet's
// ECN mark and by the packet's delay beyond the unloaded round trip:
//
//	             delay below the target     delay above it
//	not marked   proportional increase      fair increase
//	marked       nothing                    multiplicative decrease, once per round trip
//
// A mark without delay is another path's business (package entropy). If ports to servers do not mark
// (Path.CoreMarks, as with MRC's switches), a delay above the target also decreases the window without a mark. Fair
// increase is meant for queues that drain. Without marks, the queue at an incast's receiver looks like such a
// queue. Increases add up and take effect every few packets. Without delay for a whole window, the window grows
// fast. If losses or a very long delay show that almost nothing arrives, the window becomes the bytes that arrived
// (quick adapt).
//
// Sums and products are rounded one by one, by explicit conversions, so that all platforms compute equal values.
type NSCC struct {
	s       *nsccSettings
	path    Path
	window  float64   // bytes
	most    float64   // largest window, bytes
	base    unit.Time // unloaded round trip; 0: not known yet
	target  unit.Time // target of the delay beyond it
	rtt     unit.Time // last measured
	hosts   float64   // mean of the hosts' part of round trips, ps,
	slowest float64   // and its maximum
	mean    float64   // mean delay, ps
	now     Decision

	alpha, fair, eta, fast float64 // steps for this network: bytes², bytes, or per byte and ps, as noted at each
	raise                  float64 // increases not yet applied, times the window
	raised                 float64 // bytes acknowledged since some did
	adjustedAt, cutAt      unit.Time
	calm                   float64 // bytes acknowledged in a row without delay
	opening                bool    // fast

	arrived, ignored, ignore float64 // bytes: in this period, since the last quick adapt, of no news after it
	inFlight                 float64
	periodEnd                unit.Time
	lost                     bool // a packet was lost in this period

	cuts, quick, lossCuts int64
}

// The network for which steps are given.
const (
	nsccRate = 100 * unit.Gbps
	nsccRTT  = 12 * unit.Microsecond
)

func newNSCC(s *nsccSettings, path Path) *NSCC {
	n := &NSCC{s: s, path: path, base: path.RTT, cutAt: -unit.Never / 2}
	n.scale()
	n.window = n.most
	if n.base == 0 {
		n.window = unknownWindow * float64(path.MTU)
	}
	n.settle()
	return n
}

// holds returns the bytes that the line sends in a time.
func (n *NSCC) holds(t unit.Time) float64 { return float64(n.path.Line) * (t.Seconds() / 8) }

// scale works out target, steps and largest window from the round trips.
func (n *NSCC) scale() {
	network, base := n.s.NetworkRTT, n.base
	if base == 0 {
		base = max(network, unknownRTT)
	}
	if network == 0 {
		network = base
	}
	if n.target = n.s.Delay; n.target == 0 {
		n.target = max(1, unit.Time(n.s.Target*float64(network)))
	}
	mtu := float64(n.path.MTU)
	a := n.holds(network) / float64(unit.InTime(nsccRate, nsccRTT))
	n.alpha = float64(n.s.Alpha*mtu) * a / float64(nsccRTT)
	n.fair, n.eta, n.fast = float64(n.s.Fair*mtu)*a, float64(n.s.Eta*mtu)*a, n.s.Fast*a
	n.cap()
}

// measure processes a round trip and returns its delay beyond the unloaded one. Without a round trip it returns the
// mean delay.
func (n *NSCC) measure(a *Ack) unit.Time {
	if a.RTT == 0 {
		return unit.Time(n.mean)
	}
	n.rtt = a.RTT
	network := a.RTT
	if a.FarWithin {
		network -= a.Far
		n.host(a.Far)
	}
	if n.path.RTT == 0 && (n.base == 0 || network < n.base) {
		n.base = network
		n.scale()
	}
	if network < n.base { // a shorter packet's
		return unit.Time(n.mean)
	}
	delay := network - n.base
	n.average(delay, a.Marked || n.path.CoreMarks)
	return delay
}

// host processes the hosts' part of a round trip. The time in the far host is not network delay. The bytes in
// flight meanwhile must fill the line, so the largest window covers the longest host time.
func (n *NSCC) host(t unit.Time) {
	if n.hosts == 0 {
		n.hosts = float64(t)
	}
	n.hosts = float64(n.s.EWMA*float64(t)) + float64((1-n.s.EWMA)*n.hosts)
	if n.hosts > n.slowest {
		n.slowest = n.hosts
		n.cap()
	}
}

// cap works out the largest window.
func (n *NSCC) cap() {
	base := n.base
	if base == 0 {
		base = max(n.s.NetworkRTT, unknownRTT)
	}
	n.most = max(float64(n.s.Most*n.holds(base+unit.Time(n.slowest))), float64(n.path.MTU))
}

// MostInFlight is the largest window, as the parameters and the path have it now.
func (n *NSCC) MostInFlight() unit.Bytes { return unit.Bytes(n.most) }

// average takes a delay into the mean. A delay above the target without a mark counts as a quarter of a round trip: no
// mark has confirmed the congestion.
func (n *NSCC) average(delay unit.Time, marked bool) {
	x := float64(delay)
	if !marked && delay > n.target {
		x = float64(n.base) / 4
	}
	n.mean = float64(n.s.EWMA*x) + float64((1-n.s.EWMA)*n.mean)
}

// OnAck moves the window.
func (n *NSCC) OnAck(now unit.Time, a *Ack) {
	acked := float64(a.Bytes)
	n.arrived += acked
	n.raised += acked
	n.ignored += acked
	delay := n.measure(a)
	n.inFlight = float64(a.InFlight)
	if n.quickAdapt(now, a.Marked, delay) {
		n.settle()
		return
	}
	switch above := delay >= n.target; {
	case above && (a.Marked || n.path.CoreMarks):
		n.decrease(now)
	case above:
		n.raise += float64(n.fair * acked)
	case !a.Marked:
		n.increase(acked, delay)
	}
	n.bound()
	if n.raised > float64(n.s.Adjust)*float64(n.path.MTU) || now-n.adjustedAt > n.network() {
		n.adjust(now)
	}
	n.settle()
}

// network is the round trip by which increases take effect at the latest.
func (n *NSCC) network() unit.Time {
	if n.s.NetworkRTT > 0 {
		return n.s.NetworkRTT
	}
	return n.base
}

// increase opens the window in proportion to the delay's distance below the target, and fast after a whole window
// without delay.
func (n *NSCC) increase(acked float64, delay unit.Time) {
	if delay >= n.s.FastBelow {
		n.calm, n.opening = 0, false
	} else if n.calm += acked; n.calm > n.window || n.opening {
		n.opening = true
		n.window += float64(n.fast * acked)
		return
	}
	n.raise += float64(n.alpha*acked) * float64(n.target-delay)
}

// decrease cuts the window by how far the mean is above the target, at most once per round trip.
func (n *NSCC) decrease(now unit.Time) {
	n.calm, n.opening = 0, false
	if target := float64(n.target); n.mean > target && now-n.cutAt > n.base {
		n.window *= max(1-float64(n.s.Gamma*(n.mean-target)/n.mean), 1-n.s.Cut)
		n.cutAt = now
	}
}

// adjust applies the accumulated increases.
func (n *NSCC) adjust(now unit.Time) {
	n.window += n.raise / n.window
	if now-n.adjustedAt >= n.network() {
		n.window += n.eta
		n.adjustedAt = now
	}
	n.raise, n.raised = 0, 0
	n.bound()
}

// quickAdapt sets the window to the bytes of the last round trip plus a target. It applies if almost nothing
// arrived because of a loss or a very long delay. Packets in flight at that time are then ignored unless they are
// unmarked. It reports whether the acknowledgement needs no further reaction.
func (n *NSCC) quickAdapt(now unit.Time, marked bool, delay unit.Time) (done bool) {
	switch { // with a share of 0, the arrived bytes are never below it
	case n.ignored < n.ignore && marked:
		done = true
	case now > n.periodEnd:
		reason := n.lost || float64(delay) > float64(n.s.QADelay*float64(n.target))
		if n.periodEnd != 0 && reason && n.arrived < float64(n.most*n.s.QAShare) {
			n.window = max(min(n.arrived, n.window), float64(n.path.MTU))
			n.ignore, n.ignored, n.lost = n.inFlight, 0, false
			n.quick++
			done = true
		}
		n.arrived, n.periodEnd = 0, now+n.base+n.target
	}
	if done {
		n.raise, n.raised = 0, 0
	}
	return done
}

// OnLoss takes a lost packet off the window. A loss is a reason to check whether packets arrive.
func (n *NSCC) OnLoss(now unit.Time, _ Loss) {
	mtu := float64(n.path.MTU)
	n.ignored += mtu
	n.average(n.network(), true) // the capacity of a queue that drops or trims
	if n.lost = true; !n.quickAdapt(now, true, 0) {
		n.window -= mtu
		n.lossCuts++
	}
	n.settle()
}

// OnFlight keeps the payload in flight: marks on it are ignored after a quick adapt.
func (n *NSCC) OnFlight(inFlight unit.Bytes) { n.inFlight = float64(inFlight) }

// bound keeps the window between one packet and the largest.
func (n *NSCC) bound() { n.window = min(max(n.window, float64(n.path.MTU)), n.most) }

// settle sets the decision: whole packets.
func (n *NSCC) settle() {
	n.bound()
	d := Decision{Rate: n.path.Line, TimerAt: unit.Never, Window: unit.Bytes(n.window) / n.path.MTU * n.path.MTU}
	if d.Window < n.now.Window {
		n.cuts++
	}
	n.now = d
}

// OnLine changes the ceiling.
func (n *NSCC) OnLine(_ unit.Time, line unit.Rate) {
	n.path.Line = line
	n.scale()
	n.settle()
}

// AsksEvery returns how often packets request an acknowledgement.
func (n *NSCC) AsksEvery() int { return n.s.Every }

// OnCNP does nothing: acknowledgements carry the marks.
func (n *NSCC) OnCNP(unit.Time) {}

// OnBytes does nothing.
func (n *NSCC) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (n *NSCC) OnTimer(unit.Time) {}

// WantsAcks returns true.
func (n *NSCC) WantsAcks() bool { return true }

// Decision returns the window.
func (n *NSCC) Decision() Decision { return n.now }

// Signal returns the rate, the window and the delays.
func (n *NSCC) Signal(_ unit.Time, name string) (float64, bool) {
	rate := min(float64(n.path.Line), 8*n.window/max(n.rtt, n.base, 1).Seconds())
	return named(nscc.Signals, name, rate, n.window, n.rtt.Seconds(), n.mean/float64(unit.Second))
}

// Counter returns the cuts.
func (n *NSCC) Counter(name string) (int64, bool) {
	return named(nscc.Counters, name, n.cuts, n.quick, n.lossCuts)
}
