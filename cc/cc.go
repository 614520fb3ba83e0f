// Package cc is congestion control for RDMA senders: one Controller interface,
// one file per algorithm.
//
// Controllers are sans-IO machines: time is an argument, nothing is read or
// sent. After every input the owner (a simulated NIC or a real socket) reads
// Decision and acts on it, so the per-packet path calls no controller at all
// until one of the limits in the Decision is reached.
//
// How the algorithms fit (docs/references.md, Congestion control):
//
//	DCQCN  OnCNP, OnTimer, OnBytes -> Rate
//	Swift  OnAck with Ack.RTT -> Window; below one packet, Rate
//	DCTCP  OnAck with Ack.Marked -> Window
//	TIMELY OnAck with Ack.RTT -> Rate
//	EQDS   grants, in an account (Credit) beside the Window
//	none   nothing -> Rate
//
// A new algorithm is a file with an Algorithm in it, and a line in registry.go.
//
// What both drivers do not tell has no place in the interface. What an acknowledgement carries goes where
// the round trip and the mark went: a field of Ack, filled in Pacer.Acknowledged, which both drivers call.
// What comes in a control packet of its own is taken in host/control.go and rcudp/control.go, and is an
// input of its own, as OnCNP is, or goes to an account that the Pacer keeps, as grants do (Credited).
package cc

import "railyard/unit"

// Decision holds the limits that a controller currently sets. The limits hold until the next input, so that the
// caller keeps a copy.
//
// A window below one packet is a Window of one full packet's payload and a Rate that lets one go so
// often as the window says: nothing less can be in flight, and a round trip is too short to wait.
type Decision struct {
	Rate    unit.Rate  // pace of the sender, wire bits per second; above zero, at most the line rate
	Window  unit.Bytes // most payload bytes in flight, at least a full packet's; zero means no window
	TimerAt unit.Time  // call OnTimer then; unit.Never for no timer
	Budget  unit.Bytes // call OnBytes each time so much was sent; zero means never
	Cycle   uint32     // counting towards Budget starts over when this changes
}

// Ack is the content of an acknowledgement for a controller, which must not keep it.
type Ack struct {
	Bytes    unit.Bytes // payload newly acknowledged
	InFlight unit.Bytes
	RTT      unit.Time // of the packet that it answers; zero: not measured (clock.go)

	// Marked: a packet that the receiver has taken since its last answer came in marked, congestion
	// experienced. With an answer to every packet (Asker) it is the packet that this one answers. Receivers
	// echo marks in BECN, the bit of an acknowledgement that IBTA has for them; simulated ones only for an
	// Algorithm with Marks.
	Marked bool

	// Far is the time that the far NIC keeps a packet that arrives now from its memory, or on sockets how long the
	// far process has kept this one, by MRC also ours the answer, which is then part of the RTT: FarWithin.
	// Hops is how many switches the acknowledgement has passed, by its TTL. All are zero for an Algorithm
	// without FarEnd.
	Far       unit.Time
	FarWithin bool
	Hops      int

	// Telemetry is the content that switches wrote into the packet that this answers, valid during the call; nil
	// for an Algorithm without Telemetry.
	Telemetry *Telemetry
}

// Loss says how a packet was found missing.
type Loss uint8

// Kinds of loss.
const (
	LossNak     Loss = iota // sequence error NAK
	LossTimeout             // local ACK timeout

	// A switch cut the packet to its headers, and its receiver said so at once; Last: at the port to it, as
	// far as switches tell that apart.
	LossTrimmed
	LossTrimmedLast
)

// Liner is a Controller with a rate of its own that rises to its port's. It is told when that changes;
// what others decide is cut off at the port's rate.
type Liner interface {
	OnLine(now unit.Time, line unit.Rate)
}

// Limited is a Controller, or a transport's sender, that never allows more in flight than so many payload bytes,
// whatever its path is like.
type Limited interface{ MostInFlight() unit.Bytes }

// Asker is a Controller that wants packets to ask for an acknowledgement more often than its window needs
// and the transport does: every so many packets, 1 for all. It is asked once.
type Asker interface {
	AsksEvery() int
}

// Controller is one sender's congestion control. Its inputs come in the order of time, the timer before
// what else happens then. None allocates memory.
type Controller interface {
	OnCNP(now unit.Time)                    // a congestion notification arrived
	OnAck(now unit.Time, a *Ack)            // an acknowledgement moved the window
	OnLoss(now unit.Time, l Loss)           // a packet was lost
	OnBytes(now unit.Time, sent unit.Bytes) // the Budget was used up
	OnTimer(now unit.Time)                  // TimerAt was reached
	Decision() Decision                     // what is allowed from now on
	WantsAcks() bool                        // false, for good: OnAck need not be called, there is no window

	// Signal and Counter report what the Algorithm lists, by name; 0 and false for any other name.
	Signal(now unit.Time, name string) (value float64, ok bool)
	Counter(name string) (n int64, ok bool)
}
