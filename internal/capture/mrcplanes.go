package capture

import (
	"net/netip"
	"slices"

	"railyard/roce"
)

// A NIC of several planes may have an address on each: a connection of MRC is then one queue pair with
// several pairs of addresses.

// otherPlane finds the connection direction of a packet with other addresses; nil for none.
func (t *Teller) otherPlane(k flowKey, f *roce.Frame) *stream {
	for _, s := range t.mrcs[uint16(k.qp)] {
		if s.key.qp != k.qp || k.qp == roce.MRCEndpointQP || s.key.src == k.src || s.key.dst == k.dst {
			continue
		}
		if f.BTH.Opcode.IsMRCWrite() || f.BTH.Opcode == roce.MRCProbe {
			if s.more.continues(f) || s.peer != nil && s.peer.runs(k.dst, k.src) {
				return s
			}
		} else if s.peer != nil && s.peer.runs(k.dst, k.src) { // an answer to packets in that direction
			return s
		}
	}
	return nil
}

// runs reports whether the direction leads from one address to another.
func (s *stream) runs(src, dst netip.Addr) bool {
	if s.key.src == src && s.key.dst == dst {
		return true
	}
	return slices.ContainsFunc(s.also, func(k flowKey) bool { return k.src == src && k.dst == dst })
}
