// Package planner answers the questions before a fabric exists: how many GPUs a model needs, what fits into their
// memory, which fabrics can be built from given switches, which parallel configuration is fastest.
//
// size.go computes GPUs, time, energy and cost; [Fabrics] designs fabrics with a price list ([Prices]); the search
// tries every layout with a cost model that uses the kernels of package workload, and reports why the others are
// infeasible; [Elements] lists what can fail and, by colour refinement, which elements are equivalent ([Alike]), so
// that one is simulated for N; [Circuits] plans optical circuits; traffic matrices are by parallelism and tier.
// Nothing is simulated here: callers pass an evaluator.
//
// A slice (planner.Slice) is a part of a large fabric with fewer replicas; the difference of the cost model between
// whole and slice is added and printed.
package planner
