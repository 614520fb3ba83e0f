// Package partition divides a model and its batch over GPUs.
//
// A [Layout] holds the degrees of tensor, pipeline, data, context and expert parallelism, the schedule, the microbatch,
// the ZeRO stage and recomputation. It reports whether the degrees divide the model and the cluster, the part of each
// rank, and the memory of a rank ([RankMemory], bytes). ZeRO bytes follow Rajbhandari et al., "ZeRO: Memory
// Optimizations Toward Training Trillion Parameter Models", section 5.
package partition
