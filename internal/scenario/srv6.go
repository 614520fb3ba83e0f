package scenario

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/swconf"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Segments: the sender writes the switches of a packet's path into the destination of an outer IPv6 header, 16 bits
// each (uSID) after a locator of 32. Each switch shifts them by one (RFC 9800). Switches have static routes that
// never converge, so a path through a broken link stays broken. The sender maps an entropy value to a path; here by
// the hash that switches would have used.
const (
	srv6Len  = roce.IPv6Len
	srv6SIDs = (128 - 32) / 16
)

// tunnelled are ends whose frames have the outer header.
type tunnelled struct{ transport.Maker }

// Wire returns the size of a frame with it.
func (m tunnelled) Wire(p *transport.Packet) int { return m.Maker.Wire(p) + srv6Len }

// segments resolves the forwarding of a protocol's packets in switches.
func (p *resolver) segments() error {
	f := p.File.Transport.Forwards
	if f == nil || *f != "srv6" {
		return nil
	}
	c := p.Default().Carried
	if c == nil {
		return field.New("transport.forwarding", "RC queue pairs have no entropy values to select a path; accepted with transport.kind roce: hash")
	}
	if !p.LB.Fixed() {
		return field.New("transport.forwarding", "with srv6 a packet contains its path, and with lb %s switches select it; accepted: lb ecmp", p.LB.Name)
	}
	if n, _ := p.longest(); n > srv6SIDs {
		return field.New("transport.forwarding", "a path through this fabric has up to %d switches, and an IPv6 address holds %d uSIDs of 16 bits after a locator of 32", n, srv6SIDs)
	}
	c.Segments = true
	p.noteSegments()
	return nil
}

// noteSegments warns if the switches' configurations lack the segments in packets: the simulation uses the sender's
// paths over all links.
func (p *resolver) noteSegments() {
	silent := 0
	for _, c := range p.configs {
		if c.HasQoS() && len(c.SRv6.SIDs) == 0 {
			silent++
		}
	}
	if silent > 0 {
		p.note("transport.forwarding srv6: the configuration of %s has no segments; they are simulated as if it had the segments of all paths (railyard config render writes them)", unit.Plural(silent, "switch"))
		return
	}
	var found []swconf.Finding
	for _, f := range swconf.Lint(swconf.Input{Configs: p.configs, Graph: p.Graph, Base: p.Base}) {
		if strings.HasPrefix(f.Rule, "srv6-") {
			found = append(found, f)
		}
	}
	if len(found) > 0 {
		p.note("transport.forwarding srv6: %s:%d: %s (%s in total); paths are simulated over all cables, as if the configurations had them", found[0].File, found[0].Line, found[0].Message, unit.Plural(len(found),
			"finding"))
	}
}
