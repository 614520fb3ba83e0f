// Package protocols lists the transports other than RC: MRC, SRD, Falcon, kernel TCP. A scenario's transport.kind, its
// block of parameters, bounds and schema come from the list ([All]); package transporttest tests each.
package protocols
