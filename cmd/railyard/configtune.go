package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"railyard/cc"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/internal/topo"
	"railyard/internal/tune"
	"railyard/unit"
)

type configTuneCmd struct {
	deviceFlags
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads standard input." placeholder:"SCENARIO"`
	Out      string   `help:"Directory of the search; an unfinished one there is resumed. tune-NAME unless given." placeholder:"DIR"`
	Trials   int      `help:"Simulations in all, the scenario as it is among them." default:"64" range:"2,100000"`
	Jobs     int      `help:"Simulations at a time; 0: one per processor. The result does not depend on it." default:"0" range:"0,1024"`
	OS       string   `help:"Language in which the best configuration is written." enum:"nxos,sonic,eos,nvue" default:"nxos" name:"os"`
	NIC      string   `help:"NICs for which the servers' half of the best is written." enum:"mlx5,bnxt,ionic" default:"mlx5" name:"nic"`
	Set      []string `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Seed     *uint64  `help:"Seed of the simulations and of the search, instead of the scenario's."`
	Force    bool     `help:"Begin anew in an existing directory."`
	JSON     bool     `help:"Print the front as JSON."`
}

func (c *configTuneCmd) Help() string {
	return `Searches ECN minimum, maximum and probability, xOFF and xON of the RoCE queue, always with
xON < WRED minimum < WRED maximum < xOFF, and DCQCN's steps and timers or the parameters of whatever
congestion control the scenario has, and simulates every candidate. Reports the Pareto front of completion
time, pause time and longest queue, and writes the best (of those within 1 % of the fastest the one that
pauses least) as configuration of every switch and as a script for every server's NICs. Three more simulations
say which half brings what: the switches' alone, the servers' alone, and both as registers hold them.
Ctrl-C keeps what there is; the same command goes on.

Examples:
  railyard config tune scenarios/three-flows.yaml --trials 64 --out tune
  railyard config tune scenarios/fattree128-incast32.yaml --os sonic --hwsku ACS-SN5600
  railyard config tune scenarios/cc-zoo.yaml --set cc.algorithm=swift --trials 64`
}

// tuning is a search under way.
type tuning struct {
	c       *configTuneCmd
	base    *scenario.Plan
	queue   int
	search  *tune.Search
	dir     string
	pool    *study.Pool
	journal *study.Journal
	notes   []string // of what could not be written for servers
}

// Run is the config tune command.
func (c *configTuneCmd) Run(e *env) error {
	t, err := c.prepare()
	if err != nil {
		return err
	}
	defer t.journal.Close()
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, t.pool = c.Jobs, pool
	if had := len(t.search.Trials); had > 0 {
		fmt.Fprintf(e.stderr, "note: %s of an earlier search in %s kept\n", unit.Plural(had, "trial"), t.dir)
	}
	searchErr := t.run(ctx)
	front := tune.Front(t.search.Trials)
	best, ok := tune.Best(front)
	var lost error
	var parts *halves
	if ok {
		lost = t.write(front, best)
		if searchErr == nil && !best.Baseline {
			parts, searchErr = t.split(ctx, best)
		}
	}
	if c.JSON {
		said := map[string]any{
			"baseline": t.first(),
			"front":    append([]tune.Trial{}, front...),
			"best":     best,
			"trials":   len(t.search.Trials),
		}
		if parts != nil {
			said["halves"] = parts
		}
		err = printJSON(e.stdout, said)
	} else {
		words := c.summary(t, best, ok)
		if lost != nil {
			words = words[:len(words)-1] // where it is
		}
		report.Tuning(e.stdout, t.base.Name, &t.search.Space, t.search.Trials, front, best, words)
		if parts != nil {
			parts.tell(e, t, best)
		}
	}
	switch {
	case err != nil:
		return err
	case errors.Is(searchErr, context.Canceled):
		if lost != nil {
			fmt.Fprintf(e.stderr, "railyard: %v\n", lost)
		}
		fmt.Fprintf(e.stderr, "railyard: interrupted after %d of %d trials; the same command goes on\n",
			len(t.search.Trials), c.Trials)
		return &exitError{exitInterupt}
	}
	return errors.Join(searchErr, lost)
}

// first is the baseline, if it has been run.
func (t *tuning) first() *tune.Trial {
	if len(t.search.Trials) == 0 {
		return nil
	}
	return &t.search.Trials[0]
}

// prepare checks the scenario, and reads back an earlier search.
func (c *configTuneCmd) prepare() (*tuning, error) {
	plan, err := scenariofile.Plan(c.Scenario, c.Set, c.Seed)
	if err != nil {
		return nil, err
	}
	t := &tuning{c: c, base: plan, queue: int(plan.Spec.DSCP[plan.Default().DSCP]), dir: c.Out}
	if t.dir == "" {
		t.dir = "tune-" + scenariofile.Slug(plan.Name, c.Scenario)
	}
	for n, node := range plan.Graph.Nodes {
		if node.Role != topo.Host && *plan.SpecOf(n) != plan.Spec {
			return nil, plan.Refuse("switches",
				"run different configurations; tune searches one for all (switches.config)")
		}
	}
	if !plan.Spec.Queues[t.queue].Lossless {
		return nil, plan.Refuse("transport.data_dscp",
			"RoCE data (DSCP %d) goes to queue %d, which is not lossless: there is no xOFF to search",
			plan.Default().DSCP, t.queue)
	}
	if err := t.writable(); err != nil {
		return nil, err
	}
	space := tune.Space{Largest: plan.Spec.Buffer / 4, Line: plan.NICs.Rate,
		DCQCN: plan.Default().CC.Name == "dcqcn"}
	if !space.DCQCN {
		space.Knobs = knobsOf(plan.Default(), plan.NICs.Rate)
	}
	t.search = &tune.Search{Space: space, Seed: plan.Seed}
	if err := t.unmix(); err != nil {
		return nil, err
	}
	return t, t.open()
}

// open begins the journal or goes on with the one that is there.
func (t *tuning) open() error {
	sum := sha256.New()
	fmt.Fprint(sum, t.base.Text(), t.c.Set, t.base.Texts)
	h := tune.Header{Scenario: fmt.Sprintf("%x", sum.Sum(nil)[:8]), Version: runner.Version(),
		Seed: t.base.Seed, Queue: t.queue, Space: t.search.Space}
	j, sound, err := study.OpenJournal(filepath.Join(t.dir, "trials.jsonl"), t.c.Force,
		func(text []byte) (int, error) { return t.search.Resume(h, text) })
	if t.journal = j; err == nil && sound == 0 {
		err = j.Add(h)
	}
	return err
}

// run evaluates generation after generation, each in parallel.
func (t *tuning) run(ctx context.Context) error {
	t.pool.Expect(t.c.Trials - len(t.search.Trials))
	for len(t.search.Trials) < t.c.Trials {
		var batch []tune.Trial
		if len(t.search.Trials) == 0 {
			batch = []tune.Trial{{Baseline: true, Candidate: t.current()}}
		} else {
			batch = t.search.Next(t.c.Trials - len(t.search.Trials))
		}
		t.pool.Each(ctx, len(batch), func(i int) error {
			batch[i].Outcome = t.simulate(ctx, func() (*scenario.Plan, error) { return t.plan(batch[i]) })
			return nil
		})
		for _, x := range batch {
			if x.Outcome == (tune.Outcome{}) { // not run: interrupted
				return context.Canceled
			}
			if err := t.journal.Add(x); err != nil {
				return err
			}
			t.search.Add(x)
		}
		if t.search.Trials[0].Outcome.Error != "" && len(t.search.Trials) == 1 {
			return fmt.Errorf("the scenario as it is does not end: %s", t.search.Trials[0].Outcome.Error)
		}
	}
	return nil
}

// simulate runs a plan; the outcome stays empty when it is interrupted.
func (t *tuning) simulate(ctx context.Context, make func() (*scenario.Plan, error)) (o tune.Outcome) {
	plan, err := make()
	if err != nil {
		return tune.Outcome{Error: err.Error()}
	}
	run, err := t.pool.Simulate(ctx, "", plan, 0)
	switch {
	case err != nil && ctx.Err() != nil:
		return o
	case err != nil:
		return tune.Outcome{Error: err.Error()}
	}
	s := run.Summary
	o = tune.Outcome{Time: s.StepTime, Pause: s.PFCPause, Queue: s.QueuePeak, Marks: s.ECNMarks,
		Drops: s.Drops}
	if err := run.Why(); err != nil {
		o.Error = err.Error()
	}
	return o
}

// plan is the scenario with a trial's values.
func (t *tuning) plan(x tune.Trial) (*scenario.Plan, error) {
	if x.Baseline {
		return t.half(x.Candidate, half{})
	}
	return t.half(x.Candidate, all)
}

// half is the scenario with part of a candidate's values.
func (t *tuning) half(c tune.Candidate, h half) (*scenario.Plan, error) {
	doc, err := scenariofile.Read(t.c.Scenario, t.c.Set)
	if err != nil {
		return nil, err
	}
	doc.File.Seed = t.base.Seed
	if h.switches {
		t.applySwitches(&doc.File, c)
	}
	if h.hosts {
		if err := t.applyHosts(&doc.File, c, h.held); err != nil {
			return nil, err
		}
	}
	return scenariofile.Resolve(t.c.Scenario, doc)
}

// applySwitches puts a candidate's thresholds into a scenario. What a configuration text had
// decided stays, now written out.
func (t *tuning) applySwitches(f *scenario.File, c tune.Candidate) {
	if len(f.Switches) > 0 {
		base := t.base.Settled()
		f.Switches, f.Switch, f.LB, f.LBOptions = nil, base.Switch, base.LB, base.LBOptions
	}
	q := &f.Switch.Queues[t.queue]
	q.XOff, q.XOn, q.XOnOffset, q.Alpha = c.XOff, c.XOn, 0, 0
	q.WRED.Min, q.WRED.Max, q.WRED.ECN = c.WREDMin, c.WREDMax, true
	q.WRED.Probability = unit.Share(c.Probability) / 100
}

// applyHosts puts a candidate's congestion control into a scenario, likewise; held: as NICs hold it.
func (t *tuning) applyHosts(f *scenario.File, c tune.Candidate, held bool) error {
	if len(f.Hosts) > 0 {
		base := t.base.Settled()
		f.Hosts, f.Transport, f.CC = nil, base.Transport, base.CC
		f.OwnCC()
	}
	if t.search.Space.DCQCN {
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
	for i, k := range t.search.Space.Own() {
		a := t.base.Default().CC
		f.SetCC(a.Name, k.Name, settingOf(paramOf(a, k.Name), c.Knobs[i]))
	}
	return nil
}

// current is what the scenario has, as a candidate.
func (t *tuning) current() tune.Candidate {
	k := &t.base.Spec.Queues[t.queue]
	c := tune.Candidate{XOn: k.XOn, WREDMin: k.WRED.Min, WREDMax: k.WRED.Max, XOff: k.XOff,
		Probability: int(math.Round(k.WRED.Probability.Percent()))}
	if v := t.base.Default().Values; t.search.Space.DCQCN {
		c.AI, c.RateTimer = cc.Value[unit.Rate](v, "ai"), cc.Value[unit.Time](v, "rate_timer")
		c.AlphaTimer, c.G = cc.Value[unit.Time](v, "alpha_timer"), cc.Value[float64](v, "g")
	}
	for i, k := range t.search.Space.Own() {
		c.Knobs[i] = numberOf(t.base.Default().Values[k.Name])
	}
	return c
}

// overrides are the --set arguments that make the scenario a candidate.
func (t *tuning) overrides(c tune.Candidate) []string {
	q := fmt.Sprintf("switch.queues.%d.", t.queue)
	b := func(key string, v unit.Bytes) string { return fmt.Sprintf("%s%s=%dB", q, key, int64(v)) }
	out := []string{b("xon", c.XOn), b("wred_min", c.WREDMin), b("wred_max", c.WREDMax), b("xoff", c.XOff),
		fmt.Sprintf("%sprobability=%d", q, c.Probability), q + "ecn=true"}
	if t.search.Space.DCQCN {
		out = append(out, fmt.Sprintf("cc.dcqcn.ai=%dbps", int64(c.AI)),
			fmt.Sprintf("cc.dcqcn.hai=%dbps", 10*int64(c.AI)),
			fmt.Sprintf("cc.dcqcn.rate_timer=%dps", int64(c.RateTimer)),
			fmt.Sprintf("cc.dcqcn.alpha_timer=%dps", int64(c.AlphaTimer)), fmt.Sprintf("cc.dcqcn.g=%v", c.G))
	}
	for i, k := range t.search.Space.Own() {
		a := t.base.Default().CC
		text := settingText(paramOf(a, k.Name), c.Knobs[i])
		out = append(out, fmt.Sprintf("cc.%s.%s=%s", a.Name, k.Name, text))
	}
	return out
}
