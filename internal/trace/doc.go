// Package trace reads the workloads of other tools as a workload.DAG, and writes them.
//
// A [Format] is one file of Go code: GOAL (text and binary), SimAI, Chakra, MSCCL, HPCC flows, htsim connection
// matrices, PyTorch's profiler (Kineto), execution traces and Flight Recorder, logs and Inspector of NCCL. Each
// returns a [Report] of mapped, assumed and omitted parts, with positions. Calls of ranks are matched by group and
// number (calls.go, join.go).
//
// Collectives of a trace run as NCCL would run them on the fabric ([Fit]). Algorithm, protocol and channels come
// from the trace if it has them, otherwise from the tuning model of package coll. The report lists all of them.
// [Export] writes GOAL, Chakra, SimAI and htsim matrices.
package trace
