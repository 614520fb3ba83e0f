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
// SIGCOMM 2018): the NAK carries the expected PSN in the BTH, and, in our
// profile, the PSN that was received in the MSN field. NakAfter delays that NAK
// until so many packets overtook the gap, for fabrics that reorder.
package rc
