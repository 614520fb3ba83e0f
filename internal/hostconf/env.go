package hostconf

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/slurm"
	"railyard/internal/swconf"
)

// ncclNumbers are NCCL's variables that hold a number, with their ranges (NCCL's user guide, environment
// variables; IB_TIMEOUT and IB_RETRY_CNT as the InfiniBand specification has them).
var ncclNumbers = map[string][2]int{
	"NCCL_IB_TC": {0, 255}, "NCCL_IB_SL": {0, 15}, "NCCL_IB_GID_INDEX": {-1, 255},
	"NCCL_IB_QPS_PER_CONNECTION": {1, 128}, "NCCL_IB_SPLIT_DATA_ON_QPS": {0, 1},
	"NCCL_IB_TIMEOUT": {1, 31}, "NCCL_IB_RETRY_CNT": {0, 7}, "NCCL_IB_DISABLE": {0, 1},
	"NCCL_IB_ADAPTIVE_ROUTING": {0, 1}, "NCCL_IB_PCI_RELAXED_ORDERING": {0, 2},
	"NCCL_IB_AR_THRESHOLD":     {0, 1 << 30},
	"NCCL_IB_ROCE_VERSION_NUM": {1, 2}, "NCCL_IB_FIFO_TC": {0, 255}, "NCCL_IB_PKEY": {0, 1 << 16},
	"NCCL_IB_USE_INLINE": {0, 1}, "NCCL_IB_MERGE_NICS": {0, 1}, "NCCL_IB_WARN_RAIL_LOCAL": {0, 1},
	"NCCL_IB_ECE_ENABLE": {0, 1}, "NCCL_IB_RETURN_ASYNC_EVENTS": {0, 1}, "NCCL_IB_DATA_DIRECT": {0, 2},
	"NCCL_IB_MERGE_VFS": {0, 1}, "NCCL_CROSS_NIC": {0, 2},
	"UCX_IB_TRAFFIC_CLASS": {0, 255}, "UCX_IB_SL": {0, 15}, "UCX_IB_GID_INDEX": {-1, 255},
	"NVSHMEM_IB_TRAFFIC_CLASS": {0, 255}, "NVSHMEM_IB_SL": {0, 15}, "NVSHMEM_IB_GID_INDEX": {-1, 255},
	"MORI_RDMA_TC": {0, 255}, "MORI_RDMA_SL": {0, 15},
	"NCCL_IB_FLUSH_DISABLE": {0, 1}, "NCCL_IB_GDR_FLUSH_DISABLE": {0, 1}, "NCCL_IB_CUDA_SUPPORT": {0, 1},
}

// ncclWords are its variables about RDMA whose values are not numbers.
var ncclWords = []string{"NCCL_IB_HCA", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_NET_MERGE_LEVEL"}

// asked matches variables about RDMA.
var asked = regexp.MustCompile(`^` + variables)

// sets processes a variable of a script.
func (r *reader) sets(name, value string, at slurm.Place) { r.variable(name, value, place(at)) }

// environment looks for variables among a command's words: env, mpirun -x, docker run -e.
func (r *reader) environment(w words) {
	for _, a := range w.all {
		if name, value, ok := strings.Cut(a.Text, "="); ok && asked.MatchString(name) {
			r.variable(name, value, place(a.At))
		}
	}
}

// variable processes one of NCCL's variables that concern the network.
func (r *reader) variable(name, value string, at swconf.Place) {
	limits, number := ncclNumbers[name]
	word := slices.Contains(ncclWords, name)
	switch {
	case !number && !word && strings.HasPrefix(name, "NCCL_IB_"):
		r.unknown(at, name+"="+slurm.Open(value), "%s is an unknown variable%s", name, near(name))
		return
	case !number && !word, strings.ContainsAny(name, " \t"):
		return
	case value == "auto" && strings.HasPrefix(name, "UCX_"):
		r.mark(at, read)
		return
	}
	r.mark(at, read)
	value = strings.Trim(value, `"'`)
	if vague(value) {
		r.unknown(at, name+"="+slurm.Open(value), "unknown value of %s", name)
		return
	}
	if number && value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < limits[0] || n > limits[1] {
			r.fault(at, "its field cannot hold this number, so that another one counts", name,
				"is %s; it takes %d to %d", field.Quote(value), limits[0], limits[1])
			return
		}
	}
	if len(r.h.Env) < maxTold {
		r.h.Env = append(r.h.Env, swconf.HostVar{Name: name, Value: value, At: at})
	}
}

// near suggests the variable that a misspelled one may be.
func near(name string) string {
	all := append(slices.Sorted(maps.Keys(ncclNumbers)), ncclWords...)
	if hint := field.Choice("", name, all, "").Hint; hint != "" {
		return "; is " + hint + " meant?"
	}
	return ""
}
