package fabric

import (
	"slices"

	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/unit"
)

// detours are the rules for packets that may leave the shortest path.
type detours struct {
	region []int32 // region of each node, -1 for none; nil on a torus, which has its own classes
	// rise returns the class of a packet after it has crossed a number of links between regions, by its first
	// class. Classes that nothing protects may lose packets and need not rise.
	rise [queue.Classes][route.Levels]uint8
}

// SetDetours sets the region of each node and the classes through which packets rise. A torus has no regions;
// SetRings has set both there. It must be called before SetRoutes with choosers that are Steerers.
func (n *Net) SetDetours(region []int32, rising *queue.Rising) {
	n.detours = &detours{region: region, rise: risen(rising)}
}

// steer is for switches whose chooser is a Steerer. A packet from a NIC may get a leg: Loc leads to a region, and
// Final is the destination after that. At the first switch of the region the leg ends.
//
// The class rises on every cable between regions. A packet in a buffer of one class requests a buffer of the same
// or a higher class. Within a class, requests go only forward between local and global links, so no circular
// dependency arises (docs/references.md, deadlock-free). Its ingress accounts it to the class in which the peer
// sent it, because a pause applies to that class. Towards a NIC it returns to its first class, the only one that
// the NIC uses, and only the NIC can block it.
func (n *Net) steer(now unit.Time, f *forward, node, in int32, p *Packet) {
	d := n.detours
	base := p.Class
	if from := n.node[n.Ports[in].Peer]; n.Sw[from].Spec == nil {
		if r := n.Sw[node].steerer.Via(now, int(p.Loc), p.Hash, n.Ports); r >= 0 {
			p.Final, p.Loc = p.Loc, uint16(n.Sw[node].regions.Loc[r])
			p.Flags |= FlagLeg
		}
	} else if d.region != nil {
		p.Came = d.rise[base][p.Level]
		if d.region[from] != d.region[node] && p.Level < route.Levels-1 {
			p.Level++
		}
	}
	code := n.tables.fwd[f.fwd+int32(p.Loc)]
	// end of the detour: the packet has arrived there, or no path is left after a failure
	if p.Flags&FlagLeg != 0 && code < 0 {
		p.Loc = p.Final
		p.Flags &^= FlagLeg
		code = n.tables.fwd[f.fwd+int32(p.Loc)]
	}
	if code >= 0 && d.region != nil {
		p.Class = d.rise[base][p.Level]
	}
}

// leg is the position of a packet and its current locator: its receiver's, or a region's before that.
type leg struct {
	node int32
	loc  uint16
}

// legs returns the legs on which packets to a locator may leave the switch at which they enter the fabric.
func (n *Net) legs(node int32, loc uint16) []leg {
	sw := &n.Sw[node]
	if sw.steerer == nil {
		return []leg{{node, loc}}
	}
	var out []leg
	for _, r := range sw.steerer.Vias(nil, int(loc)) {
		l := leg{node, loc}
		if r >= 0 {
			l.loc = uint16(sw.regions.Loc[r])
		}
		out = append(out, l)
	}
	return out
}

// turn ends a finished leg, as steer does, for packets whose receiver has locator final.
func (n *Net) turn(l leg, final uint16) leg {
	if l.loc != final && n.Sw[l.node].Spec != nil && n.tables.fwd[n.forward[l.node].fwd+int32(l.loc)] < 0 {
		l.loc = final
	}
	return l
}

// arrived removes ports to hosts from the set while some packets are still in flight, because paths of several
// lengths lead to the same NIC.
func (n *Net) arrived(ports []int32) []int32 {
	toHost := func(p int32) bool { return n.Sw[n.node[n.Ports[p].Peer]].Spec == nil }
	if on := slices.DeleteFunc(slices.Clone(ports), toHost); len(on) > 0 {
		return on
	}
	return ports
}
