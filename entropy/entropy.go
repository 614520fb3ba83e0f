// Package entropy varies the UDP source port of packets, the part of the 5-tuple that a sender can choose. Hashing
// switches then spread one queue pair's packets over many paths. Simulated NICs and real sockets share it.
package entropy

import "railyard/unit"

// Most is the largest number of source ports of a queue pair: MRC's profiles have 128 to 256 entropy
// values (docs/references.md, mrc).
const Most = 256

// Ports are the dynamic ones from 0xc000 on, as the kernel's RoCE stack uses for RoCEv2.
const (
	first = 0xc000
	Mask  = 1<<14 - 1 // the bits in which they differ
	step  = 7919      // odd, so the ports of a queue pair differ
)

// Port is the source port number i of a queue pair, from a digest of its own.
func Port(digest uint32, i int) uint16 { return first | uint16(digest+uint32(i)*step)&Mask }

// Turn uses a queue pair's source ports in turn, packet by packet, whatever happens to the packets. Which path a
// port means is the switches' hash.
type Turn struct{ n uint32 }

// Next returns the source port of the next packet, from 0 to n-1.
func (t *Turn) Next(ports int) int {
	t.n++
	return int(t.n % uint32(ports))
}

// Aside uses a queue pair's source ports in turn as Turn does, and skips the ports of lost packets for some time.
// The path of such a port may have failed before routing has converged. Both drivers report losses to it, found by
// NAK or time-out.
type Aside struct {
	turn  Turn
	rest  uint32   // packets that a port is left out for
	sent  uint32   // packets so far
	until []uint32 // by port: the number of sent packets until which it is skipped
}

// NewAside returns a chooser among n ports that skips a port for a number of packets. It returns nil, for no
// chooser, if there is one port or the number is 0.
func NewAside(ports, packets int) *Aside {
	if ports < 2 || packets < 1 {
		return nil
	}
	return &Aside{rest: uint32(packets), until: make([]uint32, ports)}
}

// Next returns the next port that is not skipped, or simply the next if all are.
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

// Heard skips the port of a lost packet.
func (a *Aside) Heard(_ unit.Time, port int, f Feedback) {
	if f == Missing || f == TimedOut {
		a.until[port] = a.sent + a.rest
	}
}
