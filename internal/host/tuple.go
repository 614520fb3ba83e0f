package host

import (
	"railyard/entropy"
	"railyard/unit"
)

// SourcePort is the UDP source port of packets whose 5-tuple has such a digest: its low bits.
func SourcePort(hash uint32) uint16 { return entropy.Port(hash, 0) }

// from is the digest of a packet from one of the source ports.
func from(hash uint32, port int) uint32 {
	return hash&^entropy.Mask | uint32(entropy.Port(hash, port))&entropy.Mask
}

// tuple is the digest of the next packet from an end of a queue pair: its own, or with several
// source ports that with the port whose turn it is.
func (h *Hosts) tuple(hash uint32, turn *entropy.Turn) uint32 {
	if h.cfg.SourcePorts < 2 {
		return hash
	}
	return from(hash, turn.Next(h.cfg.SourcePorts))
}

// tupleOf is tuple for a sender's data, whose chooser of source ports may hear what becomes of it.
func (h *Hosts) tupleOf(now unit.Time, s *sender, psn uint32) uint32 {
	if h.cfg.SourcePorts < 2 {
		return s.hash
	}
	return from(s.hash, s.paths.Next(now, psn, &s.turn, h.cfg.SourcePorts))
}

// chooser makes a sender's choice of source ports; nil: it takes them in turn.
func (h *Hosts) chooser(hash uint32) *entropy.Paths {
	if h.cfg.Choose == nil || h.cfg.SourcePorts < 2 {
		return nil
	}
	return entropy.NewPaths(h.cfg.Choose(h.cfg.SourcePorts, hash))
}
