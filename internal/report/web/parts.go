package web

import (
	"math"
	"slices"
	"strconv"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
)

func itoa(n int) string { return strconv.Itoa(n) }

// partOf are the parts of a step in the order of the bar, and their classes of the critical path.
var partOf = []struct {
	key, name string
	classes   []string
}{
	{"compute", "Compute", []string{"forward", "backward", "optimizer", "compute"}},
	{"tp", "Tensor parallel", []string{"tensor-parallel"}},
	{"pp", "Pipeline parallel", []string{"pipeline-parallel"}},
	{"dp", "Data parallel", []string{"data-parallel"}},
	{"ep", "Expert parallel", []string{"expert-parallel"}},
	{"cp", "Context parallel", []string{"context-parallel"}},
	{"transfers", "Transfers", []string{"other"}},
	{"storage", "Storage", []string{"data-loading", "checkpoint"}},
	{"idle", "Waiting for the start", []string{result.NotStarted}},
	{"loading", "Data loading", nil},
	{"host", "Host", nil},
	{result.Bubble, "Bubble", nil},
	{"waiting", "Waiting for ranks", nil},
	{"slow", "Slow ranks", nil},
	{"unfinished", "Unfinished", []string{result.Unfinished}},
}

// partIndex returns the part of a class, -1 for an unknown one.
func partIndex(class string) int {
	for i := range partOf {
		for _, c := range partOf[i].classes {
			if c == class {
				return i
			}
		}
	}
	return -1
}

// partNamed returns the part of a key.
func partNamed(key string) int {
	for i := range partOf {
		if partOf[i].key == key {
			return i
		}
	}
	panic("no part of the bar is named " + key)
}

// stepParts divides the step as the terminal does for a training, else along its critical path by blocking operation,
// and each part among the causes of the step's account. Both sums are exact: parts are those of summary.json or of
// critical.parquet, causes those of summary.json. The part of a cause's time follows from the collectives that ran
// while the path waited for their class.
func (r *Directory) stepParts() ([]StepPart, error) {
	path, err := table[result.CriticalRow](r, "critical")
	if err != nil {
		return nil, err
	}
	times, along := make([]int64, len(partOf)), make([]pieces, len(partOf))
	for i := range path {
		p := &path[i]
		if at := partIndex(p.Class); at >= 0 {
			times[at] += p.End - p.Start
			along[at].add(p.Start, p.End)
		}
	}
	if s := &r.Summary; s.MFU > 0 {
		own, sum := make([]int64, len(partOf)), int64(0)
		for _, p := range report.Division(s) {
			own[partNamed(p.Key)], sum = p.Time, sum+p.Time
		}
		if sum == sumOf(times) {
			times = own
		}
	}
	var seed [][]float64
	var rows []int
	for i, ps := range times {
		if ps > 0 {
			rows = append(rows, i)
		}
	}
	chain := r.Summary.Chain
	if chain != nil && chain.Total() != sumOf(times) {
		chain = nil // of another version
	}
	if chain != nil {
		if seed, err = r.seeds(rows, along, chain); err != nil {
			return nil, err
		}
	}
	var targets []int64
	for _, i := range rows {
		targets = append(targets, times[i])
	}
	parts := make([]StepPart, len(rows))
	var table [][]int64
	if chain != nil {
		var columns []int64
		for _, c := range cause.All() {
			columns = append(columns, chain.Costs(c.ID))
		}
		table = fit(seed, targets, columns)
	}
	for k, i := range rows {
		parts[k] = StepPart{Key: partOf[i].key, Name: partOf[i].name, Time: times[i]}
		if table == nil {
			continue
		}
		for id, ps := range table[k] {
			if ps > 0 {
				parts[k].Causes = append(parts[k].Causes, CauseTime{cause.ID(id).Get().Key, ps})
			}
		}
	}
	return parts, nil
}

func sumOf(all []int64) (sum int64) {
	for _, x := range all {
		sum += x
	}
	return sum
}

// seeds are the initial weights of causes in a part's time: the losses of its collectives on the path.
func (r *Directory) seeds(rows []int, along []pieces, chain *cause.Account) ([][]float64, error) {
	accounts, err := r.accounts()
	if err != nil {
		return nil, err
	}
	seed := make([][]float64, len(partOf))
	for i := range seed {
		seed[i] = make([]float64, len(cause.All()))
	}
	for i := range accounts {
		c := &accounts[i]
		at := partIndex(c.Class)
		if at < 0 || c.End <= c.Start {
			continue
		}
		share := float64(along[at].until(c.End)-along[at].until(c.Start)) / float64(c.End-c.Start)
		for id := range seed[at] {
			seed[at][id] += share * float64(c.Lost.Costs(cause.ID(id)))
		}
	}
	const least = 1e-6 // minimum of a cause in any part, for time that no collective accounts for
	out := make([][]float64, len(rows))
	for k, i := range rows {
		s := seed[i]
		sum := 0.0
		for _, x := range s {
			sum += x
		}
		computes := slices.Contains([]string{"compute", "idle", "unfinished", "host", result.Bubble, "waiting", "slow"},
			partOf[i].key)
		for id := range s {
			switch {
			case computes:
				s[id] = least * least
			case sum == 0 && cause.ID(id) != cause.Compute:
				s[id] = float64(chain.Costs(cause.ID(id)))
			case sum > 0:
				s[id] = s[id]/sum + least
			}
		}
		// The path of a run without losses computes where this one waits for lost time.
		lost := least * s[cause.Latency]
		for _, c := range cause.All() {
			if c.Loss && c.ID != cause.Latency {
				lost += s[c.ID]
			}
		}
		if s[cause.Compute] = least * lost; computes {
			s[cause.Compute] = 1
		}
		out[k] = s
	}
	return out, nil
}

// fit scales a table until its rows and columns have given sums, and rounds it so that they are exact.
func fit(seed [][]float64, rows, columns []int64) [][]int64 {
	scale := func(sum float64, to int64, at func(k int) *float64, n int) {
		if sum <= 0 {
			return
		}
		for k := range n {
			*at(k) *= float64(to) / sum
		}
	}
	for range 2000 {
		worst := 0.0
		for j, to := range columns {
			sum := 0.0
			for i := range seed {
				sum += seed[i][j]
			}
			scale(sum, to, func(k int) *float64 { return &seed[k][j] }, len(seed))
		}
		for i, to := range rows {
			sum := 0.0
			for _, x := range seed[i] {
				sum += x
			}
			worst = max(worst, math.Abs(sum-float64(to)))
			scale(sum, to, func(k int) *float64 { return &seed[i][k] }, len(columns))
		}
		if worst < 1 {
			break
		}
	}
	out := make([][]int64, len(rows))
	down := append([]int64(nil), columns...)
	left := append([]int64(nil), rows...)
	for i := range out {
		out[i] = make([]int64, len(columns))
		for j := range columns {
			out[i][j] = min(int64(seed[i][j]), left[i], down[j])
			left[i], down[j] = left[i]-out[i][j], down[j]-out[i][j]
		}
	}
	// The remainder of the rounding goes to cells above 0 first, then wherever the sums permit.
	for _, pass := range []bool{true, false} {
		for i := range out {
			for j := range columns {
				if pass && out[i][j] == 0 {
					continue
				}
				x := min(left[i], down[j])
				out[i][j], left[i], down[j] = out[i][j]+x, left[i]-x, down[j]-x
			}
		}
	}
	return out
}
