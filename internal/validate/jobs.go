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
	return fmt.Sprintf("  %s: {start: %v, traffic: {flows: [{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 40MB}]}}\n", name, start, host, host+2)
}

// within a leaf it does not.
func inLeaf(name string, host int) string {
	return fmt.Sprintf("  %s: {traffic: {flows: [{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 40MB}]}}\n",
		name, host, host+1)
}

// jobRows compares jobs that share a link with fair sharing, and jobs that share none with their times alone.
func jobRows() ([]Row, error) {
	alone := must(stepsOf(crossing("a", 1, 0)))
	whole := alone["a"]
	both := must(stepsOf(crossing("a", 1, 0) + crossing("b", 2, 0)))
	late := must(stepsOf(crossing("a", 1, 0) + crossing("b", 2, whole/2)))
	one := must(stepsOf(inLeaf("a", 1)))
	apart := must(stepsOf(inLeaf("a", 1) + inLeaf("b", 3)))
	const fair = "two equal jobs share a cable: each has half while both send"
	times := func(t unit.Time) float64 { return float64(t) / float64(whole) }
	return []Row{
		within("two jobs on one cable: the first, of its time alone", fair, 2, times(both["a"]), 0.02, "%.3f"),
		within("two jobs on one cable: the second, of its time alone", fair, 2, times(both["b"]), 0.02, "%.3f"),
		within("the second starts when half is sent: the first, of its time alone", fair+": 1/2 + 2 x 1/2", 1.5,
			times(late["a"]), 0.02, "%.3f"),
		within("the second starts when half is sent: itself, of its time alone", fair+": 2 x 1/2 + 1/2", 1.5,
			times(late["b"]), 0.02, "%.3f"),
		exact("jobs that share nothing: the first, as alone", "nothing is shared", one["a"], apart["a"]),
		exact("jobs that share nothing: the second, as alone", "nothing is shared", one["a"], apart["b"]),
	}, nil
}

// stepsOf runs jobs and returns how long each took.
func stepsOf(jobs string) (map[string]unit.Time, error) {
	r := must(finish(oneCable + jobs))
	s, _, _ := r.Outcome("validate")
	out := map[string]unit.Time{}
	for i := range s.Jobs {
		out[s.Jobs[i].Name] = unit.Time(s.Jobs[i].StepTime)
	}
	return out, nil
}

// byChance is two servers of one switch that send each other single packets at random times.
const byChance = `
name: chance
fabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {background: {load: 1, sizes: 4096B, for: 10ms}}}
`

// queueRows compares messages at random times with Pollaczek and Khinchine's mean wait, of data and of the other
// direction's acknowledgements in one queue: both are equally frequent, with their own lengths.
func queueRows() ([]Row, error) {
	const rate = 100e9 / 8 // bytes per second
	const data, ack = (4096 + firstFrame + wireGap) / rate, (ackFrame + wireGap) / rate
	var rows []Row
	idle := must(meanFlow("workload.traffic.background.load=0.05", "workload.traffic.background.for=100ms"))
	for _, percent := range []float64{30, 60, 80} {
		mean := must(meanFlow(fmt.Sprintf("workload.traffic.background.load=%v", percent),
			"workload.traffic.background.for=15ms"))
		each := percent / 100 * rate / 4096 // messages a second
		wait := each * (data*data + ack*ack) / 2 / (1 - each*(data+ack))
		rows = append(rows, within(fmt.Sprintf("single packets at random times, %v %% load: mean wait, ns", percent),
			"M/G/1, Pollaczek and Khinchine", wait*1e9, (mean-idle).Seconds()*1e9, 0.06, "%.1f"))
	}
	return rows, nil
}

// meanFlow returns how long messages take in the mean.
func meanFlow(sets ...string) (unit.Time, error) {
	r := must(finish(byChance, sets...))
	sum := unit.Time(0)
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		sum += m.Done - m.Posted
	}
	return sum / unit.Time(len(r.Hosts.Messages)), nil
}
