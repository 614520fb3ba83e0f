// Package mrc is the queue pair of MRC, Multipath Reliable Connection: RoCEv2's WRITEs, sprayed packet by
// packet over hundreds of paths of a network that may lose, trim and reorder, without PFC. It is a
// transport.Protocol: sans-IO, driven by simulated NICs and by sockets alike. Package roce has the wire
// format.
//
// The specification (OCP, revision 1.0 of March 2026) was not at hand; rules are from digests of it, which
// docs/references.md, mrc lists. What follows them, and what is our own choice:
//
// Paths. A profile of entropy values (EVs) has equally many per plane. Those that are active take turns in an
// order at random, drawn anew each round (ev.go); the rest are the reserve. A SACK's SKIP_ONCE and a NACK's
// TRIMMED leave a value out for the rest of the round; ALWAYS_SKIP and a timeout withdraw it, a reserve of
// the same plane takes its place, and it comes back when a probe by it is answered. TRIMMED_LASTHOP and NACKs
// for want of room say nothing of the path. Ours: one profile per far NIC instead of one per connection, so
// that all connections learn of a broken path at once; at most four probes per round trip; where no plane
// that works has a value left, data take those that are assumed bad.
//
// Reliability. PSNs are consecutive; the receiver tracks a range of them, announces it in SACKs, and places
// packets as they come; messages complete in order. A SACK has the first PSN that is missing, 64 bits around
// the packet that it answers, that packet's EV and time stamp, and the verdict on its path. Each packet has a
// timeout of its own, linear or exponential in how often it was lost; a lost packet goes again by the next
// EV in turn. All packets share one counter of retries. Ours: the counter starts over with any news; the
// timeout follows measured round trips where none is configured; it counts only when something that went
// later is known to have come, because silence says nothing of a path: until then probes ask, the first after
// half a timeout. The headers of a trimmed packet do not count, because they overtake data. What is refused
// for want of a buffer or a receive goes again after a round trip, twice as long each time up to 0.64 ms, as
// often as it takes. A receiver never refuses for want of a bitmap or a buffer.
//
// Answers go back by the plane by which their packet came, with an EV per plane that the receiver asks after
// once per round trip in which it was used, and changes when two questions stay unanswered (reverse.go). Ours:
// once per eight answers at the most, unless copies show that answers are lost.
//
// Ports. When a port of its own goes down or up, an end sends a Port Status Update until it is answered; the
// far end drops the plane at once, and what was under way on it counts as lost (ports.go). Ours: each
// connection tells for itself.
//
// Congestion control is NSCC, one window per far NIC that all connections share; round trips come from echoed
// stamps, marks from verdicts. Ports to servers mark nothing, so a delay above the target is congestion without
// a mark, too (cc.Path.CoreMarks). A receiver's penalty p takes p of 128 off the window for a round trip; ours
// asks for one, where that is configured, after the last hop has trimmed.
package mrc
