// Package rc is the reliable connection of InfiniBand and RoCEv2 as a pure
// machine: no clock, no socket, no goroutine. The simulator and the real
// socket drive the very same code.
//
// A QP is both halves of one end. The requester turns posted work requests
// into packets (Next), takes acknowledgements (Acknowledged) and time-outs
// (Timeout); the responder takes request packets (Data), says what to answer
// at once, and has READ data and what must wait for it in NextResponse.
//
// A packet is its decoded headers plus, where bytes really move, a slice of
// them (Packet.Data): of the posted buffer, or of a registered region. The
// simulator registers regions without bytes and moves lengths only. Every
// check of keys, ranges and lengths is here, whichever driver it is.
//
// # Sequence numbers
//
// On the wire a PSN has 24 bits. Inside, sequence numbers have 64 and are
// extended against the neighbourhood (roce.Extend), so nothing wraps.
//
// # Recovery
//
// GoBackN follows IBTA 9.7: the responder answers the first packet of a gap
// with one NAK carrying the expected PSN and drops until that PSN arrives; the
// requester starts over from there. Selective keeps out-of-order packets in a
// bounded window and asks for what is missing, as IRN does (Mittal et al.,
// SIGCOMM 2018), but says what is lost instead of what arrived, so that
// reordering alone costs no packet.
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
// The requester sends again what NakMissing or NakTrimmed names. What went again is lost again
// when NakGap shows that so many packets overtook it, or that something came which
// went two round trips later, or when nothing comes for IRN's RTO (docs/references.md, irn)
// and two round trips, as far as they are known: then what is known to be missing
// goes again, or the last packet, whose answer says what arrived. The ACK timeout is left
// for a path that is dead. READ data is placed in any order, and what is missing of it is asked for alone.
//
// Both ends must be in selective mode; package verbs agrees on it. Where they are
// not all still arrives: a selective requester goes back N when it is told to, and
// one that goes back N does so for the first NakMissing of a gap.
package rc
