// Package planner sizes clusters before a fabric exists: the number of GPUs for a model, their memory, the fabrics
// that given switches permit, and the fastest parallel configuration.
//
// size.go computes GPUs, time, energy and cost. [Fabrics] designs fabrics with a price list ([Prices]). The search
// estimates every layout with a cost model based on the kernels of package workload, and lists the infeasible ones
// with reasons. [Elements] lists components that can fail and, by colour refinement, the equivalent ones ([Alike]),
// so that one is simulated for N. [Circuits] plans optical circuits. Traffic matrices are by parallelism and tier.
// Nothing is simulated here: callers pass an evaluator.
//
// A slice (planner.Slice) is a part of a large fabric with fewer replicas; the cost model's difference between whole
// and slice is added and printed.
package planner
