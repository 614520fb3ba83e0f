package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"railyard/internal/exec"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// failureTrial is one simulation: what fails in it, and what became of the step.
type failureTrial struct {
	row  int // of its class
	what []planner.Element
	got  failureRow
	done bool
}

// String names what fails.
func (t *failureTrial) String() string {
	var names []string
	for i := range t.what {
		names = append(names, t.what[i].String())
	}
	return strings.Join(names, " + ")
}

// failing simulates the failures of one variant.
type failing struct {
	c    *planFailuresCmd
	v    *failureVariant
	ctx  context.Context
	at   unit.Time
	step unit.Time // of the whole fabric
	most unit.Time // after which a run is given up
	cost float64   // seconds of a run, as estimated
}

// jobs is how many simulations run at a time.
func (f *failing) jobs() int {
	if f.c.Jobs > 0 {
		return f.c.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// patience is how often as long as the whole fabric a step may take before it is given up, besides the time
// in which a transport gives up.
const patience = 50

// base simulates the whole fabric, which says when things fail and how long is too long.
func (f *failing) base(e *env, trials int) error {
	run, err := newRunWithin(nil, f.v.plan, runner.Memory())
	if err != nil {
		return err
	}
	if f.cost = run.Cost.Seconds; f.cost*float64(trials+1) > worthSaying {
		report.Labelled(e.stderr, "estimate: ", fmt.Sprintf("%s: %d simulations of about %.2g s, %d at a "+
			"time", f.v.Label, trials+1, f.cost, f.jobs()))
	}
	if err := simulate(run, e); err != nil {
		return err
	}
	if failed := run.Failed(); failed != nil {
		return fmt.Errorf("the scenario does not end as it is: %w", failed)
	}
	s, _, _ := run.Outcome(version())
	f.step = unit.Time(s.StepTime)
	if f.at = f.step / 2; f.c.At != "" {
		if f.at, err = unit.ParseTime(f.c.At); err != nil || f.at < 0 || f.at > 86400*unit.Second {
			return input.Fault(fmt.Errorf("--at %s: expected a time from 0s to 86400s", f.c.At))
		}
	}
	retries := unit.Time(f.v.plan.RC.Retries+1) * f.v.plan.RC.Timeout
	f.most = f.at + patience*f.step + 3*retries + 2*unit.Second
	f.v.Base, f.v.At = f.step.Seconds(), f.at.Seconds()
	return nil
}

// simulate runs trials, several at a time.
func (f *failing) simulate(e *env, trials []failureTrial) error {
	bar := newMeter(e)
	defer bar.finish()
	var mu sync.Mutex
	done := 0
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(f.jobs(), len(trials)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				f.trial(&trials[i])
				mu.Lock()
				done++
				bar.show(float64(done)/float64(len(trials)),
					fmt.Sprintf("failure %d of %d", done, len(trials)))
				mu.Unlock()
			}
		}()
	}
	for i := range trials {
		next <- i
	}
	close(next)
	wg.Wait()
	if f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	return nil
}

// trial simulates a step in which something fails.
func (f *failing) trial(t *failureTrial) {
	if f.ctx.Err() != nil {
		return
	}
	got := &t.got
	plan, err := f.plan(t)
	if err != nil {
		got.Error = err.Error()
		return
	}
	run, err := newRunWithin(nil, plan, runner.Memory()/unit.Bytes(f.jobs()))
	if err != nil {
		got.Error = err.Error()
		return
	}
	late := false
	err = run.Go(func(p exec.Progress) bool {
		late = p.Now > f.most
		return !late && f.ctx.Err() == nil
	})
	s, _, _ := run.Outcome(version())
	got.Again, got.Dropped = s.Retransmissions*int64(plan.RC.MTU), s.Drops
	switch {
	case err != nil:
		got.Error = err.Error()
	case late:
		got.Error = fmt.Sprintf("given up at %v: more than %d times as long", unit.Time(s.StepTime), patience)
	case run.Interrupted():
		return
	case s.Outcome != nil:
		got.Lost, got.Isolated = true, len(s.Outcome.CutOff)
		for _, c := range s.Outcome.CutOff {
			got.Cut = append(got.Cut, c.GPU)
		}
	default:
		got.Step = unit.Time(s.StepTime).Seconds()
		got.Slower = float64(s.StepTime) / float64(max(f.step, 1))
	}
	t.done = true
}

// errTrial is what cannot be: elements are named as the topology names them.
var errTrial = errors.New("the scenario does not take the failure")

// plan is the scenario with something that fails.
func (f *failing) plan(t *failureTrial) (*scenario.Plan, error) {
	doc, err := scenariofile.Read(f.v.path, f.v.Sets)
	if err != nil {
		return nil, err
	}
	for _, x := range t.what {
		down := false
		ev := scenario.Event{At: f.at, Up: &down, Ports: x.Ports}
		switch x.Kind {
		case "link":
			ev.Link = x.Name
		case "switch", "card":
			ev.Switch = x.Name
		case "nic":
			ev.NIC = x.Name
		case "server":
			ev.Server = x.Name
		}
		doc.File.Events = append(doc.File.Events, ev)
	}
	doc.File.Output.Sample = unit.Second // nobody looks at the links
	plan, err := scenariofile.Resolve(f.v.path, doc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTrial, err)
	}
	return plan, nil
}
