package fabric

import (
	"slices"

	"railyard/internal/route"
)

// maxHops bounds a path that is followed.
const maxHops = 16

// Path returns by which ports of switches packets go that a host sends out of one of its
// ports to a NIC, hop by hop, by the tables as they stand. With ECMP that is one port a
// hop; balanced asks for all ports that are equally near, and so does a policy that
// chooses anew on the way.
func (n *Net) Path(port, dst int32, loc uint16, hash uint32, balanced bool) (hops [][]int32) {
	at := []int32{n.node[n.Ports[port].Peer]}
	for range maxHops {
		var out, next []int32
		for _, node := range at {
			out = n.toward(out, node, dst, loc, hash, balanced)
		}
		if len(out) == 0 {
			return hops
		}
		slices.Sort(out)
		out = slices.Compact(out)
		hops = append(hops, out)
		for _, p := range out {
			next = append(next, n.node[n.Ports[p].Peer])
		}
		slices.Sort(next)
		if at = slices.Compact(next); n.Sw[at[0]].Spec == nil { // the host
			return hops
		}
	}
	return hops
}

// toward appends the ports by which a switch forwards.
func (n *Net) toward(out []int32, node, dst int32, loc uint16, hash uint32, balanced bool) []int32 {
	f := &n.forward[node]
	if n.Sw[node].Spec == nil {
		return out
	}
	if f.policy == route.ECMP && !balanced {
		if p := n.route(0, f, node, &Packet{Dst: dst, Loc: loc, Hash: hash}); p >= 0 {
			out = append(out, p)
		}
		return out
	}
	code := n.tables.fwd[f.fwd+int32(loc)]
	if code >= 0 {
		g := n.tables.groups[f.groups+int32(code)]
		return append(out, n.tables.members[g.start:g.start+g.n]...)
	}
	if i := dst - f.nearBase; code == fwdAttached && uint32(i) < uint32(f.nearLen) && n.tables.near[f.near+i] >= 0 {
		out = append(out, n.tables.near[f.near+i])
	}
	return out
}
