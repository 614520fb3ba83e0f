package host

import (
	"railyard/entropy"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// SourcePort is the UDP source port of packets whose 5-tuple has such a digest: its low bits.
func SourcePort(hash uint32) uint16 { return entropy.Port(hash, 0) }

// tuple is the digest of the next packet from an end of a queue pair: its own, or with several
// source ports that with the port whose turn it is.
func (h *Hosts) tuple(hash uint32, turn *entropy.Turn) uint32 {
	if h.cfg.SourcePorts < 2 {
		return hash
	}
	return hash&^entropy.Mask | uint32(entropy.Port(hash, turn.Next(h.cfg.SourcePorts)))&entropy.Mask
}

// tupleOf is tuple for a sender's data, whose chooser of source ports may hear what becomes of it.
func (h *Hosts) tupleOf(now unit.Time, s *sender, psn uint32) uint32 {
	if s.paths == nil {
		return h.tuple(s.hash, &s.turn)
	}
	return s.hash&^entropy.Mask | uint32(entropy.Port(s.hash, s.paths.Next(now, psn)))&entropy.Mask
}

// chooser makes a sender's choice of source ports; nil: it takes them in turn.
func (h *Hosts) chooser(hash uint32) *entropy.Paths {
	if h.cfg.Choose == nil || h.cfg.SourcePorts < 2 {
		return nil
	}
	return entropy.NewPaths(h.cfg.Choose(h.cfg.SourcePorts, hash))
}

// answered tells a sender's chooser of source ports which packet an acknowledgement is about.
func (s *sender) answered(now unit.Time, p *rc.Packet) {
	if s.paths == nil {
		return
	}
	if psn, ok := p.About(); ok {
		s.paths.Answered(now, psn, p.Marked)
	}
}

// lost tells a sender's chooser of source ports what a NAK says is missing.
func (s *sender) lost(now unit.Time, p *rc.Packet, f entropy.Feedback) {
	if s.paths == nil {
		return
	}
	first, n := p.Missing()
	for i := range n {
		s.paths.Heard(now, (first+uint32(i))&roce.PSNMask, f)
	}
}
