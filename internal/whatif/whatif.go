// Package whatif runs a changed scenario: without a cause of lost time, or with a remedy. The seed stays, so that
// the two runs differ by the change alone.
//
//	s := &whatif.Scenario{Name: "a.yaml", Text: text, Read: read}
//	base, err := s.Run(&cause.Change{}, whatif.Limits{})
//	known := facts.Of(base.Plan)
//	facts.Count(known, base.Summary)
//	without := cause.Incast.Get().Without(known)
//	other, err := s.Run(&without, whatif.Limits{})
//	fmt.Println(base.Summary.StepTime - other.Summary.StepTime)
package whatif

import (
	"fmt"
	"path/filepath"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Scenario is a scenario as written.
type Scenario struct {
	Name string // of its file: stands in errors, and is the name of a scenario that has none
	Text []byte
	Sets []string // overrides, as --set takes them
	Seed *uint64  // instead of the file's; nil: the file's
	Read scenario.ReadFile
}

// Of is the scenario that a plan was resolved from.
func Of(p *scenario.Plan) *Scenario {
	return &Scenario{Name: p.Name + ".yaml", Text: []byte(p.Text()), Sets: p.Sets(), Seed: &p.Seed, Read: p.Read}
}

// OfRun is the scenario that a run directory was made of, as its run.json has it; read reads files that it names and
// run.json has not.
func OfRun(dir string, m *result.Manifest, read scenario.ReadFile) *Scenario {
	return &Scenario{Name: filepath.Join(dir, m.Name+".yaml"), Text: []byte(m.Scenario), Sets: m.Set, Seed: &m.Seed,
		Read: func(name string) ([]byte, error) {
			if text, has := m.Configs[name]; has {
				return []byte(text), nil
			}
			return read(name)
		}}
}

// Limits bounds a run. The zero Limits bounds nothing.
type Limits struct {
	Memory unit.Bytes // 0: no limit
	Time   unit.Time  // simulated; 0: no limit
	Hops   int64      // packet-hops; 0: no limit
	Watch  exec.Observer
}

// Outcome is a run that was simulated.
type Outcome struct {
	Plan    *scenario.Plan
	Summary *result.Summary
}

// Unchanged is no change.
var Unchanged cause.Change

// Plan resolves the scenario with a change.
func (s *Scenario) Plan(c *cause.Change) (*scenario.Plan, error) {
	if !c.IsPossible() {
		return nil, fmt.Errorf("no such run: %s", c.Impossible)
	}
	doc, err := scenario.Parse(s.Name, s.Text, append(slices.Clone(s.Sets), c.Set...))
	if err != nil {
		return nil, err
	}
	if s.Seed != nil {
		doc.File.Seed = *s.Seed
	}
	unsay(&doc.File, c.Edits)
	for _, key := range c.Drop {
		switch key {
		case "events":
			doc.File.Events = nil
		case "failures":
			doc.File.Failures = nil
		default:
			return nil, fmt.Errorf("%s cannot be taken out of a scenario", key)
		}
	}
	p, err := doc.Resolve(s.Read)
	if err != nil {
		return nil, err
	}
	apply(p, c.Edits)
	if c.Cables != nil {
		keepingRoom(p, func() { cables(p, c.Cables) })
	}
	return p, nil
}

// ErrUnfinished is a run that ended without the result that a step time would be: by its limits, by the observer, or
// because the job lost a rank.
type ErrUnfinished struct{ Why string }

func (e *ErrUnfinished) Error() string { return e.Why }

// Run simulates the scenario with a change, to its end.
func (s *Scenario) Run(c *cause.Change, l Limits) (*Outcome, error) {
	p, err := s.Plan(c)
	if err != nil {
		return nil, err
	}
	return Simulate(p, l)
}

// Simulate runs a plan to its end.
func Simulate(p *scenario.Plan, l Limits) (*Outcome, error) {
	run, err := fidelity.New(fidelity.Comparable(p), p, l.Memory)
	if err != nil {
		return nil, err
	}
	why := ""
	err = run.Go(func(at exec.Progress) bool {
		switch {
		case l.Time > 0 && at.Now > l.Time:
			why = fmt.Sprintf("has not ended after %v", l.Time)
		case l.Hops > 0 && at.PacketHops > l.Hops:
			why = fmt.Sprintf("has not ended after %d million packet-hops", l.Hops/1_000_000)
		case l.Watch != nil && !l.Watch(at):
			why = "interrupted"
		}
		return why == ""
	})
	switch {
	case err != nil:
		return nil, &ErrUnfinished{err.Error()}
	case why != "":
		return nil, &ErrUnfinished{why}
	}
	sum, _, _ := run.Outcome("")
	switch {
	case sum.Outcome != nil:
		return nil, &ErrUnfinished{"the job loses a rank: " + sum.Outcome.Why}
	case run.Failed() != nil:
		return nil, &ErrUnfinished{run.Failed().Error()}
	}
	return &Outcome{p, sum}, nil
}
