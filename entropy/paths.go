package entropy

import "railyard/unit"

// Feedback is the outcome of a packet.
type Feedback uint8

// Feedback on a packet by an acknowledgement, a NAK or a time-out.
const (
	Arrived  Feedback = iota // not marked
	Marked                   // arrived with a congestion mark
	Trimmed                  // a switch trimmed it to its headers: the path works and is congested
	Missing                  // reported lost by a NAK
	TimedOut                 // its ACK timeout expired
)

// Chooser picks one sender's source ports, packet by packet. Its inputs are in order of time; its methods allocate
// no memory.
type Chooser interface {
	// Next returns which source port the next packet leaves from.
	Next(now unit.Time) int
	// Heard processes the feedback on a packet that left from a port.
	Heard(now unit.Time, port int, f Feedback)
}

// Paths is a sender's chooser that also stores the port of each packet in flight. Both drivers report feedback by PSN.
type Paths struct {
	chooser Chooser
	by      []uint8 // by PSN, in a ring: port of each packet's last transmission
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

// Next returns the source port of packet psn, from 0 to n-1; without a chooser ports are used in turn.
func (p *Paths) Next(now unit.Time, psn uint32, turn *Turn, ports int) int {
	if p == nil {
		return turn.Next(ports)
	}
	i := p.chooser.Next(now)
	p.by[psn%remembered] = uint8(i)
	return i
}

// Heard processes the feedback on packet psn.
func (p *Paths) Heard(now unit.Time, psn uint32, f Feedback) {
	if p != nil {
		p.chooser.Heard(now, int(p.by[psn%remembered]), f)
	}
}

// Answer is an acknowledgement or a NAK as package rc decodes it: its packet, and the run of packets that it
// reports missing.
type Answer interface {
	About() (psn uint32, ok bool)
	Missing() (first uint32, n int)
}

// Answered processes the packet that an acknowledgement is about.
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

// Lost processes the packets that a NAK reports missing.
func (p *Paths) Lost(now unit.Time, a Answer, f Feedback) {
	if p == nil {
		return
	}
	first, n := a.Missing()
	for i := range n {
		p.Heard(now, first+uint32(i), f) // remembered divides the number of all PSNs, so PSNs need no mask
	}
}
