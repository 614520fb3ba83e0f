// Package tuning searches switch and NIC parameters of a scenario (config tune): Tuning.Open, Run, Write, then Split,
// which simulates the two halves of the best. Candidates and the search are in package tune; the Pool stores
// simulations, from which an interrupted search resumes.
package tuning

import (
	"context"
	"fmt"
	"math"

	"railyard/cc"
	"railyard/internal/devices"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/internal/topo"
	"railyard/internal/tune"
	"railyard/param"
	"railyard/unit"
)

// Tuning is a search in progress.
type Tuning struct {
	Scenario string
	Set      []string // overrides
	Seed     *uint64  // nil: the scenario's
	Dir      string   // directory of the search and its results; tune-NAME if empty
	Trials   int
	OS       string // language of the best configuration
	NIC      string // kind for which host configurations are written
	Devices  *devices.Choice
	Pool     *study.Pool

	Base   *scenario.Plan // plan after Open, as all fields below
	Search *tune.Search

	queue int
	notes []string // on settings without a host configuration
}

// First is the baseline, if it has been run.
func (t *Tuning) First() *tune.Trial {
	if len(t.Search.Trials) == 0 {
		return nil
	}
	return &t.Search.Trials[0]
}

// Open checks the scenario.
func (t *Tuning) Open() error {
	plan, err := scenariofile.Plan(t.Scenario, t.Set, t.Seed)
	if err != nil {
		return err
	}
	t.Base, t.queue = plan, int(plan.Spec.DSCP[plan.Default().DSCP])
	if t.Dir == "" {
		t.Dir = "tune-" + scenariofile.Slug(plan.Name, t.Scenario)
	}
	for n, node := range plan.Graph.Nodes {
		if node.Role != topo.Host && *plan.SpecOf(n) != plan.Spec {
			return plan.Refuse("switches",
				"run different configurations; tune searches one for all (switches.config)")
		}
	}
	if !plan.Spec.Queues[t.queue].Lossless {
		return plan.Refuse("transport.data_dscp",
			"RoCE data (DSCP %d) goes to queue %d, which is not lossless: it has no xOFF to search",
			plan.Default().DSCP, t.queue)
	}
	if err := t.writable(); err != nil {
		return err
	}
	space := tune.Space{Largest: plan.Spec.Buffer / 4, Line: plan.NICs.Rate, DCQCN: plan.Default().CC.Name == "dcqcn"}
	if !space.DCQCN {
		space.Knobs = knobsOf(plan.Default(), plan.NICs.Rate)
	}
	t.Search = &tune.Search{Space: space, Seed: plan.Seed}
	return t.unmix()
}

// Run evaluates generation after generation, each in parallel.
func (t *Tuning) Run(ctx context.Context) error {
	t.Pool.Expect(t.Trials)
	for len(t.Search.Trials) < t.Trials {
		var batch []tune.Trial
		if len(t.Search.Trials) == 0 {
			batch = []tune.Trial{{Baseline: true, Candidate: t.current()}}
		} else {
			batch = t.Search.Next(t.Trials - len(t.Search.Trials))
		}
		err := t.Pool.Each(ctx, len(batch), func(i int) error {
			batch[i].Outcome = t.simulate(ctx, func() (*scenario.Plan, error) { return t.plan(batch[i]) })
			return nil
		})
		if err != nil && ctx.Err() == nil { // an error of the directory or the engine
			return err
		}
		for _, x := range batch {
			if x.Outcome == (tune.Outcome{}) { // not run: interrupted
				return context.Canceled
			}
			t.Search.Add(x)
		}
		if t.Search.Trials[0].Outcome.Error != "" && len(t.Search.Trials) == 1 {
			return fmt.Errorf("the unchanged scenario does not end: %s", t.Search.Trials[0].Outcome.Error)
		}
	}
	return nil
}

// simulate runs a plan; the outcome stays empty if it is interrupted.
func (t *Tuning) simulate(ctx context.Context, make func() (*scenario.Plan, error)) (o tune.Outcome) {
	plan, err := make()
	if err != nil {
		return tune.Outcome{Error: err.Error()}
	}
	run, err := t.Pool.Simulate(ctx, "", plan, 0)
	switch {
	case err != nil && ctx.Err() != nil:
		return o
	case err != nil:
		return tune.Outcome{Error: err.Error()}
	}
	s := run.Summary
	o = tune.Outcome{Time: s.StepTime, Pause: s.PFCPause, Queue: s.QueuePeak, Marks: s.ECNMarks, Drops: s.Drops}
	if err := run.Why(); err != nil {
		o.Error = err.Error()
	}
	return o
}

