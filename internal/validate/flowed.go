package validate

import (
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/scenarios"
	"railyard/unit"
)

// flowed compares the steps of shipped scenarios as flows with the steps as packets: 5 % for trainings, 10 % for
// others.
func flowed(large bool) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		file, set string
		percent   float64
		large     bool
		why       *Reason
	}{
		{"mixtral-ep8-64.yaml", "", 5, true, nil},
		{"pod64-llama2-7b.yaml", "", 5, true, nil},
		{"storage.yaml", "", 5, true, nil},
		{"two-jobs.yaml", "", 10, false, nil},
		{"pod64-alltoall.yaml", "", 10, false, nil},
		{"cc-zoo.yaml", "", 10, true, nil},
		{"dragonfly-load.yaml", "", 10, false, nil},
		{"lab-planes.yaml", "", 10, false, nil},
		{"fattree128-incast32.yaml", "", 10, true, nil},
		{"fattree128-permutation.yaml", "", 10, true, dcqcnEarly},
		{"fattree128-permutation.yaml", "cc.algorithm=none", 10, false, nil},
		{"fattree128-permutation.yaml", "cc.algorithm=swift", 10, true, nil},
		{"fattree1024-permutation.yaml", "", 10, true, nil},
		{"incast-seed.yaml", "", 10, true, nil},
		{"three-flows.yaml", "", 10, false, dcqcnEarly},
		{"three-flows-bursts.yaml", "", 10, true, nil},
		{"lab-2x2.yaml", "", 10, false, dcqcnEarly},
		{"victim.yaml", "", 10, false, noVictims},
	} {
		if c.large && !large {
			continue
		}
		what, sets := c.file, []string(nil)
		if c.set != "" {
			what, sets = what+", "+c.set, []string{c.set}
		}
		packets, flows := byFidelity("packet", c.file, sets), byFidelity("flow", c.file, sets)
		row := within("step as flows in ms, "+what, "every packet simulated", stepMS(packets), stepMS(flows),
			c.percent/100, "%.3f")
		rows = append(rows, row.because(c.why))
	}
	return rows, nil
}

// byFidelity simulates a shipped scenario.
func byFidelity(name, file string, sets []string) *result.Summary {
	sets = append([]string{"fidelity=" + name}, sets...)
	run := must(fidelity.New(name, must(plan(file, []byte(scenarios.Texts()[file]), scenarios.File, sets)), 0))
	do(run.Go(nil))
	s, _, _ := run.Outcome("")
	return s
}

func stepMS(s *result.Summary) float64 { return unit.Time(s.StepTime).Seconds() * 1e3 }

var (
	dcqcnEarly = reason("first marks of short DCQCN flows",
		"Few flows collide for less than a millisecond, and the packets that are marked first decide how far DCQCN reduces rates. Flow fidelity takes the mean of one incast.",
		"cc.algorithm=none", "-0.1 % (fattree128-permutation) and 0.0 % (lab-2x2); fidelity=packet simulates the packets")
	noVictims = reason("PFC pauses of victims",
		"The scenario marks from 40 KB and pauses from 200 KB on. Flow fidelity has the default thresholds and spreads no pauses to flows that do not share the congested link.",
		"cc.algorithm=swift", "0.0 %: queues stay below the pauses; fidelity=packet simulates them")
)
