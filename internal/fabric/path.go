package fabric

import (
	"cmp"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// maxHops is the maximum length of a traced path: detours of a torus with sides of 20 are not longer.
const maxHops = 64

// Header returns the number of bytes of a packet that a cut-through switch reads before it forwards.
func (n *Net) Header() int { return n.header }

// Alone returns the time of one frame over consecutive ports, without other traffic and at the links' own rates. It
// lasts from the frame's first bit at the first port to its last bit at the far end of the last.
func (n *Net) Alone(ports []int32, size int) (t unit.Time) { return n.AloneGrowing(ports, size, 0) }

// AloneGrowing is Alone for a frame that each switch adds bytes to.
func (n *Net) AloneGrowing(ports []int32, size, more int) (t unit.Time) {
	for i, port := range ports {
		if i > 0 {
			size += more
		}
		tx := &n.Ports[port]
		if n.sched != nil && engine.Kind(tx.Arrive) == KindCells {
			if i == 1 {
				t += n.crossing(ports[1:len(ports)-1], size)
			}
			continue
		}
		t += unit.Serialize(unit.Bytes(size)+roce.PreambleIFG, n.cfg[port].rate) + tx.Flight
		cut := tx.Flags&flagCut != 0 && size > n.header && i+1 < len(ports)
		if cut && n.cfg[ports[i+1]].rate <= n.cfg[port].rate { // see waitForTail
			t -= unit.Serialize(unit.Bytes(size-n.header), n.cfg[port].rate)
		}
	}
	return t
}

// Path returns the switch ports on the path of a host's packets from one of its ports to a NIC, by the current
// tables. They are the ports picked by hashing. If packets choose at each hop, they are the first eligible ports.
func (n *Net) Path(port, dst int32, loc uint16, hash uint32) (ports []int32) {
	for len(ports) < maxHops {
		node := n.node[n.Ports[port].Peer]
		if n.Sw[node].Spec == nil { // the host
			break
		}
		if n.sched != nil && n.sched.at[node] != nil && len(ports) == 0 {
			loc, _ = n.home(node, n.sched.at[node], &Packet{Dst: dst, Loc: loc, Hash: hash})
		}
		if port = n.pathPort(node, dst, loc, hash); port < 0 {
			break
		}
		ports = append(ports, port)
	}
	return ports
}

// pathPort is a switch's port on such a path, -1 for none. To look changes no chooser's state.
func (n *Net) pathPort(node, dst int32, loc uint16, hash uint32) int32 {
	f := &n.forward[node]
	if int(f.fwd)+int(loc) >= len(n.tables.fwd) {
		return -1 // no switch reaches any NIC
	}
	_, steady := n.Sw[node].Chooser.(route.Steady)
	if code := n.tables.fwd[f.fwd+int32(loc)]; code >= 0 && !f.hashed && !steady {
		return n.tables.members[n.tables.groups[f.groups+int32(code)].start]
	}
	out := n.route(0, f, node, &Packet{Dst: dst, Loc: loc, Hash: hash})
	if f.slow&slowChannel != 0 && out >= 0 {
		out = n.member(node, out, hash)
	}
	return out
}

// Choices returns, hop by hop, all switch ports on the paths to a NIC, from the switch at a host's port. They are
// the equal-cost ports and, with detours, the ports of all detours.
func (n *Net) Choices(port, dst int32, loc uint16) (hops [][]int32) {
	at := n.legs(n.node[n.Ports[port].Peer], loc)
	for len(hops) < maxHops {
		var out []int32
		var next []leg
		for _, l := range at {
			l = n.turn(l, loc)
			from := len(out)
			out = n.toward(out, l.node, dst, l.loc)
			for _, p := range out[from:] {
				next = append(next, leg{n.node[n.Ports[p].Peer], l.loc})
			}
		}
		if len(out) == 0 {
			break
		}
		slices.Sort(out)
		hops = append(hops, n.arrived(slices.Compact(out)))
		slices.SortFunc(next, func(a, b leg) int {
			return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.loc, b.loc))
		})
		at = slices.Compact(next)
	}
	return hops
}

// toward appends the ports among which a switch may choose.
func (n *Net) toward(out []int32, node, dst int32, loc uint16) []int32 {
	if n.Sw[node].Spec == nil { // the host
		return out
	}
	f := &n.forward[node]
	if int(f.fwd)+int(loc) >= len(n.tables.fwd) {
		return out // no switch reaches any NIC
	}
	code := n.tables.fwd[f.fwd+int32(loc)]
	if code >= 0 {
		g := n.tables.groups[f.groups+int32(code)]
		return n.allMembers(out, n.tables.members[g.start:g.start+g.n])
	}
	if i := dst - f.nearBase; code == fwdAttached && uint32(i) < uint32(f.nearLen) && n.tables.near[f.near+i] >= 0 {
		out = append(out, n.tables.near[f.near+i])
	}
	return out
}
