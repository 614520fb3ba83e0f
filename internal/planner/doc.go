// Package planner sizes clusters before a fabric exists: how many GPUs a model needs, what fits into their memory,
// which fabrics can be built from given switches, which parallel configuration is fastest.
//
// size.go computes GPUs, time, energy and cost; [Fabrics] designs fabrics with a price list ([Prices]); the search
// estimates every layout with a cost model based on the kernels of package workload, and lists the infeasible ones with
// reasons; [Elements] lists components that can fail and, by colour refinement, the equivalent ones ([Alike]), so that
// one is simulated for N; [Circuits] plans optical circuits; traffic matrices are by parallelism and tier. Nothing is
// simulated here: callers pass an evaluator.
//
// A slice (planner.Slice) is a part of a large fabric with fewer replicas; the cost model's difference between whole
// and slice is added and printed.
package planner
