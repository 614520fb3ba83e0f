// Package reuse carries an execution's transfers as packets, and simulates nothing twice.
//
// Messages whose packets can meet, because their connections share ports or NICs, form a group, from the first one
// until nothing of them is in the network. Groups with the same history of posts (time, kind of connection, bytes) are
// in the same state of a tree whose edges are posts (state). A connection's kind is the set of ports it shares with
// earlier ones and the properties of its other ports (group.shape), so that rails and replicas have one history. A lab
// simulates a state for the first group that reaches it: a network (sim.Stand) with a clock of its own. Others take the
// deliveries from the state. If a group's next post is new, its history is simulated again up to now, and then
// continues in the group's own lab (Run.open).
//
// Once an event depends on more than a group's shape, such as marks or pauses, its state is shared only by groups with
// the same connections (fork). When a group ends, its lab's counts are added to the ports and connections with its
// labels (ending, seen.add).
//
// Two packets that reach a port at one instant leave it in the order of their NICs' turns, which differ from lab to
// lab. So times equal those of packets within nanoseconds, not to the picosecond. TestSameAsPackets and
// TestRandomScenarios compare; Run.Audit simulates some groups of a run again.
//
// Wormhole (NSDI 2026, arXiv 2602.10615) partitions flows in the same way, and skips their steady states: it treats
// rates that change by less than 5 % as constant. A lab skips only exact repetitions (steady.go): packets in flight
// and in queues, distances of sequence numbers, turns, PCIe and random draws equal those of an earlier time, and
// all senders are at line rate. So no error is added; TestSteady compares with whole messages to the picosecond.
// The remaining work is a stride or two per message until the state repeats, and every packet of senders that
// congestion control has slowed down.
package reuse
