// Package rcudp runs RoCEv2 reliable connections over UDP sockets, without root. The queue pairs of package rc and
// the congestion control of package cc run on a real clock and kernel.
//
// An Endpoint is the part without I/O: datagrams in, datagrams out, time as an
// argument. A Device puts sockets and goroutines around it.
//
// # On the wire
//
// Every datagram goes to UDP port 4791 and carries BTH to ICRC; the kernel adds UDP, IP and Ethernet. The source
// port is the entropy that ECMP hashes: one per queue pair, or a new one per packet. Type of service is set per
// datagram: the data DSCP with ECT(0), CNPs with their own. CE marks on data are answered with CNPs, at most one
// per connection and interval. On acknowledgements and CNPs they are only counted.
//
// # ICRC without raw sockets
//
// The ICRC covers the IPv4 identification, which an unprivileged sender does not choose. The identification is
// still predictable. Linux sends 0 with "don't fragment" on an unconnected socket, and counts up from 0 through the
// segments of one UDP segmentation offload batch. The sent ICRC is therefore correct on the wire (tshark and scapy
// agree). A receiver cannot read the identification. It first tries the position of the segment in its batch, and
// then 0 to 63. Packets of a sender with other identifications are rejected over IPv4. IPv6 has none.
//
// # Time
//
// Over sockets most of a round trip is waiting for a processor. The kernel stamps arrivals (Device.StampArrivals).
// The far end of MRC excludes its delay of a packet from the echoed stamp, and the near end excludes its delay of
// the answer. NSCC's delay is the rest. Time-outs use the whole round trip. Each end announces the size of its
// socket buffer at connection set-up. A queue pair keeps less than its share in flight, which prevents loss between
// fast processes without PFC.
package rcudp
