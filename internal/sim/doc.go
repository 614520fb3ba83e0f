// Package sim is the packet fidelity: it carries the transfers of an execution as packets.
//
// [Build] creates switches, hosts, routes and queue pairs of a scenario's plan. [Run] executes it and returns
// package explain's input as an explain.Observation. A transfer is split evenly over the queue pairs of
// transport.qps.
//
// [Estimate] counts packets, hops, queue pairs and messages before the run is built (TestEstimate: within 10 %).
// Commands print the estimate of a run of more than 10 s, and refuse a run that exceeds the memory. Routes are
// computed per class of equivalent destinations (topo/twins.go).
//
// Files by subject: link, switch, NIC and server events and the convergence of routes (happens.go, converge.go),
// optical circuits by phase of a step (phases.go, moves.go), samples of links and queues (sample.go), signals of
// congestion controls (signals.go), captures (capture.go, spell.go), one packet traced hop by hop (follow.go), the
// numbered steps of output.steps (story.go), counters of devices (census.go, snapshots.go, idle.go), circular pause
// dependencies (chains.go), lost ranks (lost.go).
//
// A run on several cores is one run per core. Each part has the whole network and executes the whole workload, but
// forwards only the packets of its own nodes (divide.go). They synchronize after windows in which no packet of one
// part can reach another (parts.go). Their records are merged into one run's, identical to the last byte (join.go,
// TestCoresGiveTheSameBytes). An unsupported event, such as a lost rank, restarts the run as a whole.
//
// A run in which only pauses are refreshed for one second of simulated time is reported as stuck (PFC deadlock). A
// queue pair that exceeds its retries loses a rank. The run then continues until no packet moves and ends with an
// outcome.
//
// TestNothingAboveItsBound compares every figure of random scenarios with its bound. TestRandomScenarios draws them
// from seeds (go test ./internal/sim -run Random -random 5000 -random.from 1000).
//
// # Links over time
//
// A plan's link events set the state of a link from a time on: up, rate of each direction, bit errors. A switch, a
// line card, a NIC or a server is the set of its links. A link works if no component to which it belongs is down.
// Routes avoid a link from its convergence on and use it again likewise. The ends may detect the failure earlier
// (fabric.routing.detect), and then hash to other ports of their group. Routes and weights ignore rates; load-aware
// choosers see them. Failed members of a port channel leave their share to the other members; below min_links the
// whole channel counts as down. A circuit of an optical switch is a link that is dark while its map is not in
// force. Maps by phase wait until nothing is in flight (phases.go).
//
// A broken link loses the packets sent into it. The cost of a lower rate is a cause of its own in package explain.
package sim
