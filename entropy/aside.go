package entropy

import "railyard/unit"

// Aside takes a queue pair's source ports in turn as Turn does, and leaves out for a while those by
// which packets were lost: the path behind one may be broken, and routing not know it yet. It
// hears of what was lost, by NAK or time-out, in both drivers.
type Aside struct {
	turn  Turn
	rest  uint32   // packets that a port is left out for
	sent  uint32   // packets so far
	until []uint32 // by port: it is left out before so many packets were sent
}

// NewAside returns a chooser among so many ports that leaves one out for so many packets; nil, which
// is no chooser, where there is nothing to choose or nothing is to be left out.
func NewAside(ports, packets int) *Aside {
	if ports < 2 || packets < 1 {
		return nil
	}
	return &Aside{rest: uint32(packets), until: make([]uint32, ports)}
}

// Next returns the next port that is not left out, or just the next where all are.
func (a *Aside) Next(unit.Time) int {
	a.sent++
	i := 0
	for range a.until {
		if i = a.turn.Next(len(a.until)); int32(a.until[i]-a.sent) <= 0 {
			break
		}
	}
	return i
}

// Heard leaves out the port by which a packet was lost.
func (a *Aside) Heard(_ unit.Time, port int, f Feedback) {
	if f == Missing || f == TimedOut {
		a.until[port] = a.sent + a.rest
	}
}
