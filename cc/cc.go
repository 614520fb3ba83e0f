// Package cc is congestion control for RDMA senders: one Controller interface,
// one file per algorithm.
//
// Controllers are sans-IO machines: time is an argument, nothing is read or
// sent. After every input the owner (a simulated NIC or a real socket) reads
// Decision and acts on it, so the per-packet path calls no controller at all
// until one of the limits in the Decision is reached.
//
// How the algorithms of HANDBOOK.md sections 2 to 8 fit:
//
//	DCQCN        OnCNP, OnTimer, OnBytes -> Rate
//	HPCC         OnAck with Ack.Hops (telemetry per hop) -> Window and Rate
//	Swift        OnAck with Ack.RTT and Ack.HopCount -> Window; below one packet, Rate
//	EQDS, RCCC   OnCredit -> Window grows by the credit; the receiver's pacer is a
//	             Granter, driven by the receiving NIC
//	NSCC, REPS   OnAck with Ack.RTT, Ack.ECN and Ack.Entropy -> Window; a sender that
//	             keeps state per path also implements PathChooser
//	trimming     OnLoss with LossTrim
package cc

import "railyard/unit"

// Decision is what a controller currently allows.
type Decision struct {
	Rate    unit.Rate  // pace of the sender, wire bits per second
	Window  unit.Bytes // most payload bytes in flight; zero means no window
	TimerAt unit.Time  // call OnTimer then; unit.Never for no timer
	Budget  unit.Bytes // call OnBytes each time so much was sent; zero means never
	Cycle   uint32     // counting towards Budget starts over when this changes
}

// Hop is what one switch wrote into a packet that collects telemetry.
type Hop struct {
	Time    unit.Time
	TxBytes unit.Bytes
	Queue   unit.Bytes
	Rate    unit.Rate
}

// Ack is what an acknowledgement tells a controller.
type Ack struct {
	Bytes    unit.Bytes // payload newly acknowledged
	InFlight unit.Bytes
	RTT      unit.Time // zero when not measured
	HopCount int
	ECN      bool   // the acknowledged packet was marked
	Entropy  uint32 // path the acknowledged packet took
	Hops     []Hop  // nil without telemetry
}

// Loss says how a packet was found missing.
type Loss uint8

// Kinds of loss.
const (
	LossNak     Loss = iota // sequence error NAK
	LossTimeout             // local ACK timeout
	LossTrim                // the payload was trimmed by a switch
)

// Controller is one sender's congestion control.
type Controller interface {
	OnCNP(now unit.Time)                    // a congestion notification arrived
	OnAck(now unit.Time, a *Ack)            // an acknowledgement moved the window
	OnLoss(now unit.Time, l Loss)           // a packet was lost
	OnCredit(now unit.Time, b unit.Bytes)   // the receiver granted b bytes
	OnBytes(now unit.Time, sent unit.Bytes) // the Budget was used up
	OnTimer(now unit.Time)                  // TimerAt was reached
	Decision() Decision                     // what is allowed from now on
	WantsAcks() bool                        // false: OnAck need not be called

	// Signal and Counter report what the Algorithm lists, by name; false for any other name.
	Signal(now unit.Time, name string) (value float64, ok bool)
	Counter(name string) (n int64, ok bool)
}

// PathChooser is implemented by controllers that pick the entropy (UDP source
// port) of each packet themselves.
type PathChooser interface {
	NextEntropy(now unit.Time) uint32
}

// Granter is the receiver's half of credit-based control: it is told of demand
// and answers whom to grant how much, and when to ask again.
type Granter interface {
	OnDemand(now unit.Time, flow int32, backlog unit.Bytes)
	Grant(now unit.Time) (flow int32, credit unit.Bytes, next unit.Time)
}
