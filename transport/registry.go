package transport

import (
	"railyard/cc"
	"railyard/param"
	"railyard/unit"
)

// Protocol describes a transport to the rest of the program. It stands in the protocol's
// own package; scenarios, the simulator and the sockets find it by its name in a List.
type Protocol struct {
	Name     string // in a scenario: transport
	Title    string // in sentences
	Words    string // what it is, for a report's head
	Params   []param.Param
	Defaults param.Values
	Signals  []cc.Term
	Counters []cc.Term
	Needs    cc.Needs // of what its packets meet, as congestion controls say it
	Ordered  bool     // messages arrive and complete in the order in which they were posted
	Lossy    bool     // it finds its rate by drops and marks: no lossless class carries it
	// Free are the values with which hosts take no time for it; nil: it is in NICs, and takes none anyway.
	Free param.Values
	// Hosts returns the payload rate of a connection that hosts alone limit, and what they take for a message beside;
	// nil: as for Free.
	Hosts func(v param.Values, c Common) (rate unit.Rate, each unit.Time)

	CC       string   // the congestion control that it runs where none is named; "" for one of its own
	Controls []string // those that it can run; nil: none but its own

	// Profile is the parameter that says how many entropy values a NIC has, which can be given
	// (Common.EVs); "": none can.
	Profile string

	// Check finds values that cannot be together: one of them and what is wrong with it, or nothing; nil
	// where any can.
	Check func(v param.Values, c Common) (param, fault string)
	// Wire encodes its packets for sockets; nil where it is simulated only.
	Wire Wire
	// New returns a maker of ends that share the values.
	New func(v param.Values, c Common) Maker
}

// Names of counters that the simulator has a place for, whatever the protocol. An End reports those that it
// has; they need no line in Protocol.Counters unless reports should list them as well.
const (
	CounterTimeouts   = "timeouts"   // of a sender: packets, or windows, that it gave up waiting for
	CounterReordered  = "reordered"  // of a receiver: data packets ahead of one that had not come
	CounterDuplicates = "duplicates" // of a receiver: data packets that it had
	CounterHeldPeak   = "held peak"  // of a receiver: most packets beyond the first gap at a time
	CounterPlaced     = "placed"     // of a receiver: payload bytes in memory
)

// Common holds the settings that all connections of a run share, whatever their transport.
type Common struct {
	MTU    unit.Bytes // payload of a full packet
	Planes int        // ports of a NIC, each to its own plane of switches; 1 where there is one way in
	IPv6   bool
	CC     cc.Make // nil: the protocol's own
	// EVs are the entropy values to take, their planes in turn; nil: a protocol that has such draws its own.
	EVs []uint32
}

// Maker makes ends.
type Maker interface {
	// Peer makes the state that a NIC keeps for one far NIC, over all its connections to it: congestion control and
	// what is known of paths, where a protocol shares them. seed is for what is random about it. The path's line
	// rate is that of all planes together, its round trip that of a full packet and an answer (see Wire).
	Peer(path cc.Path, seed uint64) Peer
	// Receiver makes the far end of a connection.
	Receiver(path cc.Path, seed uint64) Receiver
	// Wire returns the length of a packet's frame, with Ethernet's header and FCS, without preamble and gap:
	// by its kind, payload and flags.
	Wire(p *Packet) int
	// State returns the bytes that a NIC keeps for a connection and for a peer, for tables of costs.
	State() (connection, peer int)
}

// Hosted is a Maker whose ends take cores of the host that they are at.
type Hosted interface {
	// At returns a maker of ends at a host.
	At(h *Host) Maker
}

// Peer makes senders that share what it knows.
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
