package main

import (
	"io"

	"railyard/internal/expect"
	"railyard/internal/output"
	"railyard/internal/result"
)

// checks are the expectations of a run, and the JUnit report to write; nil: there are none.
type checks struct {
	list    []*expect.Expectation
	to      *output.File // nil: none
	outcome []expect.Outcome
}

// newChecks parses expectations and opens the report, before a simulation.
func newChecks(texts []string, junit string, force bool) (*checks, error) {
	list, err := expect.ParseAll(texts)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	c := &checks{list: list}
	if junit != "" {
		c.to, err = output.Create(junit, force)
	}
	return c, err
}

// print compares a run with its expectations and prints them, after JSON to standard error, and writes the report.
func (c *checks) print(e *env, asJSON bool, s *result.Summary) (err error) {
	if c == nil {
		return nil
	}
	if c.outcome, err = expect.Check(s, c.list); err != nil {
		return err
	}
	var w io.Writer = e.stdout
	if asJSON {
		w = e.stderr
	}
	if err := expect.Print(w, c.outcome); err != nil || c.to == nil {
		return err
	}
	if err := expect.WriteJUnit(c.to, s.Name, c.outcome); err != nil {
		return err
	}
	to := c.to
	c.to = nil
	return to.Keep()
}

// met reports whether the run meets all expectations.
func (c *checks) met() bool { return c == nil || expect.Met(c.outcome) }

// drop removes a report that was not written: the run failed before.
func (c *checks) drop() {
	if c != nil && c.to != nil {
		c.to.Drop()
	}
}
