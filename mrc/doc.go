// Package mrc is the queue pair of MRC, Multipath Reliable Connection: RoCEv2's WRITEs, sprayed packet by packet
// over hundreds of paths of a network that may lose, trim and reorder, without PFC. It is a transport.Protocol:
// sans-IO, driven by both simulated NICs and sockets. Package roce has the wire format.
//
// The specification (OCP, revision 1.0 of March 2026) was not at hand; rules are from digests of it, which
// docs/references.md, mrc lists. The rules that follow them, and Railyard's own choices:
//
// Paths. A profile of entropy values (EVs) has equally many per plane. Active values take turns in a random order,
// drawn anew each round (ev.go); the rest are the reserve. A SACK's SKIP_ONCE and a NACK's TRIMMED omit a value for
// the rest of the round. ALWAYS_SKIP and a timeout withdraw it, and a reserve of the same plane replaces it until a
// probe by it is answered. TRIMMED_LASTHOP and NACKs for lack of room are no evidence about the path. Choices of
// Railyard: one profile per far NIC instead of one per connection, so that all connections share the detection of a
// broken path; at most four probes per round trip. If no working plane has a value left, data use values that are
// assumed bad.
//
// Reliability. PSNs are consecutive; the receiver tracks a range of them, announces it in SACKs, and places packets
// on arrival; messages complete in order. A SACK carries the first missing PSN, 64 bits around the packet that it
// acknowledges, that packet's EV and time stamp, and the verdict on its path. Each packet has a timeout of its own,
// linear or exponential in the number of its losses; a lost packet is retransmitted by the next EV in turn. All
// packets share one counter of retries. Choices of Railyard: any progress resets the counter, and the timeout
// follows measured round trips unless configured. It counts only when a later packet is known to have arrived,
// because silence is no evidence about a path. Until then probes are sent, the first halfway between the mean round
// trip and the timeout. The headers of a trimmed packet do not count, because they overtake data. A packet refused
// for lack of a buffer or a receive is retransmitted after a round trip, doubled each time up to 0.64 ms, without a
// limit. A packet that the port to the receiver trimmed while the window is one packet is retransmitted a round
// trip later. A receiver never refuses a packet because of a full bitmap or buffer.
//
// Answers return on the plane of their packet, with an EV per plane. The receiver probes it once per round trip in
// which it was used, and replaces it when two probes stay unanswered (reverse.go). Ours: once per eight answers at the
// most, unless copies show that answers are lost.
//
// Ports. When one of its ports fails or recovers, an end sends a Port Status Update until it is acknowledged. The
// far end drops the plane immediately, and packets in flight on it count as lost (ports.go). Choice of Railyard:
// each connection sends its own update.
//
// Congestion control is NSCC, one window per far NIC that all connections share; round trips come from echoed stamps,
// marks from verdicts. Ports to servers mark nothing, so a delay above the target is congestion without a mark, too
// (cc.Path.CoreMarks). A receiver's penalty p subtracts p of 128 from the window for a round trip; Railyard's receiver
// requests one, if configured, after the last hop has trimmed.
package mrc
