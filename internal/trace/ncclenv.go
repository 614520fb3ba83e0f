package trace

import (
	"maps"
	"slices"
	"strconv"
)

// ncclSettings are NCCL's variables that a scenario has a key for, with what they may say.
var ncclSettings = map[string]struct {
	block, key string
	min, max   int
}{
	"NCCL_IB_QPS_PER_CONNECTION": {"transport", "qps", 1, 128},
	"NCCL_IB_TIMEOUT":            {"transport", "timeout", 1, 31},
	"NCCL_IB_RETRY_CNT":          {"transport", "retries", 0, 7},
}

// settings are the log's as a scenario has them; others are told.
func (x *ncclLog) settings(report *Report) (all []Setting) {
	for _, name := range slices.Sorted(maps.Keys(x.env)) {
		s, known := ncclSettings[name]
		n, err := strconv.Atoi(x.env[name])
		said := clip(name) + "=" + clip(x.env[name])
		if !known || err != nil || n < s.min || n > s.max {
			note(&report.Left, "setting "+said, x.file, 0)
			continue
		}
		all = append(all, Setting{s.block, s.key, strconv.Itoa(n), said})
		note(&report.Mapped, "setting "+said+", as "+s.block+"."+s.key, x.file, 0)
	}
	return all
}
