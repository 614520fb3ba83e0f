// Package explain turns an execution and an [Observation] of the network into results. They are completion times
// with their ideals and bounds, the step divided by blocking operation, the critical path, and lost time by cause.
// It does not depend on a simulator: a fidelity fills an Observation. Messages, connections, ports, routes and the
// rules from bytes to time are required. Waits by port, pauses and events of messages exist only if packets are
// simulated.
//
// # The account of lost time
//
// The run is executed once more over a model (model.go, replay.go, package fluid). In it messages are flows that
// share links max-min fairly. Paths and the order of operations are those of the run. A message's time beyond its
// fluid time (excess.go) is assigned to its events (parts.go): time-outs, pauses caused by another queue, pace,
// window, credit, else the queue of its packets. A reduced rate or window is a reaction to the queue or loss behind
// it. With nothing left out the replay takes as long as the run.
//
// Then causes are left out: from the flows (other paths, faster or repaired links, receivers without limit) and
// from the excess of messages. The time without one cause gives its saving (Account.Saving). Causes are also left
// out one after the other, the largest saving first. This divides the time of the step, of each collective and of a
// message into parts that add up. Large runs update rates less often (coarse).
//
// `railyard validate blame --random N --seed S` compares savings with runs without the cause. Known limit: the model
// has no queue that fills and drains.
//
// # Ideals and bounds
//
// The ideal time of a message (ideal.go) is the time that its packets alone take on its path, store-and-forward or
// cut-through. A message without other traffic takes exactly that (TestIdealOfALoneFlow). The bound of a collective
// is its fullest NIC or NVLink pipe busy all the time (bound.go). Both use the best rate that a link has during the
// run.
//
// # The step
//
// The operations of the rank that ends last are followed backwards. The parts are computing, the transfers that
// blocked it, by class, and the computing of other ranks, which is the bubble. The parts add up to the step time.
package explain
