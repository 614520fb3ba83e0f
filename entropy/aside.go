package entropy

// Aside takes a queue pair's source ports in turn as Turn does, and leaves out for a while those by
// which packets were lost: the path behind one may be broken, and routing not know it yet. It
// hears of what was lost, by NAK or time-out, in both drivers.
type Aside struct {
	turn  Turn
	rest  uint32   // packets that a port is left out for
	sent  uint32   // packets so far
	until []uint32 // by port: it is left out before so many packets were sent
	by    []uint8  // by PSN, in a ring: the port that a packet left from last
}

// remembered is how many packets may be under way for their ports to be known.
const remembered = 1 << 12

// NewAside returns a chooser among so many ports that leaves one out for so many packets; nil, which
// is no chooser, where there is nothing to choose or nothing is to be left out.
func NewAside(ports, packets int) *Aside {
	if ports < 2 || packets < 1 {
		return nil
	}
	return &Aside{rest: uint32(packets), until: make([]uint32, ports), by: make([]uint8, remembered)}
}

// Next returns which port packet psn leaves from: the next one that is not left out, or just the next
// where all are.
func (a *Aside) Next(psn uint32) int {
	a.sent++
	i := 0
	for range a.until {
		if i = a.turn.Next(len(a.until)); int32(a.until[i]-a.sent) <= 0 {
			break
		}
	}
	a.by[psn%remembered] = uint8(i)
	return i
}

// Lost leaves out the port from which packet psn left.
func (a *Aside) Lost(psn uint32) {
	if a != nil {
		a.until[a.by[psn%remembered]] = a.sent + a.rest
	}
}
