package failures

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

// trial is one simulation: its failure, and the outcome of the step.
type trial struct {
	row  int // row of its class
	what []planner.Element
	got  Row
}

// String names what fails.
func (t *trial) String() string {
	var names []string
	for i := range t.what {
		names = append(names, t.what[i].String())
	}
	return strings.Join(names, " + ")
}

// failing simulates the failures of one variant.
type failing struct {
	c    *Study
	v    *Variant
	at   unit.Time
	step unit.Time // step of the fabric without failures
	most unit.Time // simulated time after which a run is given up
}

// patience is the limit of a step's time relative to the fabric without failures, plus the time in which a transport
// gives up.
const patience = 50

// base simulates the fabric without failures, which determines the failure time and the time limit.
func (f *failing) base(ctx context.Context, trials int) error {
	f.c.Pool.Expect(trials + 1)
	f.c.Pool.Flows = true
	o, err := f.c.Pool.Simulate(ctx, f.v.Label, f.v.plan, 0)
	f.c.Pool.Flows = false
	switch {
	case err != nil:
		return err
	case o.Err != nil:
		return o.Err
	case o.Failed != nil:
		return fmt.Errorf("the scenario without failures does not end: %w", o.Failed)
	}
	s := o.Summary
	if s.Expected != nil {
		f.v.Fidelity, f.v.Expected = s.Fidelity, s.Expected
	}
	f.v.of.Fidelity = s.Fidelity // the fidelity of trials, too: steps of two fidelities cannot be compared
	f.step, f.v.base = unit.Time(s.StepTime), s
	f.at = f.step / 2
	if left, ok := undelivered(o.Tables.Flows, f.at); ok && left < 0.5 {
		f.at = halfway(o.Tables.Flows, f.at)
	}
	if f.c.At != "" {
		if f.at, err = f.c.time(); err != nil {
			return err
		}
		if f.at >= f.step {
			return field.New("--at", "%s is not within the step of %s, which takes %v without a failure: nothing would fail",
				f.c.At, f.v.Label, f.step)
		}
	}
	retries := unit.Time(f.v.plan.RC.Retries+1) * f.v.plan.RC.Timeout
	f.most = f.at + patience*f.step + 3*retries + 2*unit.Second
	f.v.Base, f.v.At = f.step.Seconds(), f.at.Seconds()
	if left, ok := undelivered(o.Tables.Flows, f.at); ok {
		f.v.Left = &left
	}
	return nil
}

// undelivered returns the share of the bytes of messages that are not delivered at a time, each at an even rate; false:
// there are none.
func undelivered(flows []result.FlowRow, at unit.Time) (share float64, ok bool) {
	var left, all float64
	for i := range flows {
		m := &flows[i]
		if m.Done < 0 {
			continue
		}
		all += float64(m.Bytes)
		left += float64(m.Bytes) * min(1, max(0, float64(m.Done-int64(at))/max(1, float64(m.Done-m.Posted))))
	}
	return left / max(all, 1), all > 0
}

// halfway returns the last time up to a limit at which half of the bytes are undelivered.
func halfway(flows []result.FlowRow, limit unit.Time) unit.Time {
	return unit.Time(sort.Search(int(limit), func(t int) bool {
		left, _ := undelivered(flows, unit.Time(t+1))
		return left < 0.5
	}))
}

// time returns the failure time, if it is set.
func (c *Study) time() (unit.Time, error) {
	at, err := unit.ParseTime(c.At)
	if err != nil || at < 0 || at > 86400*unit.Second {
		return 0, field.New("--at", "%s: expected a time from 0s to 86400s", c.At)
	}
	return at, nil
}

// simulate runs trials, several at a time.
func (f *failing) simulate(ctx context.Context, trials []trial) error {
	return f.c.Pool.Each(ctx, len(trials), func(i int) error {
		return f.trial(ctx, &trials[i])
	})
}

// trial simulates a step with a failure.
func (f *failing) trial(ctx context.Context, t *trial) error {
	got := &t.got
	plan, err := f.plan(t)
	if err != nil {
		got.Error = err.Error()
		return ctx.Err()
	}
	plan.Fidelity = fidelity.Comparable(plan)
	mtu := int64(plan.RC.MTU) // an engine outlives the plan
	o, err := f.c.Pool.Simulate(ctx, f.v.Label, plan, f.most)
	if err != nil {
		got.Error = err.Error()
		return ctx.Err()
	}
	f.became(got, mtu, o)
	return nil
}

// became records the outcome of a step.
func (f *failing) became(got *Row, mtu int64, o *study.Outcome) {
	s := o.Summary
	got.Again, got.Dropped = s.Retransmissions*mtu, s.Drops
	switch {
	case o.Err != nil:
		got.Error = o.Err.Error()
	case o.Late:
		got.Error = fmt.Sprintf("given up at %v: more than %d times as long", unit.Time(s.StepTime), patience)
	case s.Outcome != nil:
		got.Lost, got.Isolated = true, len(s.Outcome.CutOff)
		for _, c := range s.Outcome.CutOff {
			got.Cut = append(got.Cut, c.GPU)
		}
	default:
		got.Step = unit.Time(s.StepTime).Seconds()
		got.Slower = float64(s.StepTime) / float64(max(f.step, 1))
	}
}

// errRefused is the error of an unknown element: elements are named as in the topology.
var errRefused = errors.New("the scenario does not take the failure")

// plan is the scenario with a failure.
func (f *failing) plan(t *trial) (*scenario.Plan, error) {
	doc, err := scenariofile.Read(f.v.of.Path, f.v.of.Sets)
	if err != nil {
		return nil, err
	}
	for _, x := range t.what {
		down := false
		ev := scenario.Event{At: f.at, UpDown: scenario.UpDown{Up: &down}, Ports: x.Ports}
		switch x.Kind {
		case "link":
			ev.Link = x.Name
		case "switch", "card":
			ev.Switch = x.Name
		case "nic":
			ev.NIC = x.Name
		case "server":
			ev.Server = x.Name
		case "nvswitch":
			ev.NVSwitch = x.Name
		case "pcie":
			ev.PCIe = x.Name
		}
		doc.File.Events = append(doc.File.Events, ev)
	}
	doc.File.Output.Sample = unit.Second // link samples are not needed
	f.v.of.Prefer(doc)
	plan, err := scenariofile.Resolve(f.v.of.Path, doc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return plan, nil
}
