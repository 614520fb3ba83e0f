package validate

import (
	"railyard/internal/fidelity"
	"railyard/internal/scenario"
	"railyard/scenarios"
	"railyard/unit"
)

// flowed compares the steps of shipped scenarios as flows with those of packets: 5 % for trainings, 10 % for others.
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
		var took [2]float64
		for i, name := range []string{"packet", "flow"} {
			sets := []string{"fidelity=" + name}
			if c.set != "" {
				sets = append(sets, c.set)
			}
			d := must(scenario.Parse(c.file, []byte(scenarios.Texts()[c.file]), sets))
			p := must(d.Resolve(scenarios.File))
			run := must(fidelity.New(name, p, 0))
			do(run.Go(nil))
			s, _, _ := run.Outcome("")
			took[i] = unit.Time(s.StepTime).Seconds() * 1e3
		}
		what := c.file
		if c.set != "" {
			what += ", " + c.set
		}
		row := within("step as flows in ms, "+what, "every packet simulated", took[0], took[1], c.percent/100, "%.3f")
		rows = append(rows, row.because(c.why))
	}
	return rows, nil
}

var (
	dcqcnEarly = reason("first marks of short DCQCN flows",
		"Few flows collide for less than a millisecond, and the packets that are marked first decide how far DCQCN reduces rates. Flow fidelity takes the mean of one incast.",
		"cc.algorithm=none", "-0.1 % (fattree128-permutation) and 0.0 % (lab-2x2); fidelity=packet simulates the packets")
	noVictims = reason("PFC pauses of victims",
		"The scenario marks from 40 KB and pauses from 200 KB on. Flow fidelity has the default thresholds and spreads no pauses to flows that do not share the congested link.",
		"cc.algorithm=swift", "0.0 %: queues stay below the pauses; fidelity=packet simulates them")
)
