package transport

import (
	"railyard/cc"
	"railyard/param"
	"railyard/unit"
)

// Protocol describes a transport to the rest of the program. Each entry is defined in the protocol's own package;
// scenarios, the simulator and the sockets find it by name in a List.
type Protocol struct {
	Name     string // in a scenario: transport
	Title    string // in sentences
	Words    string // description for a report's head
	Params   []param.Param
	Defaults param.Values
	Signals  []cc.Term
	Counters []cc.Term
	Needs    cc.Needs // required features of switches and NICs, as for congestion controls
	Ordered  bool     // messages arrive and complete in the order in which they were posted
	Lossy    bool     // whether it derives its rate from drops and marks and uses no lossless class
	// Free are the parameter values with which hosts take no time for it. nil: it runs in NICs, which take none.
	Free param.Values
	// Hosts returns the payload rate of a connection that only the hosts limit, and the hosts' time per message; nil:
	// as for Free.
	Hosts func(v param.Values, c Common) (rate unit.Rate, each unit.Time)

	CC       string   // default congestion control; "" for the transport's own
	Controls []string // congestion controls that it supports; nil: only its own

	// Profile is the name of the parameter for a NIC's number of entropy values, which can be configured (Common.EVs);
	// "": not configurable.
	Profile string

	// Check finds values that exclude each other. It returns the parameter at fault and the error, or two empty
	// strings; nil: all combinations are valid.
	Check func(v param.Values, c Common) (param, fault string)
	// Refers returns how a packet refers to the data packet of a PSN; nil: as the function Refers.
	Refers func(p *Packet, psn uint32) Reference
	// Wire encodes the packets for sockets; nil if the transport is only simulated.
	Wire Wire
	// New returns a maker of ends that share the values.
	New func(v param.Values, c Common) Maker
}

// Names of counters that the simulator stores for every protocol. An End reports its counters. They need a line in
// Protocol.Counters only if reports should list them.
const (
	CounterTimeouts   = "timeouts"   // of a sender: packets, or windows, that timed out
	CounterReordered  = "reordered"  // of a receiver: data packets that overtook a missing one
	CounterDuplicates = "duplicates" // of a receiver: data packets that arrived twice
	CounterHeldPeak   = "held peak"  // of a receiver: most packets stored after the first gap at one time
	CounterPlaced     = "placed"     // of a receiver: payload bytes written to memory
)

// Common holds the settings that all connections of a run share, with any transport.
type Common struct {
	MTU    unit.Bytes // payload of a full packet
	Planes int        // ports of a NIC, each on its own plane of switches; 1 for a single network
	IPv6   bool
	CC     cc.Make // nil: the protocol's own
	// EVs are the entropy values to use, their planes in turn. nil: a protocol with entropy values draws its own.
	EVs []uint32
}

// Maker makes ends.
type Maker interface {
	// Peer returns a NIC's state per far NIC, over all connections to it: congestion control and knowledge of
	// paths, if a protocol shares them. seed initializes its random numbers. The path's line rate is the sum over
	// all planes. Its round trip is that of a full packet and an answer (see Wire).
	Peer(path cc.Path, seed uint64) Peer
	// Receiver makes the far end of a connection.
	Receiver(path cc.Path, seed uint64) Receiver
	// Wire returns the length of a packet's frame, with Ethernet's header and FCS, without preamble and gap:
	// by its kind, payload and flags.
	Wire(p *Packet) int
	// State returns the bytes that a NIC keeps for a connection and for a peer, for tables of costs.
	State() (connection, peer int)
}

// Hosted is a Maker whose ends use cores of their host.
type Hosted interface {
	// At returns a maker of ends at a host.
	At(h *Host) Maker
}

// Peer creates senders that share its state.
type Peer interface {
	Sender(seed uint64) Sender
}

// List is a registry: the protocols that a program has.
type List []*Protocol

// Lookup returns a protocol, nil when there is none of that name.
func (l List) Lookup(name string) *Protocol {
	for _, p := range l {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Names lists them.
func (l List) Names() (names []string) {
	for _, p := range l {
		names = append(names, p.Name)
	}
	return names
}
