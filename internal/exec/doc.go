// Package exec executes the operations of a workload: computations on GPUs, transfers inside a server over NVLink,
// and transfers between servers over a [Carrier].
//
// A Carrier has four methods. They return the time, set a timer, send bytes from the NIC of one GPU to that of
// another, and report whether the NICs can reach each other. Every fidelity is a Carrier; exec has no notion of
// packets. [Machine] has the server and rail of each GPU and its NVLink pipes: one to and one from an NVSwitch per
// GPU, or one per pair in a mesh ([NVLink]). A transfer whose NIC does not reach the rail of the receiver takes
// NVLink to the GPU on that rail first (PXN).
//
// [Execution] records start and end of every operation and the operation that blocked it. Package explain derives
// the critical path from these. A carrier whose deliveries come from within Send must defer them to a separate
// event, because the execution is in the middle of a launch.
package exec
