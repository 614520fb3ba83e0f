// Package entropy varies what a sender may choose of a packet's 5-tuple, its UDP source port, so that
// switches which hash send one queue pair's packets over many paths. Simulated NICs and real sockets
// share it.
package entropy

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