// plan is the scenario with a trial's values.
func (t *Tuning) plan(x tune.Trial) (*scenario.Plan, error) {
	if x.Baseline {
		return t.half(x.Candidate, half{})
	}
	return t.half(x.Candidate, all)
}

// half is the scenario with part of a candidate's values.
func (t *Tuning) half(c tune.Candidate, h half) (*scenario.Plan, error) {
	doc, err := scenariofile.Read(t.Scenario, t.Set)
	if err != nil {
		return nil, err
	}
	doc.File.Seed = t.Base.Seed
	if h.switches {
		t.applySwitches(&doc.File, c)
	}
	if h.hosts {
		if err := t.applyHosts(&doc.File, c, h.held); err != nil {
			return nil, err
		}
	}
	return scenariofile.Resolve(t.Scenario, doc)
}

// applySwitches puts a candidate's thresholds into a scenario. Values that a configuration had set remain, now in the
// scenario.
func (t *Tuning) applySwitches(f *scenario.File, c tune.Candidate) {
	if len(f.Switches) > 0 {
		base := t.Base.Settled()
		f.Switches, f.Switch, f.LB, f.LBOptions = nil, base.Switch, base.LB, base.LBOptions
	}
	q := &f.Switch.Queues[t.queue]
	q.XOff, q.XOn, q.XOnOffset, q.Alpha = c.XOff, c.XOn, 0, 0
	q.WRED.Min, q.WRED.Max, q.WRED.ECN = c.WREDMin, c.WREDMax, true
	q.WRED.Probability = unit.Share(c.Probability) / 100
}

// applyHosts sets a candidate's congestion control in a scenario, likewise. held: with the values in NIC registers.
func (t *Tuning) applyHosts(f *scenario.File, c tune.Candidate, held bool) error {
	if len(f.Hosts) > 0 {
		base := t.Base.Settled()
		f.Hosts, f.Transport, f.CC = nil, base.Transport, base.CC
		f.OwnCC()
	}
	if t.Search.Space.DCQCN {
		own := dcqcnOf(c)
		if held {
			var err error
			if own, err = t.held(c); err != nil {
				return err
			}
		}
		for param, value := range own {
			f.SetCC("dcqcn", param, value)
		}
	}
	for i, k := range t.Search.Space.Own() {
		a := t.Base.Default().CC
		f.SetCC(a.Name, k.Name, settingOf(paramOf(a, k.Name), c.Knobs[i]))
	}
	return nil
}

// current returns the scenario's values as a candidate.
func (t *Tuning) current() tune.Candidate {
	k := &t.Base.Spec.Queues[t.queue]
	c := tune.Candidate{XOn: k.XOn, WREDMin: k.WRED.Min, WREDMax: k.WRED.Max, XOff: k.XOff,
		Probability: int(math.Round(k.WRED.Probability.Percent()))}
	if v := t.Base.Default().Values; t.Search.Space.DCQCN {
		c.AI, c.RateTimer = cc.Value[unit.Rate](v, "ai"), cc.Value[unit.Time](v, "rate_timer")
		c.AlphaTimer, c.G = cc.Value[unit.Time](v, "alpha_timer"), cc.Value[float64](v, "g")
	}
	for i, k := range t.Search.Space.Own() {
		c.Knobs[i] = param.Amount(t.Base.Default().Values[k.Name])
	}
	return c
}

// overrides are the --set arguments that make the scenario a candidate.
func (t *Tuning) overrides(c tune.Candidate) []string {
	q := fmt.Sprintf("switch.queues.%d.", t.queue)
	b := func(key string, v unit.Bytes) string { return fmt.Sprintf("%s%s=%dB", q, key, int64(v)) }
	out := []string{b("xon", c.XOn), b("wred_min", c.WREDMin), b("wred_max", c.WREDMax), b("xoff", c.XOff),
		fmt.Sprintf("%sprobability=%d", q, c.Probability), q + "ecn=true"}
	if t.Search.Space.DCQCN {
		out = append(out, fmt.Sprintf("cc.dcqcn.ai=%dbps", int64(c.AI)),
			fmt.Sprintf("cc.dcqcn.hai=%dbps", 10*int64(c.AI)),
			fmt.Sprintf("cc.dcqcn.rate_timer=%dps", int64(c.RateTimer)),
			fmt.Sprintf("cc.dcqcn.alpha_timer=%dps", int64(c.AlphaTimer)), fmt.Sprintf("cc.dcqcn.g=%v", c.G))
	}
	for i, k := range t.Search.Space.Own() {
		a := t.Base.Default().CC
		text := settingText(paramOf(a, k.Name), c.Knobs[i])
		out = append(out, fmt.Sprintf("cc.%s.%s=%s", a.Name, k.Name, text))
	}
	return out
}
