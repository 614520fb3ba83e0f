// Package coll turns collectives into graphs of transfers between ranks.
//
// An [Algorithm] adds the transfers of one collective to a Sink. A rank starts when the operations in its ready
// list are done. The returned lists name the operations after which a rank has its result. There are rings, trees,
// double binary trees between servers, halving and doubling, direct exchange, hierarchical two-level forms and
// NVSwitch reductions (NVLS, NVLSTree). Channels, slices and protocols wrap them.
//
// nccl.go is the tuning model of NCCL (src/graph/tuning.cc), which predicts time per algorithm and protocol and
// chooses; the simulator then times the choice. Busbw and algbw follow nccl-tests, doc/PERFORMANCE.md.
package coll
