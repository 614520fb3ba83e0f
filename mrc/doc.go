// Package mrc is the queue pair of MRC, Multipath Reliable Connection. It sprays RoCEv2 WRITEs packet by packet
// over hundreds of paths, without PFC. The network may lose, trim and reorder packets. It is a transport.Protocol:
// sans-IO, driven by both simulated NICs and sockets. Package roce has the wire format.
//
// The specification (OCP, revision 1.0 of March 2026) was not at hand; rules are from digests of it, which
// docs/references.md, mrc lists. The rules that follow them, and Railyard's own choices:
//
// Paths. A profile of entropy values (EVs) has equally many per plane. Active values take turns in a random order,
// drawn anew each round (ev.go); the others are the reserve. A SACK's SKIP_ONCE and a NACK's TRIMMED omit a value
// for the rest of the round. ALWAYS_SKIP and a timeout withdraw a value. A reserve value of the same plane replaces
// it until a probe by it is answered. TRIMMED_LASTHOP and NACKs for lack of room are no evidence about the path.
// Choices of Railyard: there is one profile per far NIC instead of one per connection, so that all connections
// share the detection of a failed path. There are at most four probes per round trip. If no working plane has a
// good value left, data use values that are assumed bad.
//
// Reliability. PSNs are consecutive. The receiver tracks a range of them, announces the range in SACKs, and places
// packets on arrival; messages complete in order. A SACK carries the first missing PSN and 64 bits around the
// packet that it acknowledges. It also has that packet's EV and time stamp, and the verdict on its path. Each
// packet has its own timeout, linear or exponential in the number of its losses. A lost packet is retransmitted
// with the next EV in turn. All packets share one counter of retries. Choices of Railyard: any progress resets the
// counter, and the timeout follows measured round trips unless configured. It counts only when a later packet is
// known to have arrived, because silence proves nothing about a path. Until then probes are sent, the first halfway
// between the mean round trip and the timeout. The headers of a trimmed packet do not count, because they overtake
// data. A packet rejected for lack of a buffer or a receive is retransmitted after a round trip, doubled each time
// up to 0.64 ms, without a limit. If the window is one packet, a packet that the port to the receiver trimmed is
// retransmitted a round trip later. A receiver never refuses a packet because of a full bitmap or buffer.
//
// Answers return on the plane of their packet, with an EV per plane. The receiver probes it once per round trip in
// which it was used, and replaces it when two probes stay unanswered (reverse.go). Ours: once per eight answers at
// the most, unless copies show that answers are lost.
//
// Ports. When one of its ports fails or recovers, an end repeats a Port Status Update until it is acknowledged. The
// far end stops using the plane immediately, and packets in flight on it count as lost (ports.go). Choice of
// Railyard: each connection sends its own update.
//
// Congestion control is NSCC, with one window per far NIC that all connections share. Round trips come from echoed
// stamps, and marks from verdicts. Ports to servers do not mark, so a delay above the target also counts as
// congestion without a mark (cc.Path.CoreMarks). A receiver's penalty p reduces the window by p/128 for a round
// trip. Railyard's receiver requests one, if configured, after the last hop has trimmed.
package mrc
