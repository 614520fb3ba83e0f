package entropy

import "railyard/unit"

// Feedback is the outcome of a packet.
type Feedback uint8

// What an acknowledgement, a NAK or a time-out tells of a packet.
const (
	Arrived  Feedback = iota // not marked
	Marked                   // it arrived, congestion experienced
	Trimmed                  // a switch on the way cut it to its headers: the way is whole, and full
	Missing                  // lost, as a NAK says
	TimedOut                 // the ACK timeout ran out over it
)

// Chooser picks one sender's source ports, packet by packet. Its inputs come in the order of time; none
// allocates memory.
type Chooser interface {
	// Next returns which source port the next packet leaves from.
	Next(now unit.Time) int
	// Heard takes what became of a packet that left from a port.
	Heard(now unit.Time, port int, f Feedback)
}

// Paths is a sender's chooser with the memory of which packet left from which port. Both drivers tell it by
// PSN what they hear.
type Paths struct {
	chooser Chooser
	by      []uint8 // by PSN, in a ring: the port that a packet left from last
}

// remembered is the number of packets in flight whose ports are remembered.
const remembered = 1 << 12

// NewPaths returns the chooser with a memory; nil, which is no chooser, for none.
func NewPaths(c Chooser) *Paths {
	if c == nil {
		return nil
	}
	return &Paths{chooser: c, by: make([]uint8, remembered)}
}

// Next returns which of so many ports packet psn leaves from; without a chooser they are taken in turn.
func (p *Paths) Next(now unit.Time, psn uint32, turn *Turn, ports int) int {
	if p == nil {
		return turn.Next(ports)
	}
	i := p.chooser.Next(now)
	p.by[psn%remembered] = uint8(i)
	return i
}

// Heard tells what became of packet psn.
func (p *Paths) Heard(now unit.Time, psn uint32, f Feedback) {
	if p != nil {
		p.chooser.Heard(now, int(p.by[psn%remembered]), f)
	}
}

// Answer is an acknowledgement or a NAK, as package rc reads it: which packet it is about, and which it
// says are missing, so many from one on.
type Answer interface {
	About() (psn uint32, ok bool)
	Missing() (first uint32, n int)
}

// Answered tells of the packet that an acknowledgement is about.
func (p *Paths) Answered(now unit.Time, a Answer, marked bool) {
	if p == nil {
		return
	}
	f := Arrived
	if marked {
		f = Marked
	}
	if psn, ok := a.About(); ok {
		p.Heard(now, psn, f)
	}
}

// Lost tells what became of the packets that a NAK says are missing.
func (p *Paths) Lost(now unit.Time, a Answer, f Feedback) {
	if p == nil {
		return
	}
	first, n := a.Missing()
	for i := range n {
		p.Heard(now, first+uint32(i), f) // remembered divides all PSNs: none needs to be cut to its bits
	}
}
