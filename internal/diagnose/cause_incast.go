package diagnose

import (
	"cmp"

	"railyard/internal/counters"
	"railyard/unit"
)

// incast is more senders than an egress has capacity for: pauses begin at a switch that no device pauses, before a port
// that sends at full rate; or, without pauses, a port is fully used and its queue is long or marks much. That is
// congestion, which healthy fabrics have; a slow port, ECN that is off and reversed thresholds are causes of their own.
var incast = Cause{Name: "incast", About: "more is sent to a port than it can send on", find: findIncast,
	By: []string{"pauses sent", "pauses received", "packets marked", "packets sent", "bytes sent",
		"packets received", "bytes received", "port utilization", "peak bytes queued"}}

func findIncast(f *Fabric, c *Cause) (out []Finding) {
	none := true
	for i := range f.Chains {
		ch := &f.Chains[i]
		if ch.brief() {
			for k := range ch.First {
				f.noteBrief(&ch.First[k])
			}
			continue
		}
		if none = false; ch.NIC() {
			continue
		}
		if ch.Port == nil {
			f.openChain(ch)
			continue
		}
		if f.slow(ch.Port) {
			continue
		}
		p, k := ch.Port, max(ch.Class, 0)
		x := c.at(p, ch.Class, Likely, "%v is the congestion point of %s: its switch pauses %s", p,
			classWord(ch.Class),
			unit.Plural(len(ch.First), "port"))
		x.Grade = Congestion
		l := p.load(p.read(txBytes(k)))
		if l < 0 {
			l = p.sends()
		}
		if l >= 0 {
			x.Says += sprintf("; it sends at %.0f %% of line rate", 100*l)
		}
		x.show(ch.First[0].Seen(), p.read(marked(k)), p.read(peak(k)), p.read(txBytes(k)))
		x.utilization(p)
		if q := p.deeper(k); q != nil { // a counter that chose p may be missing of q
			x.Sure = Possible
			x.Says += sprintf("; %v of the same switch had a longer queue", q)
			x.show(q.read(peak(k)))
		}
		if !p.read(marked(k)).Is && !p.read(peak(k)).Is && !p.read(txBytes(k)).Is && l < 0 && !p.sent().Is {
			x.Sure = Possible
			x.Says += "; it sent most packets, and no output shows its queue"
			x.show(p.sentPackets())
			x.next(p, askQueues, "bytes and drops of the class")
		}
		x.reach(ch)
		x.deafToMarks(ch.Reaches, k)
		x.oversent(p)
		x.Why += "; no neighbor pauses this switch"
		x.next(p, askSenders, "receive rates by port: the senders' ports receive most")
		x.harm = share(ch.Frames, f.allPauses())
		out = append(out, x)
	}
	if !none {
		return out
	}
	if out = f.marksAlone(c); out == nil {
		out = f.fullAlone(c)
	}
	return out
}

// openChain notes pauses that start at a switch none of whose ports can be the congestion point, with the missing
// output. A switch without counters is noted by Fabric.missing.
func (f *Fabric) openChain(ch *Chain) {
	d := ch.Root
	frames := unit.Plural(ch.Frames, "pause")
	switch {
	case !d.Seen:
	case ch.Class < 0:
		f.open("%s start at %s, without their priority: %s", frames, d.Name, d.missing(askPFC))
	default:
		f.open("%s of %s start at %s, and no counter shows the congestion point: %s", frames, classWord(ch.Class), d.Name,
			d.missing(askQueues))
	}
}

// oversent sets the mechanism and the remedy of a port to which more is sent than it can send on.
func (x *Finding) oversent(p *Port) {
	x.sound = true
	x.Why = "several senders to one receiver"
	x.Fix = "fewer concurrent senders (placement, collective algorithm), lower ECN thresholds, faster congestion control"
	if p.Peer != nil && p.Peer.On.Kind == Switch {
		x.Why = "oversubscription or an ECMP hash collision on the link to " + p.Peer.On.Name
		x.Fix = "more uplinks, load balancing over more paths (more queue pairs, flowlets, spraying), placement below one leaf, lower ECN thresholds"
	}
}

// utilization adds the share of line rate that the output of a port states.
func (x *Finding) utilization(p *Port) {
	if v, file, line, ok := said(p, utilOf); ok {
		x.tell(p, file, line, "port utilization %.1f %%", 100*v)
	}
}

