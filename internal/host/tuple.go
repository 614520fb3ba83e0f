package host

import "railyard/entropy"

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
