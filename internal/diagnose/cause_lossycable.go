package diagnose

import (
	"slices"

	"railyard/internal/counters"
)

// lossyCable is a cable, a transceiver or a connector that flips bits: the port behind it
// counts CRC errors, symbol errors or errors that FEC does not correct; bits that FEC
// corrects are no fault. A switch that cuts through sends a broken frame on, so that ports
// further down count a CRC error too; the cable is the one whose sender got no broken
// frames itself, or fewer.
var lossyCable = Cause{Name: "lossy-cable", About: "a cable corrupts frames (CRC or symbol errors)", find: findLossyCables,
	By: []string{"CRC errors", "symbol errors", "errors not corrected by FEC", "input errors",
		"frames longer than the MTU", "bytes received", "ingress: packets", "packets out of sequence",
		"ACK timeouts"}}

// errorFree is the bits in which IEEE 802.3 allows one to be wrong (bit error ratio 10^-12).
const errorFree = 1e12

func findLossyCables(f *Fabric, c *Cause) (out []Finding) {
	f.ports(func(p *Port) {
		n := p.broken()
		if n.Name == crc.name && f.mayComeFrom(p, n) {
			n = p.miscoded()
		}
		if !n.Some() {
			if x, ok := f.erred(c, p); ok {
				out = append(out, x)
			}
			return
		}
		back, both := p.otherWay()
		if both && (back.Grew > n.Grew || back.Grew == n.Grew && p.Peer.String() < p.String()) {
			return // reported at the other end, where more broken frames arrive
		}
		sure := Proven
		if n.Name != crc.name {
			sure = Likely // a link that comes up counts some, too
		}
		if got := p.got(); got.Is && float64(n.Grew) <= 8*float64(got.Grew)/errorFree {
			sure = Possible // a healthy cable may have as many errors
		}
		x := c.at(p, -1, sure, "the cable between %v and %s corrupts frames", p, farOf(p))
		x.show(n)
		if both {
			x.Says += ", in both directions"
			x.show(back)
		}
		x.showSome(p.read(crc), p.read(symbols), p.read(uncorrected))
		x.show(p.read(inErrors), p.got())
		for k := range counters.Priorities {
			if r := p.read(rxPackets(k)); r.Some() {
				x.show(r)
			}
		}
		out = append(out, f.corrupted(x, p, n.Grew+back.Grew))
	})
	return out
}

// corrupted completes a finding at a port that receives corrupted frames.
func (f *Fabric) corrupted(x Finding, p *Port, n uint64) Finding {
	lossesOf(&x, f)
	x.Why = "a corrupted frame is dropped where it is counted; go-back-N retransmits everything after it, or after the ACK timeout if it was the last one"
	x.Fix = "clean or replace the cable and the transceivers, this end first; check FEC and its corrected errors"
	x.next(p, askErrors, "errors, FEC, optical power")
	if p.Peer != nil {
		x.next(p.Peer, askErrors, "other end: optical power, errors in the other direction")
	}
	x.harm = share(n, f.allLosses())
	return x
}

// erred finds receive errors without a counter of their kind (RFC 2863, ifInErrors: all errors that prevent delivery of
// a frame) beyond a cable's normal rate: neither CRC errors, nor coding errors, nor frames longer than the MTU. The
// cable or the other end's frames may cause them.
func (f *Fabric) erred(c *Cause, p *Port) (x Finding, ok bool) {
	r, got := p.read(inErrors), p.got()
	known := p.read(crc).Grew + p.read(giants).Grew
	if !r.Two || r.Grew <= known || p.lacks(crc, giants) ||
		got.Is && float64(r.Grew-known) <= 8*float64(got.Grew)/errorFree {
		return x, false
	}
	if _, long := f.tooLong(&mtuDrops, p); long || p.passedOn(r.Grew-known) || f.mayComeFrom(p, r) {
		return x, false
	}
	if p.Peer != nil && p.Peer.broken().Some() {
		return x, false // reported at the other end
	}
	x = c.at(p, -1, Possible, "%v counts receive errors of a kind that no counter shows; the cable to %s may corrupt frames",
		p, farOf(p))
	x.show(r, p.read(crc), p.read(giants), got)
	return f.corrupted(x, p, r.Grew-known), true
}

// otherWay returns the broken frames of a link's other end, if this link broke them.
func (p *Port) otherWay() (r Reading, is bool) {
	if p.Peer == nil {
		return r, false
	}
	r = p.Peer.broken()
	return r, r.Some()
}

// broken returns a port's count of frames broken by its link: CRC errors, unless the other end forwarded them broken,
// else symbol errors.
func (p *Port) broken() Reading {
	if r := p.read(crc); r.Some() && !p.passedOn(r.Grew) {
		return r
	}
	return p.miscoded()
}

// miscoded returns the errors of the coding of a link, which no switch passes on: each link is coded anew
// (IEEE 802.3, clauses 49, 82 and 119).
func (p *Port) miscoded() Reading {
	if r := p.read(uncorrected); r.Some() {
		return r
	}
	return p.read(symbols)
}

// passedOn reports that the switch at the other end got as many broken frames itself.
func (p *Port) passedOn(n uint64) bool {
	if p.Peer == nil || p.Peer.On.Kind != Switch {
		return false
	}
	got := uint64(0)
	for _, q := range p.Peer.On.Ports {
		if q != p.Peer {
			got += max(q.read(crc).Grew, q.miscoded().Grew, q.read(inErrors).Grew)
		}
	}
	return got >= n
}

// mayComeFrom reports whether broken frames of a switch's port, CRC errors or receive errors, may have been forwarded,
// as far as incomplete outputs show: its neighbour is unknown although those of other ports are known, or lacks receive
// counters while another port of the fabric, which is returned, received as many.
func (f *Fabric) mayComeFrom(p *Port, n Reading) (may bool) {
	m, what := crc, "frames with CRC errors"
	if n.Name == inErrors.name {
		m, what = inErrors, "frames with receive errors"
	}
	if p.Peer != nil && (p.Peer.On.Kind == Host || !slices.ContainsFunc(p.Peer.On.Ports, func(q *Port) bool {
		return q != p.Peer && (q.Seen() && !q.read(m).Is || q.lacks(m))
	})) {
		return false
	}
	f.ports(func(q *Port) { may = may || q != p && q != p.Peer && q.read(m).Grew >= n.Grew })
	if cabled := func(q *Port) bool { return q.Peer != nil }; p.Peer == nil && slices.ContainsFunc(p.On.Ports, cabled) {
		f.note("%v counts %d %s; its neighbor is unknown, other than at other ports of %s, so the frames may have been corrupted further upstream", p, n.Grew, what, p.On.Name)
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

// lossesOf shows hosts' reports of missing packets, the two largest.
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