// deeper returns another port of the same switch whose longest queue of a class was more than twice as long; nil if
// there is none, or if the port's own is unknown.
func (p *Port) deeper(k int) *Port {
	own := p.read(peak(k))
	for _, q := range p.On.Ports {
		if r := q.read(peak(k)); own.Is && r.Is && r.Now > 2*own.Now {
			return q
		}
	}
	return nil
}

// seldom is the share of packets that DCQCN's paper marks at its upper threshold (docs/references.md, dcqcn): a queue
// that marks a larger share has been that long.
const seldom = 0.01

// marksMuch reports whether a port marks a larger share of a class.
func (p *Port) marksMuch(k int) bool {
	r := p.read(marked(k))
	return r.Some() && float64(r.Grew) > seldom*float64(p.read(txPackets(k)).Grew)
}

// marksAlone is congestion that ECN holds down without a pause: the port that marks most.
func (f *Fabric) marksAlone(c *Cause) []Finding {
	var worst Reading
	class := 0
	f.ports(func(p *Port) {
		for k := range counters.Priorities {
			if r := p.read(marked(k)); p.On.Kind == Switch && p.marksMuch(k) && r.Grew > worst.Grew && !f.slow(p) {
				worst, class = r, k
			}
		}
	})
	if !worst.Is {
		return nil
	}
	p := worst.Port
	x := c.at(p, class, Possible,
		"%v marks %.1f %% of its packets in class %d, the most of all ports; no port is paused", p, 100*share(worst.Grew, p.read(txPackets(class)).Grew), class)
	x.Grade = Congestion
	x.show(worst, p.read(txPackets(class)), p.read(peak(class)))
	x.Why = "the offered load exceeds the rate of the port; ECN slows the senders before PFC acts"
	x.Fix = "none needed"
	x.next(p, askSenders, "receive rates by port: the senders' ports receive most")
	return []Finding{x}
}

// full is the share of line rate from which a port is fully used: counters of bytes lack the preamble and the gap, 5 %
// of frames of 400 bytes.
const full = 0.95

// fullAlone is a fully used port with a long queue and without a pause. A queue of one frame from each other port may
// be arrivals at the same time; a longer one is more than the port could send. Where no output shows the queue or its
// marks, it is undecided.
func (f *Fabric) fullAlone(c *Cause) (out []Finding) {
	f.ports(func(p *Port) {
		l := p.sends()
		if p.On.Kind != Switch || l < full || f.slow(p) {
			return
		}
		class, known := 0, false
		for k := range counters.Priorities {
			known = known || p.read(peak(k)).Is || p.read(marked(k)).Is
			if p.read(peak(k)).Now > p.read(peak(class)).Now {
				class = k
			}
		}
		longest := p.read(peak(class))
		switch {
		case !known:
			f.open("%v sends at %.1f %% of line rate, and no counter shows its queue: %s", p, 100*l, p.On.missing(askDepth))
			return
		case longest.Now <= uint64(len(p.On.Ports)-1)*uint64(f.longestFrame()):
			return
		}
		x := c.at(p, class, Possible, "%v sends at %.1f %% of line rate and had a queue of %s in class %d; no port is paused",
			p, 100*l, unit.Bytes(longest.Now).Show(), class)
		x.Grade = Congestion
		x.show(longest, p.read(txBytes(class)))
		x.utilization(p)
		if x.oversent(p); len(p.feeders()) > 1 {
			in := p.feeders()
			x.Says += sprintf("; at least %d ports of the switch feed it", len(in))
			x.show(in...)
		} else {
			x.Why = "more is sent to the port than its rate"
		}
		x.next(p, askSenders, "receive rates by port: the senders' ports receive most")
		x.harm = l
		out = append(out, x)
	})
	return out
}

// longestFrame is the MTU of most switch ports, else that of jumbo frames.
func (f *Fabric) longestFrame() unit.Bytes { return cmp.Or(f.usualMTU(), 9216) }

// feeders returns the fewest other ports of the switch that together received what a port sent: at least as many feed
// it. It is nil if they received less, or if there is one snapshot.
func (p *Port) feeders() []Reading {
	out, got := p.sent(), (*Port).got
	if !out.Some() {
		out, got = p.sentPackets(), (*Port).gotPackets
	}
	var in []Reading
	for _, q := range p.On.Ports {
		if q != p && out.Two {
			in = append(in, got(q))
		}
	}
	sum := uint64(0)
	for i, r := range most(in) {
		if sum += r.Grew; sum > 0 && sum >= out.Grew {
			return in[:i+1]
		}
	}
	return nil
}
