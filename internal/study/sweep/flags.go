package sweep

import (
	"cmp"
	"fmt"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenario"
)

// Flags describe a study on the command line, or what differs from its file.
type Flags struct {
	Set       []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Grid      []string `help:"Values of a key; repeatable: every combination" placeholder:"KEY=A,B" sep:"none" group:"Points"`
	Range     []string `help:"Range of a key, in steps or continuous; repeatable" placeholder:"KEY=FROM..TO[:STEPS][:log]" sep:"none" group:"Points"`
	Zip       []string `help:"Values of a key; keys with --zip advance together" placeholder:"KEY=A,B" sep:"none" group:"Points"`
	Require   []string `help:"Condition that points meet, as in \"wred_min < wred_max\" with whole keys; repeatable" placeholder:"CONDITION" sep:"none" group:"Points"`
	Sample    int      `help:"Number of points instead of every combination" placeholder:"N" range:"1,2000000" group:"Points"`
	Sampler   string   `help:"Choice of points: grid, random, lhc, halton, morris (grid; random with --sample)" placeholder:"NAME" enum:"grid,random,lhc,halton,morris," default:"" group:"Points"`
	DrawSeed  uint64   `help:"Seed of the sampler" placeholder:"N" group:"Points"`
	Seeds     int      `help:"Seeds per point, starting at the scenario's (1)" placeholder:"N" range:"1,100000" group:"Points"`
	Objective []string `help:"Figure to minimize or maximize, as in queue_peak or max:mfu; several: Pareto front (step_time)" placeholder:"FIGURE" sep:"none" group:"Ranking"`
	Rung      []string `help:"Settings of a stage of successive halving, as in fidelity=flow; 2 to 10 in order" placeholder:"KEY=VALUE,…" sep:"none" group:"Ranking"`
	Reduce    int      `help:"A stage passes one of N points on (4)" placeholder:"N" range:"2,1000" with:"rung" group:"Ranking"`
}

// File returns the study of a file, or of a scenario, with the additions of the flags.
func (c *Flags) File(study string) (*File, error) {
	text, err := input.Text(study, scenario.MaxSize)
	if err != nil {
		return nil, input.Fault(err)
	}
	if isEmpty(string(text)) {
		return nil, input.Fault(fmt.Errorf("%s is empty; accepted: a study (keys scenario, vary) or a scenario", study))
	}
	f := &File{Scenario: study}
	if IsStudy(string(text)) {
		if f, err = ReadFile(study); err != nil {
			return nil, err
		}
	}
	f.Set, f.Require = append(f.Set, c.Set...), append(f.Require, c.Require...)
	if err := c.vary(f); err != nil {
		return nil, err
	}
	if c.Sample > 0 && f.Sampler == "grid" {
		f.Sampler = ""
	}
	f.Samples, f.Sampler, f.Seeds = cmp.Or(c.Sample, f.Samples), cmp.Or(c.Sampler, f.Sampler), cmp.Or(c.Seeds, f.Seeds)
	f.DrawSeed, f.Reduce = cmp.Or(c.DrawSeed, f.DrawSeed), cmp.Or(c.Reduce, f.Reduce)
	if c.Objective != nil {
		f.Objectives = c.Objective
	}
	if c.Rung != nil {
		f.Rungs = nil
		for _, r := range c.Rung {
			f.Rungs = append(f.Rungs, Rung{Set: strings.Split(r, ",")})
		}
	}
	return f, nil
}

// vary adds the keys that flags vary.
func (c *Flags) vary(f *File) error {
	for _, list := range []struct {
		flag string
		all  []string
	}{{"--grid", c.Grid}, {"--range", c.Range}, {"--zip", c.Zip}} {
		for _, text := range list.all {
			key, values, ok := strings.Cut(text, "=")
			if !ok || key == "" || values == "" {
				return field.New(list.flag, "%s is not KEY=VALUES; accepted: KEY=A,B, or with --range KEY=FROM..TO:STEPS",
					field.Quote(text))
			}
			v := Vary{Key: key, From: list.flag + " " + field.Clip(text)}
			switch list.flag {
			case "--range":
				v.Range = values
			case "--zip":
				v.Zip = "--zip"
				fallthrough
			default:
				v.Values = strings.Split(values, ",")
			}
			f.Vary = append(f.Vary, v)
		}
	}
	return nil
}
