package jobscript

import "path"

// benchmarks are nccl-tests' programs, and the collectives that they time.
var benchmarks = map[string]string{"all_reduce_perf": "all-reduce", "all_gather_perf": "all-gather",
	"reduce_scatter_perf": "reduce-scatter", "alltoall_perf": "all-to-all",
	"broadcast_perf": "broadcast"}

// benchmark reports whether a program is one of them, MPI's too.
func benchmark(name string) bool {
	_, ok := benchmarks[path.Base(name)]
	return ok
}
