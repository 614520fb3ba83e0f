package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
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

// worthSaying is how long a run takes of which we say beforehand what it will cost.
const worthSaying = 10 // seconds

// A large run has the collector leave less garbage lying about: 186,000 flows take 650 MB
// instead of 860, in the same time, because the event loop makes no garbage.
const (
	large   = 150 * unit.MB
	largeGC = 40 // percent
)

// newRunWithin builds the run of a plan that fits so much memory, and says what a long
// one will take unless e is nil.
func newRunWithin(e *env, p *scenario.Plan, limit unit.Bytes) (*fidelity.Simulation, error) {
	if e != nil {
		foretell(e, p)
	}
	r, err := fidelity.New(fidelity.Default, p, limit)
	var memory *fidelity.ErrMemory
	switch {
	case errors.As(err, &memory):
		return nil, err
	case err != nil:
		return nil, input.Fault(err)
	}
	if r.Cost.Memory > large {
		debug.SetGCPercent(largeGC)
	}
	if limit > 0 {
		debug.SetMemoryLimit(int64(limit)) // the collector works harder before it is reached
	}
	if e != nil && r.Cost.Seconds > worthSaying {
		report.Labelled(e.stderr, "estimate: ", r.Cost.Words)
	}
	return r, nil
}

// foretell says what it takes to begin a run where that is long: a fabric without a pattern.
func foretell(e *env, p *scenario.Plan) {
	if c, err := fidelity.Before(fidelity.Default, p); err == nil && c.Seconds > worthSaying {
		report.Labelled(e.stderr, "estimate: ", c.Words)
	}
}

// hoard looks at how much memory is held while a run goes on.
type hoard struct {
	limit  unit.Bytes
	sample []metrics.Sample
	over   bool
}

func newHoard(limit unit.Bytes) *hoard {
	return &hoard{limit: limit, sample: []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}}
}

// exceeded reports whether so much of the limit is held that just what has been
// simulated can still be written.
func (h *hoard) exceeded() bool {
	if h.limit == 0 {
		return false
	}
	metrics.Read(h.sample)
	h.over = unit.Bytes(h.sample[0].Value.Uint64()-h.sample[1].Value.Uint64()) > h.limit/10*9
	return h.over
}

// err says that a run was stopped for it.
func (h *hoard) err() error {
	return fmt.Errorf("stopped: the run came to need more than the %v of memory that it may use "+
		"(--memory); packets that were sent again and samples are not in the estimate", h.limit)
}
