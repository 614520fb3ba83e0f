package diagnose

import (
	"railyard/internal/counters"
	"railyard/unit"
)

// incast is more senders than an egress has capacity for: pauses begin at a switch that no device pauses, before a port
// that sends at full rate. That is congestion, which healthy fabrics have; a slow port, ECN that is off and reversed
// thresholds are causes of their own.
var incast = Cause{Name: "incast", About: "more is sent to a port than it can send on", find: findIncast,
	By: []string{"pauses sent", "pauses received", "packets marked", "packets sent", "bytes sent",
		"peak bytes queued"}}

func findIncast(f *Fabric, c *Cause) (out []Finding) {
	for i := range f.Chains {
		ch := &f.Chains[i]
		if !ch.NIC() && ch.Port == nil && ch.Class >= 0 {
			f.note("%s of %s start at %s, and no port with counters can be the congestion point: add the counters of all its ports", unit.Plural(int(ch.Frames), "pause"), classWord(ch.Class), ch.Root.Name)
		}
		if ch.NIC() || ch.Port == nil {
			continue
		}
		p, k := ch.Port, max(ch.Class, 0)
		x := c.at(p, ch.Class, Likely, "%v is the congestion point of %s: its switch pauses %s", p,
			classWord(ch.Class),
			unit.Plural(len(ch.First), "port"))
		x.Grade = Congestion
		if l := p.load(p.read(txBytes(k))); l >= 0 {
			x.Says += sprintf("; it sends at %.0f %% of line rate", 100*l)
		}
		x.show(ch.First[0].Seen(), p.read(marked(k)), p.read(peak(k)), p.read(txBytes(k)))
		if q := p.deeper(k); q != nil { // a counter that chose p may be missing of q
			x.Sure = Possible
			x.Says += sprintf("; %v of the same switch had a longer queue", q)
			x.show(q.read(peak(k)))
		}
		x.reach(ch)
		x.deafToMarks(ch.Reaches, k)
		x.Why = "several senders to one receiver; no neighbor pauses this switch"
		x.Fix = "fewer concurrent senders (placement, collective algorithm), lower ECN thresholds, faster congestion control. Nothing needs repair"
		if p.Peer != nil && p.Peer.On.Kind == Switch {
			x.Why = "oversubscription or an ECMP hash collision on the link to " + p.Peer.On.Name + "; no neighbor pauses this switch"
			x.Fix = "more uplinks, load balancing over more paths (more queue pairs, flowlets, spraying), placement below one leaf, lower ECN thresholds. Nothing needs repair"
		}
		x.next(p, askSenders, "receive rates by port: the senders' ports receive most")
		x.harm = share(ch.Frames, f.allPauses())
		out = append(out, x)
	}
	if len(f.Chains) == 0 {
		out = append(out, f.marksAlone(c)...)
	}
	return out
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
			if r := p.read(marked(k)); p.On.Kind == Switch && p.marksMuch(k) && r.Grew > worst.Grew {
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
