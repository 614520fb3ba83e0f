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
		why       string
	}{
		{"mixtral-ep8-64.yaml", "", 5, true, ""},
		{"pod64-llama2-7b.yaml", "", 5, true, ""},
		{"storage.yaml", "", 5, true, ""},
		{"two-jobs.yaml", "", 10, false, ""},
		{"pod64-alltoall.yaml", "", 10, false, ""},
		{"cc-zoo.yaml", "", 10, true, ""},
		{"dragonfly-load.yaml", "", 10, false, ""},
		{"lab-planes.yaml", "", 10, false, ""},
		{"fattree128-incast32.yaml", "", 10, true, ""},
		{"fattree128-permutation.yaml", "", 10, true, dcqcnEarly},
		{"fattree128-permutation.yaml", "cc.algorithm=none", 10, false, ""},
		{"fattree128-permutation.yaml", "cc.algorithm=swift", 10, true, ""},
		{"fattree1024-permutation.yaml", "", 10, true, ""},
		{"incast-seed.yaml", "", 10, true, ""},
		{"three-flows.yaml", "", 10, false, dcqcnEarly},
		{"three-flows-bursts.yaml", "", 10, true, ""},
		{"lab-2x2.yaml", "", 10, false, dcqcnEarly},
		{"victim.yaml", "", 10, false, "its marking begins at 40 KB and pauses at 200 KB; controls were measured with the default thresholds, and flows do not spread pauses to victims"},
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
		if !row.OK {
			row.Note = c.why
		}
		rows = append(rows, row)
	}
	return rows, nil
}

const dcqcnEarly = "where few flows collide for less than a millisecond, which packets are marked first decides how deep DCQCN cuts; flows take the mean of one incast"
