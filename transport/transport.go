// Package transport defines the common part of transports other than RoCEv2's reliable connection (package rc).
// These protocols spread one connection over many paths and place packets on arrival. MRC, SRD and Falcon are such
// transports. Each is a package with a Protocol, which programs pass in a List (registry.go).
//
// Ends of connections are state machines without I/O, like rc's queue pairs: time is an argument, and nothing is
// read or sent. A driver (a simulated NIC, a real socket) requests the next packet from a Sender whenever a plane
// is free. It passes to each End its received packets, its timer events and changes of planes. No end allocates
// memory per packet, and none reads the other's state. They interact only by packets. Packets are given to Next and
// Say empty, all fields zero.
package transport

import (
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Kind is the purpose of a packet.
type Kind uint8

// Kinds of packets.
const (
	Data    Kind = iota // payload for the receiver's memory
	Ack                 // an answer: the received packets
	Nack                // an answer: one packet that has not arrived, and the reason (Code)
	Probe               // a question: whether a path works, whether a packet has arrived
	Answer              // to a Probe
	Control             // fields of control packets of one protocol, such as port status
)

// String returns the name in sentences.
func (k Kind) String() string { return kinds[k] }

var kinds = [...]string{"data", "ACK", "NACK", "probe", "answer", "control"}

// Flags of a packet.
type Flags uint8

// Flags of a packet.
const (
	Again Flags = 1 << iota // a retransmission
	Asks                    // the packet requests an immediate answer
	Last                    // the packet ends its message
	// the packet was received with congestion experienced; for an answer: the packet that it answers was
	Marked
	Trimmed // a switch has removed its payload
	LastHop // with Trimmed: trimmed at the port to its receiver, if switches distinguish that
	Stamped // Sent is on the wire; without it only the simulator has it
	Tells   // with Last: the receiver's program is notified, as by a WRITE with immediate
)

// Packet is a message between two ends: headers as values, one form for all protocols. Each protocol sets the
// fields that it uses. Its codec or its header sizes (Maker.Wire) define their form on the wire. It holds no
// pointer.
type Packet struct {
	Kind    Kind
	Flags   Flags
	Plane   uint8  // plane by which it is sent or was received
	Verdict uint8  // for an answer: state of the path named by EchoEV, in the protocol's own numbers
	Code    uint8  // code of a Nack: its reason
	Penalty uint8  // for an answer: reduction that the receiver requests
	EV      uint32 // entropy value: the path of the packet, if the protocol distinguishes paths
	PSN     uint32 // sequence number of data, or of the data that an answer or a probe refers to
	Message uint32 // number of the message, from 0 as they were posted
	Payload uint32 // bytes; for a trimmed packet the bytes that it had
	Offset  uint64 // position of the data in their message
	Bytes   uint64 // bytes of the message; for an answer: payload received so far
	Sent    unit.Time
	Delay   unit.Time // for an answer: the receiver's delay

	// Fields of answers and of control packets; zero in data.
	Expect uint32    // all PSNs before it have arrived
	Base   uint32    // PSN of the lowest bit of
	Bits   [2]uint64 // packets received beyond PSN, a bit each
	EchoEV uint32    // entropy value of the packet that the answer refers to
	Late   uint32    // packets out of order so far

	// Time from the packet's arrival at its NIC to Take, if the end is a process that waits for a processor and the
	// kernel reports arrivals; zero: none, or unknown.
	Waited unit.Time
}

// Request asks a Sender to carry one message.
type Request struct {
	ID    uint64 // identifier of its completion; 0: none
	Bytes int64
	Tells bool // the receiver's program is notified: a WRITE with immediate
}

// Completion reports that a message is acknowledged, or why it never will be.
type Completion struct {
	ID     uint64
	Status rc.Status
}

// Held is the time for which a sender had data to send while its port was free, by reason: pace, window, credit.
type Held struct{ Pace, Window, Credit unit.Time }

// Core is a processor core. Ends of software transports use it one after another.
type Core struct {
	Free unit.Time // time at which all of its work is done
	Ends int       // ends that use it
}

// Work occupies a core for a duration, from a time on or once it is free. It returns the time of completion.
func (c *Core) Work(from, cost unit.Time) unit.Time {
	c.Free = max(c.Free, from) + cost
	return c.Free
}

// Host is the state that the ends of a host share, for all services; the zero value is a host without ends.
type Host struct {
	cores []*Core
	next  int
}

// Core returns the next core in turn; ends of a nil host have one core each.
func (h *Host) Core(of int) *Core {
	if h == nil {
		return &Core{Ends: 1}
	}
	for len(h.cores) < of {
		h.cores = append(h.cores, &Core{})
	}
	c := h.cores[h.next%of]
	h.next++
	c.Ends++
	return c
}

// End is one end of a connection.
type End interface {
	// Take processes a packet for the end. It reports whether its payload must be written to memory, at Message and
	// Offset, because a receiver has it for the first time. The packet must not be kept.
	Take(now unit.Time, p *Packet) (place bool)
	// Say builds the next control packet to send now; false: there is none. It is called after Take, Tick and
	// PlaneIs until it returns false.
	Say(now unit.Time, p *Packet) bool
	// At returns the time of the next Tick; unit.Never for not at all. It may change with every call. An idle end
	// without arrivals must reach Never: it does not probe paths forever.
	At() unit.Time
	Tick(now unit.Time)
	// PlaneIs sets whether the NIC's own port to a plane works: its link is up or down.
	PlaneIs(now unit.Time, plane int, up bool)
	// Touch prefetches what Take of a future packet will read beyond the end itself or, for nil, what Next will
	// (package cache). It is called twice: with soon, memory that the first call prefetched can be read. It changes
	// no state, and the packet may be arbitrary.
	Touch(p *Packet, soon bool)
	// Counter returns a counter from the Protocol's list, by name; false for any other name.
	Counter(name string) (n int64, ok bool)
}

// Closer is an End that gives back memory.
type Closer interface {
	// Close reports that all messages have arrived or, for a Sender, are acknowledged, and that no other follows.
	// Later arrivals are copies of packets, and their answers.
	Close()
}

// Sender is the end that has messages to send.
type Sender interface {
	End
	Post(now unit.Time, r Request) error
	// Ready reports whether Next would make a packet for a plane. If not, a later Take, Tick, Post or PlaneIs of
	// any sender of its Peer may change that.
	Ready(now unit.Time, plane int) bool
	// Next builds the data packet to send now on a plane; false: none may be sent.
	Next(now unit.Time, plane int, p *Packet) bool
	// Pending reports whether there are data to send, now or later, except acknowledged ones.
	Pending() bool
	// Completed pops a completion. After one without success the sender is dead. Other posted messages end with
	// Flushed, and Post rejects more.
	Completed() (c Completion, ok bool)
	Held(now unit.Time) Held
	InFlight() unit.Bytes
	// Signal returns a signal from the Protocol's list, by name, as a congestion control does.
	Signal(now unit.Time, name string) (value float64, ok bool)
}

// Receiver is the end that has the memory.
type Receiver interface {
	End
	// Arrived pops the number of a message that is in memory as a whole.
	Arrived() (message uint32, ok bool)
}

// Speller is a Maker that encodes its packets in their wire format, so that captures can show them.
type Speller interface {
	// Spell writes a packet's headers, from the BTH on, into a frame. from and to are the queue pairs of its sender
	// and its receiver. It leaves addresses and payload unchanged, except IP.Version if that is 6, and returns the
	// number of payload bytes that follow.
	Spell(p *Packet, f *roce.Frame, from, to uint32) (payload int)
}
