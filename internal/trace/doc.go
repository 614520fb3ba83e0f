// Package trace reads the workloads of other tools as a workload.DAG, and writes them.
//
// A [Format] is one file: GOAL (text and binary), SimAI, Chakra, MSCCL, HPCC flows, htsim connection matrices,
// PyTorch's profiler (Kineto), execution traces and Flight Recorder, logs and Inspector of NCCL. Each returns a
// [Report] of what it mapped, assumed and left out, with places. Calls of ranks are joined by group and number
// (calls.go, join.go).
//
// Collectives of a trace run as NCCL would run them on the fabric ([Fit]): the trace gives algorithm, protocol and
// channels where it has them, the tuning model of package coll the rest, and the report names all of it. [Export]
// writes GOAL, Chakra, SimAI and htsim matrices.
package trace
