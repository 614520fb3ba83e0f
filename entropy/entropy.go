// Package entropy varies what a sender may choose of a packet's 5-tuple, its UDP source port, so that
// switches which hash send one queue pair's packets over many paths. Simulated NICs and real sockets
// share it.
package entropy

import "railyard/unit"

// Most is the largest number of source ports of a queue pair: MRC's profiles have 128 to 256 entropy
// values (docs/references.md, mrc).
const Most = 256

// Ports are the dynamic ones from 0xc000 on, as the kernel's RoCE stack uses for RoCEv2.
const (
	first = 0xc000
	Mask  = 1<<14 - 1 // the bits in which they differ
	step  = 7919      // odd, so that no two ports of a queue pair are the same
)

// Port is the source port number i of a queue pair, from a digest of its own.
func Port(digest uint32, i int) uint16 { return first | uint16(digest+uint32(i)*step)&Mask }

// Turn takes a queue pair's source ports in turn, packet by packet, whatever becomes of the packets.
// Which path a port means is the switches' hash.
type Turn struct{ n uint32 }

// Next returns which of so many source ports the next packet leaves from.
func (t *Turn) Next(ports int) int {
	t.n++
	return int(t.n % uint32(ports))
}

// Aside takes a queue pair's source ports in turn as Turn does, and leaves out for a while those by
// which packets were lost: the path behind one may be broken, and routing not know it yet. It
// learns what was lost, by NAK or time-out, in both drivers.
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
