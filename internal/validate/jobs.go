package validate

import (
	"fmt"

	"railyard/unit"
)

// Two leaves with two servers each, and one cable from each leaf to the spine, of the servers' rate.
const oneCable = `
name: jobs
fabric: {kind: rail, hosts: 2, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
jobs:
`

// crossing is a job whose transfer crosses the cable.
func crossing(name string, host int, start unit.Time) string {
	return fmt.Sprintf("  %s: {start: %v, traffic: {flows: [{from: host-%d/gpu-1, to: host-%d/gpu-1, "+
		"bytes: 40MB}]}}\n", name, start, host, host+2)
}

// within a leaf it does not.
func inLeaf(name string, host int) string {
	return fmt.Sprintf("  %s: {traffic: {flows: [{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 40MB}]}}\n",
		name, host, host+1)
}

// jobRows holds jobs that share a cable to what fair sharing gives each, and jobs that share none to what
// they do alone.
func jobRows() ([]Row, error) {
	alone, err := stepsOf(crossing("a", 1, 0))
	if err != nil {
		return nil, err
	}
	whole := alone["a"]
	both, err := stepsOf(crossing("a", 1, 0) + crossing("b", 2, 0))
	if err != nil {
		return nil, err
	}
	late, err := stepsOf(crossing("a", 1, 0) + crossing("b", 2, whole/2))
	if err != nil {
		return nil, err
	}
	one, err := stepsOf(inLeaf("a", 1))
	if err != nil {
		return nil, err
	}
	apart, err := stepsOf(inLeaf("a", 1) + inLeaf("b", 3))
	if err != nil {
		return nil, err
	}
	const fair = "two equal jobs share a cable: each has half while both send"
	times := func(t unit.Time) float64 { return float64(t) / float64(whole) }
	return []Row{
		within("two jobs on one cable: the first, of its time alone", fair, 2, times(both["a"]), 0.02,
			"%.3f"),
		within("two jobs on one cable: the second, of its time alone", fair, 2, times(both["b"]), 0.02,
			"%.3f"),
		within("the second starts when half is sent: the first, of its time alone", fair+": 1/2 + 2 "+
			"x 1/2", 1.5,
			times(late["a"]), 0.02, "%.3f"),
		within("the second starts when half is sent: itself, of its time alone", fair+": 2 x 1/2 + 1/2", 1.5,
			times(late["b"]), 0.02, "%.3f"),
		exact("jobs that share nothing: the first, as alone", "nothing is shared", one["a"], apart["a"]),
		exact("jobs that share nothing: the second, as alone", "nothing is shared", one["a"], apart["b"]),
	}, nil
}

// stepsOf runs jobs and returns how long each took.
func stepsOf(jobs string) (map[string]unit.Time, error) {
	r, err := finish(oneCable + jobs)
	if err != nil {
		return nil, err
	}
	s, _, _ := r.Outcome("validate")
	out := map[string]unit.Time{}
	for i := range s.Jobs {
		out[s.Jobs[i].Name] = unit.Time(s.Jobs[i].StepTime)
	}
	return out, nil
}
