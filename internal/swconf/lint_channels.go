package swconf

import "strings"

// routing is the interface that routes at an end of a cable. FRR's configurations do not list a bond's ports; the
// fabric does, and the bond's description names its far end.
func (l *linter) routing(e *end) *Port {
	if e.c.OS == FRR && e.link.Channel > 0 && !e.port.routed() {
		for _, b := range e.c.Bundles {
			if strings.HasPrefix(b.Desc.V, "to "+e.peer.c.Name()+" ") {
				return b
			}
		}
	}
	return e.c.routing(e.port)
}

// channels compares layer 3 port channels with one another and the fabric. A channel must be one at both ends, lead
// to a single switch, and have equal minimum links.
func (l *linter) channels() {
	leads := map[*Port]*Port{} // from a routed channel to the channel at the far end
	least := map[*Port]bool{}
	l.ends(func(e, far *end) {
		if e.c.OS == FRR || far.c.OS == FRR {
			return // a routing file, which has no members
		}
		own, other := e.c.routing(e.port), far.c.routing(far.port)
		switch {
		case e.link.Channel > 0 && l.bundled(e) && !e.port.Channel.Is():
			l.say(e.port.At, "put it into the channel of its neighbours",
				"%s is a member of a port channel to %s in the fabric, and has none here", e.port.Name,
				far.c.Name())
		case own == e.port:
		case other == far.port:
			l.say(first(e.port.Channel.At, e.port.At), "the same cables in a channel at both ends",
				"%s is in %s, and its neighbour %s is in no routed channel", e.port.Name, own.Name, e.far())
		case leads[own] != nil && leads[own] != other:
			l.say(first(e.port.Channel.At, e.port.At), "cables of one channel lead to one",
				"%s of %s leads to %s of %s, other members to %s", e.port.Name, own.Name, other.Name,
				far.c.Name(), leads[own].Name)
		case max(own.Least.V, 1) < max(other.Least.V, 1) && !least[own]:
			least[own] = true
			l.say(first(own.Least.At, own.At), "the same number at both ends",
				"%s is up with %d members, %s of %s takes %d: one end sends into a channel that the other end has shut down", own.Name, max(own.Least.V, 1), other.Name,
				far.c.Name(), other.Least.V)
		default:
			leads[own] = other
		}
	})
}

// bundled reports whether a cable is one of several of a channel in the fabric.
func (l *linter) bundled(e *end) bool {
	return l.Graph != nil && len(l.Graph.Channels[e.link.Channel-1].Links) > 1
}
