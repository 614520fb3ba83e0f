package transport

import "railyard/roce"

// Speller is a Maker that knows what its packets are on the wire, so that captures can show them.
type Speller interface {
	// Spell writes a packet's headers, from the BTH on, into a frame: from and to are the queue pairs of its
	// sender and of whom it is for. It leaves addresses and payload alone, but for IP.Version where it is 6,
	// and returns how many bytes of payload follow.
	Spell(p *Packet, f *roce.Frame, from, to uint32) (payload int)
}
