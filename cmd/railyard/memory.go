package main

import (
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/unit"
)

// parseMemory reads --memory; empty is what the machine has left.
func parseMemory(s string) (unit.Bytes, error) {
	if s == "" {
		m := runner.Memory()
		if m > 0 && m < smallest { // not even for the scenario
			return 0, &fidelity.ErrMemory{Need: smallest, Have: m}
		}
		return m, nil
	}
	b, err := unit.ParseBytes(s)
	if err != nil || b <= 0 {
		return 0, field.New("--memory", "found %s, expected a size such as 8GB", field.Quote(s))
	}
	return b, nil
}

// smallest is what the program itself and a small scenario take.
const smallest = 40 * unit.MB

// worthTelling is how long a run takes of which we say beforehand what it will cost.
const worthTelling = 10 // seconds

// newRun builds the run of a plan within a limit of memory, and says what a long one will take.
func (e *env) newRun(p *scenario.Plan, limit unit.Bytes) (*fidelity.Simulation, error) {
	e.foretell(p)
	r, err := runner.New(p, limit)
	if err == nil {
		e.estimate(r.Cost)
	}
	return r, err
}

// foretell says what it takes to begin a run where that is long: a fabric without a pattern.
func (e *env) foretell(p *scenario.Plan) {
	if c, err := fidelity.Before(p.Fidelity, p); err == nil {
		e.estimate(c)
	}
}

func (e *env) estimate(c fidelity.Cost) {
	if c.Seconds > worthTelling {
		report.Labelled(e.stderr, "estimate: ", c.Words)
	}
}
