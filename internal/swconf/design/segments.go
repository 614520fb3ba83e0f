package design

import (
	"fmt"
	"net/netip"

	"railyard/internal/swconf"
)

// Segments configure packets whose outer destination names the switches of their path (SRv6 with NEXT-CSID, RFC
// 9800; MRC's third way to forward, docs/references.md, mrc). It is a block of 32 bits in which each switch has 16
// bits, its uSID. A switch that is first in the address shifts the others to the front (uN). It forwards the packet
// by a static route of /48 to a neighbour's uSID. The last one removes the outer header and reaches the NIC by its
// own link. Nothing converges, so there is no BGP.
//
// If two switches are connected by several links, each has a uSID per link, so that a path selects the link.

// block is the prefix of all uSIDs of a fabric, and linkBlock that of the addresses of its links. Both are unique
// local (RFC 4193), the first as in RFC 9800's and vendors' examples.
var (
	block     = netip.MustParseAddr("fcbb:bb00::")
	linkBlock = netip.MustParseAddr("fd00:64::")
)

// Lengths of a uSID's parts, F3216 as SONiC, FRR and Cumulus have it.
const (
	BlockLen = 32
	NodeLen  = 16
)

// mostSIDs is the number of global uSIDs. Those from 0xe000 on are local to a switch (RFC 9800, 0 ends the list).
const mostSIDs = 0xe000 - 1

// SID is a SID of a switch.
type SID struct {
	Name   string
	Prefix netip.Prefix // of /48
}

// Way is a static route to a neighbour's uSID.
type Way struct {
	Prefix netip.Prefix
	By     *Port
}

// segments numbers switches and assigns addresses to links for it.
func (d *Design) segments() error {
	if !d.Segments {
		return nil
	}
	parallel, most, cable := map[*Port]int{}, 1, 0
	for _, s := range d.Switches {
		if s.Peer != nil {
			return refuse("%s and %s share bundles, and paths of segments end at one switch: planes of their own take server.nic_ports with a transport that has planes", s.Name, s.Peer.Name)
		}
		seen := map[*Switch]int{}
		for _, p := range s.Neighbors() {
			parallel[p] = seen[p.Far]
			seen[p.Far]++
			most = max(most, seen[p.Far])
		}
	}
	if n := len(d.Switches) * most; n > mostSIDs {
		return refuse("%d switches with %d uSIDs each, one per parallel cable, need %d; 16 bits have %d that are global", len(d.Switches), most, n, mostSIDs)
	}
	for _, s := range d.Switches {
		own := 1
		for _, p := range s.Neighbors() {
			own = max(own, parallel[p]+1)
		}
		for k := range own {
			s.SIDs = append(s.SIDs, SID{fmt.Sprintf("RAILYARD%d", k+1), usid(s.Index*most + k + 1)})
		}
		for _, p := range s.Neighbors() {
			if p.Far.Index > s.Index { // each link once: its other end is the same one of those
				far := p.other()
				p.Addr6, far.Addr6 = linkAddr(2*cable), linkAddr(2*cable+1)
				p.FarAddr6, far.FarAddr6 = far.Addr6.Addr(), p.Addr6.Addr()
				cable++
			}
		}
	}
	for _, s := range d.Switches {
		for _, p := range s.Neighbors() {
			s.Ways = append(s.Ways, Way{p.Far.SIDs[parallel[p]].Prefix, p})
		}
	}
	return nil
}

// other returns the port at the far end of a cable between switches.
func (p *Port) other() *Port {
	for _, q := range p.Far.Ports {
		if q.Kind == ToSwitch && q.Number == p.far {
			return q
		}
	}
	panic("design: a cable has one end") // a cable always has both ends
}

func usid(n int) netip.Prefix {
	b := block.As16()
	b[4], b[5] = byte(n>>8), byte(n)
	return netip.PrefixFrom(netip.AddrFrom16(b), BlockLen+NodeLen)
}

// linkAddr is one end of a cable, in a /127 (RFC 6164).
func linkAddr(n int) netip.Prefix {
	b := linkBlock.As16()
	b[12], b[13], b[14], b[15] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return netip.PrefixFrom(netip.AddrFrom16(b), 127)
}

// Unsayable rejects features without public syntax in EOS and NX-OS: uSIDs, and ECN of only some ports, which is
// written once for all of them here. NX-OS's locators, of L3VPNs with their own functions, do not shift lists, and
// EOS's guides have none.
func (s *Switch) Unsayable(os swconf.OS) error {
	switch {
	case len(s.SIDs) > 0:
		return Refuse(os, s, "SRv6 uSIDs (transport.forwarding srv6): its published syntax has no endpoint that shifts a list of 16-bit segments (uN), which %v would need; --os sonic and --os frr write them",
			s.SIDs[0].Prefix)
	case s.Spec.CoreMarks && s.marksSome():
		return Refuse(os, s, "ECN at ports to switches and not at those to servers (switch.mark_core_only), which is written for SONiC only; --set switch.mark_core_only=false has all ports mark")
	}
	return nil
}

// marksSome reports whether a switch has ports of both kinds, and marks.
func (s *Switch) marksSome() bool {
	marks, servers, others := false, false, false
	for i := range s.Spec.Queues {
		marks = marks || s.Spec.Queues[i].WRED.ECN && s.Spec.Queues[i].WRED.Max > 0
	}
	for _, p := range s.Ports {
		servers, others = servers || p.Kind == ToHost, others || p.Kind == ToSwitch
	}
	return marks && servers && others
}
