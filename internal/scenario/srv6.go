package scenario

import (
	"railyard/internal/field"
	"railyard/roce"
	"railyard/transport"
)

// Segments: the sender writes the switches of a packet's way into the destination of an outer IPv6 header,
// 16 bits each (uSID) behind a locator of 32, and each switch shifts them by one (RFC 9800). Switches have
// static routes and nothing that converges, so a way through a broken cable stays broken; which way an
// entropy value means is the sender's choice, made here by the hash that switches would have used.
const (
	srv6Len  = roce.IPv6Len
	srv6SIDs = (128 - 32) / 16
)

// tunnelled are ends whose frames have the outer header.
type tunnelled struct{ transport.Maker }

// Wire is the frame with it.
func (m tunnelled) Wire(p *transport.Packet) int { return m.Maker.Wire(p) + srv6Len }

// segments resolves how switches find the way of a protocol's packets.
func (p *resolver) segments() error {
	f := p.File.Transport.Forwards
	if f == nil || *f != "srv6" {
		return nil
	}
	c := p.Services[0].Carried
	if c == nil {
		return field.New("transport.forwarding", "RC queue pairs have no entropy values to mean a way; "+
			"accepted with transport.kind roce: hash")
	}
	if !p.LB.Fixed {
		return field.New("transport.forwarding", "with srv6 a packet says which way it takes, and lb %s has "+
			"switches choose; accepted: lb ecmp", p.LB.Name)
	}
	if n, _ := p.longest(); n > srv6SIDs {
		return field.New("transport.forwarding", "a way through this fabric has up to %d switches, and an "+
			"IPv6 address has room for %d uSIDs of 16 bits behind a locator of 32", n, srv6SIDs)
	}
	c.Segments = true
	return nil
}
