package diagnose

import (
	"railyard/internal/counters"
	"railyard/internal/swconf"
	"railyard/unit"
)

// mtuDrops is a port that receives frames longer than its MTU, or must forward them on a link with a smaller one. Such
// frames are dropped at any queue length: no pauses, no queue, no loss of smaller frames. A broken link loses frames of
// all lengths and counts CRC errors.
var mtuDrops = Cause{Name: "mtu", About: "frames are longer than a port's MTU", find: findMTU,
	By: []string{"frames longer than the MTU", "input errors", "input discards", "output discards",
		"output errors", "MTU of both ends", "ACK timeouts"}}

// hostMTU is the usual MTU of hosts with jumbo frames: a port that takes their packets drops none for its MTU, unless
// it counts frames that are longer.
const hostMTU unit.Bytes = 9000

func findMTU(f *Fabric, c *Cause) (out []Finding) {
	differ, first := 0, (*Port)(nil)
	f.ports(func(p *Port) {
		if x, ok := f.tooLong(c, p); ok {
			out = append(out, x)
		} else if p.belowPeer() {
			if differ++; first == nil {
				first = p
			}
		}
	})
	if first != nil {
		mine, file, line := first.mtu()
		theirs, _, _ := first.Peer.mtu()
		f.note("%s between switches with different MTUs at the ends (%v: %d, %v: %d; %s:%d): RoCE packets (at most %d bytes) fit both ends, and no counter shows a longer frame there",
			unit.Plural(differ, "link"), first, mine, first.Peer, theirs, file, line, swconf.LongestRoCE)
	}
	return together(out)
}

// belowPeer reports whether a port has a smaller MTU than the other end of a link between switches.
func (p *Port) belowPeer() bool {
	if p.Peer == nil || p.On.Kind != Switch || p.Peer.On.Kind != Switch {
		return false
	}
	mine, _, _ := p.mtu()
	theirs, _, _ := p.Peer.mtu()
	return mine > 0 && theirs > mine
}

// tooLong finds a port whose MTU is too small for its traffic.
func (f *Fabric) tooLong(c *Cause, p *Port) (x Finding, ok bool) {
	mine, file, line := p.mtu()
	theirs, theirFile, theirLine := unit.Bytes(0), "", 0
	if p.Peer != nil {
		theirs, theirFile, theirLine = p.Peer.mtu()
	}
	long, errs, refused := p.read(giants), p.read(inErrors), p.read(inDiscards)
	outwards, failed := p.read(outDiscards), p.read(outErrors)
	least := mine > 0 && (theirs > mine || f.usualMTU() > mine)
	small := least && mine < hostMTU
	switch {
	case long.Some():
		sure := Likely
		if least {
			sure = Proven
		}
		x = c.at(p, -1, sure, "%v receives frames longer than its MTU from %s", p, farOf(p))
	case small && errs.Some() && p.read(crc).None() && !p.miscoded().Some() && !p.lacks(uncorrected, symbols):
		x = c.at(p, -1, Likely, "%v counts input errors other than CRC errors, and its MTU is smaller than that of other ports", p)
	case small && p.calm() && (refused.Some() || outwards.Some() || failed.Some()):
		x = c.at(p, -1, Likely, "%v drops outside its queues, and its MTU is smaller than that of other ports", p)
	case mine < swconf.LongestRoCE && p.belowPeer():
		x = c.at(p, -1, Possible, "the MTU at %v is smaller than at %v", p, p.Peer)
	default:
		return x, false
	}
	x.show(long, errs, refused, outwards, failed)
	if mine > 0 {
		x.tell(p, file, line, "MTU %d", mine)
	}
	if theirs > 0 {
		x.tell(p.Peer, theirFile, theirLine, "MTU %d", theirs)
	}
	lossesOf(&x, f)
	x.Why = "a switch drops frames longer than the MTU of the port without notifying the sender: small messages arrive, large ones never do"
	x.Fix = "set the same MTU at both ends of every cable, hosts included (9000 or more for a RoCE MTU of 4096)"
	x.next(p, askLink, "MTU and giants")
	if p.Peer != nil {
		x.next(p.Peer, askLink, "MTU at the other end")
	}
	n := max(long.Grew, errs.Grew, refused.Grew+outwards.Grew)
	x.harm = share(n, f.allLosses())
	return x, true
}

// mtu is a port's, of its output, else of its configuration.
func (p *Port) mtu() (unit.Bytes, string, int) {
	if v, file, line, ok := said(p, mtuOf); ok {
		return v, file, line
	}
	if p.saysMTU != nil && p.saysMTU.MTU.Is() {
		return p.saysMTU.MTU.V, p.saysMTU.MTU.At.File, p.saysMTU.MTU.At.Line
	}
	return 0, "", 0
}

// usualMTU is the MTU of most switch ports.
func (f *Fabric) usualMTU() unit.Bytes {
	if f.mtu > 0 {
		return f.mtu
	}
	count, usual := map[unit.Bytes]int{}, unit.Bytes(0)
	f.ports(func(p *Port) {
		if v, _, _ := p.mtu(); v > 0 && p.On.Kind == Switch {
			if count[v]++; count[v] > count[usual] || count[v] == count[usual] && v > usual {
				usual = v
			}
		}
	})
	f.mtu = usual
	return usual
}

// calm reports whether a port is known to have no queue: no pauses in either direction, no marks.
func (p *Port) calm() bool {
	for k := range counters.Priorities {
		for _, m := range []meter{rxPFC(k), txPFC(k), marked(k)} {
			if p.read(m).Some() || p.lacks(m) {
				return false
			}
		}
	}
	return true
}
