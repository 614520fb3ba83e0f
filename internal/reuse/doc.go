// Package reuse carries an execution's transfers as packets, and simulates nothing twice.
//
// Messages whose packets can meet, because their connections share ports or NICs, form a group, from the first one
// until nothing of them is in the network. Groups with the same history, which is when which kind of connection was
// given how many bytes, are in the same state of a tree whose edges are posts (state). A connection's kind says which
// ports it shares with those before it and what its other ports are like (group.shape), so that rails and replicas have
// one history. The first group that gets to a state has a lab simulate it: a network (sim.Stand) with a clock of its
// own. Others take the deliveries from the state. A group whose next post nobody had before has its history simulated
// again up to now, and then goes on in its own lab (Run.open).
//
// Once anything has happened that depends on more than a group's shape, such as marks or pauses, its state is that of
// groups with the same connections only (fork). When a group ends, what its lab has counted is added to the ports and
// connections that have its labels (ending, seen.add).
//
// Two packets that reach a port at one instant leave it in the order of their NICs' turns, which differ from lab to
// lab. So times are those of packets within nanoseconds, not to the picosecond. TestSameAsPackets and
// TestRandomScenarios compare; Run.Audit simulates some groups of a run again.
//
// Wormhole (NSDI 2026, arXiv 2602.10615) keeps partitions of flows in the same way, and skips their steady states: it
// takes rates that have changed by less than 5 % as constant. A lab skips only what repeats exactly (steady.go):
// packets in flight and in queues, distances of sequence numbers, turns, PCIe and random draws are those of an earlier
// moment, and all senders are at line rate. So nothing is added to the error; TestSteady compares with whole messages
// to the picosecond. What is left is a stride or two per message for the state to settle and repeat, and every packet
// of senders that congestion control has slowed down.
package reuse
