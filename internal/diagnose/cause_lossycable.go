package diagnose

import (
	"slices"

	"railyard/internal/counters"
)

// lossyCable is a cable, a transceiver or a connector that flips bits: the port behind it
// counts CRC errors. A switch that cuts through sends a broken frame on, so that ports
// further down count it too; the cable is the one whose sender got no broken frames
// itself, or fewer.
var lossyCable = Cause{Name: "lossy-cable", About: "a cable corrupts frames (CRC errors)", find: findLossyCables}

// errorFree is the bits in which IEEE 802.3 allows one to be wrong (bit error ratio 10^-12).
const errorFree = 1e12

func findLossyCables(f *Fabric, c *Cause) (out []Finding) {
	f.ports(func(p *Port) {
		n := p.read(crc)
		if !n.Some() || p.passedOn(n.Grew) || f.mayComeFrom(p, n.Grew) {
			return
		}
		back, both := p.otherWay()
		if both && (back.Grew > n.Grew || back.Grew == n.Grew && p.Peer.String() < p.String()) {
			return // told at the other end, of which more frames arrive broken
		}
		sure := Proven
		if got := p.got(); got.Is && float64(n.Grew) <= 8*float64(got.Grew)/errorFree {
			sure = Possible // as many as a cable may have
		}
		x := c.at(p, -1, sure, "the cable between %v and %s corrupts frames", p, farOf(p))
		x.show(n)
		if both {
			x.Says += ", in both directions"
			x.show(back)
		}
		x.show(p.read(inErrors), p.got())
		for k := range counters.Priorities {
			if r := p.read(rxPackets(k)); r.Some() {
				x.show(r)
			}
		}
		lossesOf(&x, f)
		x.Why = "a frame with a wrong checksum is dropped where it is counted; go-back-N retransmits everything after it, or after the ACK timeout if it was the last one"
		x.Fix = "clean or replace the cable and the transceivers, this end first; check FEC and its corrected errors"
		x.next(p, askLink, "errors, FEC, optical power")
		if p.Peer != nil {
			x.next(p.Peer, askLink, "other end: optical power, errors in the other direction")
		}
		x.harm = share(n.Grew+back.Grew, f.allLosses())
		out = append(out, x)
	})
	return out
}

// otherWay is the broken frames of a cable's other end, where they were broken on this cable.
func (p *Port) otherWay() (r Reading, is bool) {
	if p.Peer == nil {
		return r, false
	}
	if r = p.Peer.read(crc); !r.Some() || p.Peer.passedOn(r.Grew) {
		return Reading{}, false
	}
	return r, true
}

// passedOn reports that the switch at the other end got as many broken frames itself.
func (p *Port) passedOn(n uint64) bool {
	if p.Peer == nil || p.Peer.On.Kind != Switch {
		return false
	}
	got := uint64(0)
	for _, q := range p.Peer.On.Ports {
		if q != p.Peer {
			got += q.read(crc).Grew
		}
	}
	return got >= n
}

// mayComeFrom reports that broken frames of a switch's port may have been passed on, as far as outputs that are
// incomplete tell: its neighbour is unknown although those of other ports are known, or does not show what it
// got while another port of the fabric, which is named, got as many.
func (f *Fabric) mayComeFrom(p *Port, n uint64) (may bool) {
	if p.Peer != nil && (p.Peer.On.Kind == Host || !slices.ContainsFunc(p.Peer.On.Ports, func(q *Port) bool {
		return q != p.Peer && q.Seen() && !q.read(crc).Is
	})) {
		return false
	}
	f.ports(func(q *Port) { may = may || q != p && q != p.Peer && q.read(crc).Grew >= n })
	if cabled := func(q *Port) bool { return q.Peer != nil }; p.Peer == nil && slices.ContainsFunc(p.On.Ports, cabled) {
		f.note("%v counts %d frames with CRC errors; its neighbor is unknown, other than at other ports of %s, so the frames may have been corrupted further upstream", p, n, p.On.Name)
		return true
	}
	return may
}

// farOf names the other end.
func farOf(p *Port) string {
	if p.Peer == nil {
		return "its unknown neighbor"
	}
	return p.Peer.String()
}

// lossesOf shows what hosts say of packets that they missed, the two that miss most.
func lossesOf(x *Finding, f *Fabric) {
	var all []Reading
	f.ports(func(p *Port) {
		for _, m := range []meter{outOfOrder, timeouts} {
			if r := p.read(m); r.Some() {
				all = append(all, r)
			}
		}
	})
	x.show(most(all)[:min(2, len(all))]...)
}
