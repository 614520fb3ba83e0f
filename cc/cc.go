// Package cc is congestion control for RDMA senders: one Controller interface,
// one file per algorithm.
//
// Controllers do no input or output: time is an argument, and they read and send nothing. After every input the
// owner (a simulated NIC or a real socket) reads Decision and acts on it. The per-packet path thus calls no
// controller until one of the limits in the Decision is reached.
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
// The interface has no field for information that one of the drivers lacks. Information that an acknowledgement
// carries is a field of Ack, as round trip and mark are. Pacer.Acknowledged, which both drivers call, fills it in.
// A control packet of its own is decoded in host/control.go and rcudp/control.go. A signal is a method of its own,
// such as OnCNP, or updates an account of the Pacer, as grants do (Credited).
package cc

import "railyard/unit"

// Decision holds the limits that a controller currently sets. The limits hold until the next input, so the caller
// keeps a copy.
//
// A window below one packet is expressed by two fields: Window is the payload of one full packet, and Rate is one
// packet per fraction of the window.
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
	RTT      unit.Time // round trip of the acknowledged packet; zero: not measured (clock.go)

	// Marked: a packet received since the receiver's last answer had a congestion mark. If every packet is
	// acknowledged (Asker), it is the acknowledged packet. Receivers echo marks in BECN, IBTA's bit for them in an
	// acknowledgement. Simulated receivers do so only for an Algorithm with Marks.
	Marked bool

	// Far is the time from a packet's arrival until the far NIC writes it to memory. On sockets it is the
	// processing time of the far process. With MRC it also includes the delay of the acknowledgement in the near
	// host, which is part of the RTT: FarWithin. Hops is the number of switches that the acknowledgement passed,
	// computed from its TTL. All are zero for an Algorithm without FarEnd.
	Far       unit.Time
	FarWithin bool
	Hops      int

	// Telemetry is what switches wrote into the acknowledged packet. It is valid during the call, and nil for an
	// Algorithm without Telemetry.
	Telemetry *Telemetry
}

// Loss is the evidence by which a packet was found missing.
type Loss uint8

// Kinds of loss.
const (
	LossNak     Loss = iota // sequence error NAK
	LossTimeout             // local ACK timeout

	// A switch trimmed the packet to its headers, and the receiver reported it immediately. Last: the trimming
	// switch port leads to the receiver, if switches mark that.
	LossTrimmed
	LossTrimmedLast
)

// Liner is a Controller with a rate of its own, which rises to the rate of its port. OnLine is called when that
// changes; rates above the port's rate are limited to it.
type Liner interface {
	OnLine(now unit.Time, line unit.Rate)
}

// Limited is a Controller, or a transport's sender, whose payload in flight never exceeds a fixed number of bytes, on
// any path.
type Limited interface{ MostInFlight() unit.Bytes }

// Asker is a Controller that needs more acknowledgements than its window and the transport request: for one in
// every N packets, 1 for all. Its value is read once.
type Asker interface {
	AsksEvery() int
}

// Flight is a Controller that reads the payload in flight when a packet is lost. The lost packet counts as in
// flight. OnFlight comes before OnLoss.
type Flight interface {
	OnFlight(inFlight unit.Bytes)
}

// Controller is one sender's congestion control. Inputs are in order of time; at equal times the timer is first.
// None allocates memory.
type Controller interface {
	OnCNP(now unit.Time)                    // a congestion notification arrived
	OnAck(now unit.Time, a *Ack)            // an acknowledgement moved the window
	OnLoss(now unit.Time, l Loss)           // a packet was lost
	OnBytes(now unit.Time, sent unit.Bytes) // the Budget was used up
	OnTimer(now unit.Time)                  // TimerAt was reached
	Decision() Decision                     // the decision in force from now on
	WantsAcks() bool                        // false, for good: OnAck need not be called, there is no window

	// Signal and Counter report what the Algorithm lists, by name; 0 and false for any other name.
	Signal(now unit.Time, name string) (value float64, ok bool)
	Counter(name string) (n int64, ok bool)
}
