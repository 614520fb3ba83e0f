package fabric

import (
	"railyard/internal/rng"
	"railyard/internal/route"
)

// A NIC with cables to several interface nodes is attached to all of them. Each of its ports is an egress port,
// which has its own VOQs at every node. The ingress node selects the egress port of a packet, as a chassis does
// with the ports of a bundle. It selects its own port if it has one, else one by the flow's hash. From there on the
// packet has the egress node's locator.

// edges maps locators to interface nodes.
type edges struct {
	homes [][]uint16 // by locator: locators of its single interface nodes
	node  []int32    // by locator of a single interface node: the node
}

// SetEdges sets the switches of each locator, and by node the locator of that node alone, below zero for none. It must
// be called before routes are set.
func (n *Net) SetEdges(sets [][]int, own []int) {
	e := &n.sched.edges
	e.homes, e.node = make([][]uint16, len(sets)), make([]int32, len(sets))
	for loc, set := range sets {
		for i, node := range set {
			if own[node] >= 0 && (i == 0 || set[i-1] != node) { // a NIC may have two links to it
				e.homes[loc] = append(e.homes[loc], uint16(own[node]))
			}
		}
	}
	for node, loc := range own {
		if f := n.sched.at[node]; f != nil && loc >= 0 {
			f.loc, e.node[loc] = uint16(loc), int32(node)
		}
	}
}

// bundled sets the hash seeds of interface nodes.
func (b *Builder) bundled(node int32, f *iface) {
	s := rng.New(b.nodes[node].seed, "bundle/"+b.nodes[node].name)
	f.seed = uint32(s.Uint64())
}

// home returns the locator of the interface node at which a packet leaves; ok is false if there is no path.
func (n *Net) home(node int32, f *iface, p *Packet) (loc uint16, ok bool) {
	fwd := n.tables.fwd[n.forward[node].fwd:]
	if fwd[p.Loc] == fwdAttached {
		return f.loc, n.nearPort(node, p.Dst) >= 0
	}
	homes := n.sched.edges.homes[p.Loc]
	if len(homes) == 1 {
		return homes[0], fwd[homes[0]] >= 0
	}
	k := route.Hashed(p.Hash, f.seed, len(homes))
	for range homes {
		if loc = homes[k]; fwd[loc] >= 0 && n.hangs(p.Dst, loc) {
			return loc, true
		}
		if k++; k == len(homes) {
			k = 0
		}
	}
	return 0, false
}

// hangs reports whether routes lead from an interface node to a NIC.
func (n *Net) hangs(nic int32, loc uint16) bool { return n.nearPort(n.sched.edges.node[loc], nic) >= 0 }

// strand drops the data queued for an egress port whose link routing has removed. Otherwise they would stay until
// its repair.
func (n *Net) strand(node int32, f *iface, v *voq) {
	for v.q.bytes > 0 {
		pi, p := n.take(n.Q.Now(), node, -1, f, v)
		n.NoRoute++
		n.lose(p.In, pi, p)
	}
}

// strandOwn does so for a node's own egress ports. Requests to other nodes' ports stay unanswered (retry).
func (n *Net) strandOwn(node int32, f *iface) {
	for i := range f.voqs {
		if v := &f.voqs[i]; v.local && n.nearPort(node, v.dst) < 0 {
			n.strand(node, f, v)
		}
	}
}
