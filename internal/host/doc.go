// Package host simulates the server side of the network: NICs with one or more ports, the PCIe behind them, and the
// connections that they run.
//
// [Hosts] drives the queue pairs of package rc, the protocols of package transport and the congestion controls of
// package cc with the simulator's clock; the same packages drive real sockets in rcudp. A connection belongs to a
// [Service], which gives its DSCP, class, congestion control, entropy and CNP behaviour.
//
// Sending (tx.go): senders with data wait in rings per class and port (rings.go). A port sends control packets first,
// then data, strict classes before weighted ones; a pause stops only its own class. Congestion controls return a
// decision (rate, window, timer, byte budget); the NIC keeps it and calls the controller again only when one of these
// is reached, so that the packet path makes no interface call. Control packets (ACK, CNP, grants, pulls, probes) leave
// by Hosts.Control and reach the [Taker] of their opcode (control.go).
//
// Files by subject: protocols other than RC, whose planes are the ports of a NIC (ends.go, lanes.go), bundles of two
// ports (bond.go), shared PCIe (bus.go), credit and pulls (credit.go, pull.go), marks and their CNPs (notify.go),
// reading ahead of memory that an event will need (ahead.go).
//
// TestTwoDrivers compares this driver with that of rcudp packet by packet, to the picosecond, under random loss.
//
// # Credit and protocols
//
// A controller with credit (cc.Credited) has an account besides the window: bytes sent, granted and requested since the
// connection began, so that the next grant or request replaces a lost one. The granter of a NIC (credit.go) grants a
// share of its ports' rate round-robin, higher classes first; it grants for lost packets before their sender sends a
// request. NDP's pulls use the same granter.
//
// Protocols of package transport spread data over the ports of a NIC as planes: a packet leaves by the first idle
// port. The ends of a NIC's connections receive link events of its own links immediately.
package host
