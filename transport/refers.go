package transport

import "railyard/roce"

// Reference is the relation of an answer to a data packet.
type Reference uint8

// References. None: the answer does not report the packet.
const (
	None   Reference = iota
	Covers           // the answer reports its arrival, among others
	Names            // the answer names this packet: its arrival or, for a Nack, that it must be retransmitted
)

// Refers returns how a packet refers to the data packet of a PSN, by the fields that Packet describes. A Nack
// refers to its PSN; an Ack refers to all before Expect and to its Bits. Protocol.Refers replaces it.
func Refers(p *Packet, psn uint32) Reference {
	at := roce.PSNDiff(psn, p.Base)
	switch {
	case p.Kind == Nack && roce.PSNDiff(psn, p.PSN) == 0:
		return Names
	case p.Kind != Ack:
		return None
	case roce.PSNDiff(psn, p.Expect) < 0, at >= 0 && at < 128 && p.Bits[at/64]>>(at%64)&1 != 0:
		return Covers
	}
	return None
}

// RefersByName is Refers where an Ack has the PSN of the packet that it answers.
func RefersByName(p *Packet, psn uint32) Reference {
	if p.Kind == Ack && roce.PSNDiff(psn, p.PSN) == 0 {
		return Names
	}
	return Refers(p, psn)
}
