// Package host simulates the server side of the network: NICs with one or more ports, their PCIe links, and their
// connections.
//
// [Hosts] runs the queue pairs of package rc, the protocols of package transport and the congestion controls of
// package cc on the simulator's clock. Package rcudp runs the same packages on real sockets. A connection belongs
// to a [Service], which sets its DSCP, class, congestion control, entropy and CNP behaviour.
//
// Sending (tx.go): senders with data wait in rings per class and port (rings.go). A port sends control packets
// first, then data, strict classes before weighted ones. A pause stops only its own class. Congestion controls
// return a decision (rate, window, timer, byte budget). The NIC keeps it and calls the controller again only when
// one of these is reached, so the packet path makes no interface call. Control packets (ACK, CNP, grants, pulls,
// probes) leave by Hosts.Control and reach the [Taker] of their opcode (control.go).
//
// Files by subject: protocols other than RC, whose planes are the ports of a NIC (ends.go, lanes.go), bundles of
// two ports (bond.go), shared PCIe (bus.go), credit and pulls (credit.go, pull.go), marks and their CNPs
// (notify.go), prefetching of memory for future events (ahead.go).
//
// TestTwoDrivers compares this driver with that of rcudp packet by packet, to the picosecond, under random loss.
//
// # Credit and protocols
//
// A controller with credit (cc.Credited) has an account besides the window: the totals of bytes sent, granted and
// requested. Because these are totals, the next grant or request replaces a lost one. The granter of a NIC
// (credit.go) grants a share of its ports' rate round-robin, higher classes first. It grants for lost packets
// before their sender sends a request. NDP's pulls use the same granter.
//
// Protocols of package transport use the ports of a NIC as planes and spread data over them. A packet leaves by the
// first idle port. The ends of a NIC's connections receive link events of its own links immediately.
package host
