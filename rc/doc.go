// Package rc is the reliable connection of InfiniBand and RoCEv2 without input and output: no clock, no socket, no
// goroutine. The simulator and the real socket drive the very same code.
//
// A QP is both the requester and the responder of one end. The requester turns posted work requests into packets
// (Next), and processes acknowledgements (Acknowledged) and time-outs (Timeout). The responder processes request
// packets (Data) and returns immediate answers; NextResponse returns READ data and the answers queued after it.
//
// A packet is its decoded headers. Where real bytes are moved, it also has a slice of them (Packet.Data), of the
// posted buffer or of a registered region. The simulator registers regions without bytes and moves lengths only.
// Checks of keys, ranges and lengths are all here, for every driver.
//
// # Sequence numbers
//
// On the wire a PSN has 24 bits. Inside, sequence numbers have 64 and are
// extended against the neighbourhood (roce.Extend), so nothing wraps.
//
// # Recovery
//
// GoBackN follows IBTA 9.7. The responder answers the first packet of a gap with one NAK that carries the expected
// PSN, and drops packets until that PSN arrives. The requester restarts from there. Selective stores out-of-order
// packets in a bounded window and requests the missing ones, as IRN does (Mittal et al., SIGCOMM 2018). It reports
// lost packets instead of arrived ones, so reordering causes no retransmission.
//
// The responder sends, in codes that IBTA reserves, with the expected PSN in the
// BTH, which acknowledges everything before it:
//
//	NakMissing  MSN = offset<<8 | count: count packets from PSN + offset on are
//	            lost. Once per gap, when more than NakAfter packets overtook it,
//	            or twice as many as overtook one that then came by itself.
//	NakGap      MSN = offset<<8 | count: the ACK that a packet asked for, while
//	            count packets are missing at PSN; PSN + offset is the last that is here.
//
//	AckNamed    MSN = offset<<8 | have, instead of ACK and NakGap where the ends agreed on it
//	            (Config.Named): packet PSN + offset, 16 bits with a sign, is the one that is answered,
//	            and so many packets, in the low eight bits of the number up to which they would
//	            reach in order, are here. A requester then knows which packet's round trip, mark
//	            and path it hears of, and what is in flight whatever the order of arrival.
//	            It also knows when more than its window allows has overtaken something: the
//	            oldest packet then goes again with BECN set, which asks the responder to
//	            list all that is missing (SLEEK; QP.Window). So does what goes after a silence
//	            of two round trips, 100 us at least.
//
//	NakTrimmed  MSN = offset<<8 | 1: a switch has cut the packet PSN + offset to its
//	            headers (Trimmed). Said at once, each time that this happens to a copy.
//	NakTrimmedLast  the same, where the headers say that it was at the port to us; and of a
//	            packet that the NIC has dropped because its Store was full.
//
// The requester sends again what NakMissing or NakTrimmed names. A retransmitted packet is lost again in three
// cases. NakGap reports that the given number of packets overtook it; a packet sent two round trips later arrived;
// or nothing arrives for IRN's RTO (docs/references.md, irn) and two round trips, if known. In the last case the
// packets known to be missing are retransmitted. If none is known, the last packet is; its answer reports what
// arrived. The ACK timeout remains for dead paths. READ data are placed in any order, and only the missing parts
// are requested again.
//
// Both ends must be in selective mode; package verbs negotiates it. If the ends differ, all data still arrive. A
// selective requester goes back N on request, and a go-back-N requester does so for the first NakMissing of a gap.
package rc
