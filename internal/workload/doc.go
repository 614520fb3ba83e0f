// Package workload is the one form of work: a graph of operations between ranks. An operation computes for a
// duration, transfers bytes to a rank, or waits for others.
//
// Training steps, collectives, traffic patterns, imported traces and explicit lists all become a [DAG], and every
// fidelity executes it. A [Builder] adds operations. A [Job] is a DAG with a placement and a start. [Mix] combines
// several jobs into one graph over the GPUs of a fabric; no two jobs share a GPU.
//
// A training (Training, with a partition.Layout) is built in layers. A schedule is a list of passes per stage
// (schedule.go), and a layer is blocks with collectives around them (layer.go). Gradients and parameters run in two
// chains per rank, as on two communicators (shard.go). Only kernels.go turns FLOPs and bytes into time, for the
// builder and for the cost model of package planner. Loading of batches and checkpoints are in stored.go and
// storage.go.
//
// Folding (fold) builds one rank per tensor-parallel group. It is exact if rails are isolated from each other and
// no packet is marked (TestFold).
package workload
