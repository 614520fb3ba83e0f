package host

import (
	"slices"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/fabric"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Service is how the network treats a connection: the class of its packets, and the congestion control of its
// sender. Connections refer to one in the NICs' table; several may share a class.
type Service struct {
	Name  string
	DSCP  uint8 // DSCP of data and ACKs
	Class uint8 // class of data and ACKs at the NIC: queue, and PFC priority

	CC     cc.Make // makes each sender's congestion control from its path; nil: none
	FarEnd bool    // acknowledgements report in four more bytes for how long their NIC delayed a packet
	Marks  bool    // acknowledgements report which packets arrived marked

	Credit    cc.Terms       // terms of receivers' credit; zero: senders need none
	Telemetry roce.Telemetry // telemetry that switches write into data, and receivers return
	Tags      cc.Signalled   // signal that tags request; zero: share and delay in turn

	CNPs     bool      // receivers answer marks with CNPs,
	CNPGap   unit.Time // minimum time between two CNPs of a connection
	CNPDelay unit.Time // a NIC's time from a marked packet to its CNP
	CNPDSCP  uint8
	CNPClass uint8

	AcksFirst bool // ACKs travel as CNPs do, before data

	// carries its connections, with its own congestion control, credit and answers; nil: RC
	Protocol transport.Maker
	PlainEV  bool // switches use its packets' entropy values unchanged, without hashing
}

// Service returns the service of a name, nil when there is none.
func (c *Config) Service(name string) *Service {
	if i := slices.IndexFunc(c.Services, func(s Service) bool { return s.Name == name }); i >= 0 {
		return &c.Services[i]
	}
	return nil
}

// tos is the type of service of data and ACKs.
func (s *Service) tos() uint8 { return s.DSCP<<2 | fabric.ECT0 }

// acks are the class and the type of service of ACKs.
func (s *Service) acks() (class, tos uint8) {
	if s.AcksFirst {
		return s.CNPClass, s.CNPDSCP << 2
	}
	return s.Class, s.tos()
}

// ServiceOf returns a connection's place in the table of services.
func (h *Hosts) ServiceOf(c int32) int { return int(h.senders[c].service) }

// Service returns the service of a connection.
func (h *Hosts) Service(c int32) *Service { return &h.cfg.Services[h.senders[c].service] }

// dataClasses returns the classes of data of all services.
func (h *Hosts) dataClasses() (mask uint8) {
	for i := range h.cfg.Services {
		mask |= 1 << h.cfg.Services[i].Class
	}
	return mask
}

// SourcePort is the UDP source port of packets whose 5-tuple has a given digest: the digest's low bits.
func SourcePort(hash uint32) uint16 { return entropy.Port(hash, 0) }

// from returns the digest of a packet from one of the source ports.
func from(hash uint32, port int) uint32 {
	return hash&^entropy.Mask | uint32(entropy.Port(hash, port))&entropy.Mask
}

// tuple returns the digest of the next packet from an end of a queue pair: its own or, with several source ports,
// the digest with the next port in turn.
func (h *Hosts) tuple(hash uint32, turn *entropy.Turn) uint32 {
	if h.cfg.SourcePorts < 2 {
		return hash
	}
	return from(hash, turn.Next(h.cfg.SourcePorts))
}

// tupleOf is tuple for a sender's data, whose chooser of source ports receives feedback.
func (h *Hosts) tupleOf(now unit.Time, s *sender, psn uint32) uint32 {
	if h.cfg.SourcePorts < 2 {
		return s.hash
	}
	return from(s.hash, s.paths.Next(now, psn, &s.turn, h.cfg.SourcePorts))
}

// chooser creates a sender's chooser of source ports; nil: ports in turn.
func (h *Hosts) chooser(hash uint32) *entropy.Paths {
	if h.cfg.Choose == nil || h.cfg.SourcePorts < 2 {
		return nil
	}
	return entropy.NewPaths(h.cfg.Choose(h.cfg.SourcePorts, hash))
}
