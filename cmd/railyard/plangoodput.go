package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"railyard/internal/field"
	"railyard/internal/goodput"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/layouts"
	"railyard/internal/workload"
	"railyard/unit"
)

type planGoodputCmd struct {
	Scenario   string         `arg:"" optional:"" help:"Scenario with the job: its GPUs, its step and its replicas. Without one, --gpus." placeholder:"SCENARIO"`
	Set        []string       `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	GPUs       int            `help:"GPUs of the job; the scenario's unless given." name:"gpus" placeholder:"N" range:"1,10000000"`
	PerServer  int            `help:"GPUs of a server; the scenario's, or 8." name:"per-server" placeholder:"N" range:"1,576"`
	Days       float64        `help:"How long the training goes on." default:"30" range:"0.001,3650"`
	Rates      string         `help:"How often components fail (YAML); Llama 3's table unless given." placeholder:"FILE"`
	Example    bool           `help:"Print the rates that are used unless others are given, and end." name:"rates-example"`
	Detect     *time.Duration `help:"Until a failure is noticed; 1m, or the scenario's on_failure.collective_timeout, unless given." placeholder:"TIME"`
	Restart    *time.Duration `help:"From there to the first step, without reading the checkpoint; 10m, or on_failure.restart, unless given." placeholder:"TIME"`
	Checkpoint string         `help:"Size of a checkpoint; 14 bytes, or what its checkpoint block says, per parameter of the scenario's model unless given." placeholder:"SIZE"`
	Storage    string         `help:"Rate at which storage takes a checkpoint from all GPUs together, and gives it back; that of the scenario's storage, or 100GB/s, unless given." placeholder:"RATE"`
	Async      bool           `help:"Write checkpoints behind training, which stands still for --snapshot only."`
	Snapshot   time.Duration  `help:"Until GPUs have copied their states to their servers." default:"5s" placeholder:"TIME" with:"async"`
	Interval   time.Duration  `help:"Training between checkpoints; on_failure.checkpoint_every, or Daly's optimum, unless given." placeholder:"TIME"`
	Step       time.Duration  `help:"Time of a step, which is not simulated then." placeholder:"TIME" without:"estimate"`
	Estimate   bool           `help:"Take the step from the cost model instead of simulating it."`
	Spares     int            `help:"Servers that stand by; as many as it takes unless given." default:"-1" placeholder:"N" range:"-1,10000000"`
	Repair     time.Duration  `help:"Until a server that failed stands by again." default:"24h" placeholder:"TIME" with:"spares"`
	Short      bool           `help:"Go on with fewer replicas while no server stands by." with:"spares"`
	Replica    int            `help:"GPUs of a replica; tp x pp x cp of the scenario's unless given." placeholder:"N" range:"1,10000000" with:"short"`
	Seeds      int            `help:"Times the days are simulated, with other failures each." default:"20" range:"1,1000"`
	Seed       uint64         `help:"The first of the seeds." default:"1"`
	Plot       string         `help:"Plot the effective time over the interval: .png or .svg." placeholder:"FILE"`
	Force      bool           `help:"Replace a plot that exists." with:"plot"`
	JSON       bool           `help:"Print as JSON."`
}

func (c *planGoodputCmd) Help() string {
	return `What is left of days of training when parts fail: time neither spent on checkpoints, nor lost with
what they did not keep, nor spent until a failure is noticed, a server replaced, the job started. Failures
come at random with constant rates; the interval between checkpoints is Daly's optimum, and others are
simulated beside it. What the scenario's on_failure says (collective_timeout, checkpoint_every, restart) is
taken where no flag says otherwise.

Examples:
  railyard plan goodput --gpus 16384 --days 54 --checkpoint 5.67TB --storage 2TB/s --step 6s
  railyard plan goodput scenarios/gpt13b-128.yaml --estimate --gpus 4096 --spares 8 --repair 12h
  railyard plan goodput scenarios/gpt13b-128.yaml --step 2s --spares 0 --short --plot goodput.png
  railyard plan goodput scenarios/gpt13b-128.yaml --step 2s \
      --set on_failure.checkpoint_every=1800s
  railyard plan goodput scenarios/storage.yaml --set storage.network=separate
  railyard plan goodput --gpus 2048 --checkpoint 1TB --async --step 5s --rates our.yaml
  railyard plan goodput --rates-example > our.yaml`
}

// checkpointBytes are what of a parameter is kept: bf16 weights, and fp32 weights with both of Adam's
// moments.
const checkpointBytes = 14

// goodputReport is what is printed.
type goodputReport struct {
	*goodput.Result
	Checkpoint unit.Bytes `json:"checkpoint_bytes"`
	Storage    float64    `json:"storage_bytes_per_second"`
	Async      bool       `json:"async"`
	Stall      float64    `json:"stall_seconds"`
	Write      float64    `json:"write_seconds"`
	Detect     float64    `json:"detect_seconds"`
	Restart    float64    `json:"restart_seconds"` // reading the checkpoint included
	Step       float64    `json:"step_seconds,omitempty"`
	StepBy     string     `json:"step_by,omitempty"`
	Spares     int        `json:"spares"` // -1: as many as it takes
	Repair     float64    `json:"repair_seconds,omitempty"`
}

// Run is the plan goodput command.
func (c *planGoodputCmd) Run(e *env) error {
	if c.Example {
		printRates(e.stdout, goodput.Llama3())
		return nil
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	if err := c.coarse(); err != nil {
		return err
	}
	in, r, err := c.input(e)
	if err != nil {
		return err
	}
	if r.Result, err = c.simulate(e, in); err != nil {
		return err
	}
	var lost error
	if c.Plot != "" {
		p, err := plot.Goodput(r.GPUs, r.Days, r.Seeds, r.Result)
		if err != nil {
			return err
		}
		if lost = plot.Write(p, c.Plot, c.Force, 24, 12); early(lost) != nil {
			return lost
		}
	}
	if c.JSON {
		return errors.Join(printJSON(e.stdout, r), lost)
	}
	c.print(e.stdout, r)
	return lost
}

// simulate runs all seeds, with a bar, until Ctrl-C.
func (c *planGoodputCmd) simulate(e *env, in goodput.Input) (*goodput.Result, error) {
	ctx, release := endable()
	defer release()
	bar := newMeter(e)
	r, err := goodput.Run(in, func(share float64) bool {
		bar.show(share, "days of training")
		return ctx.Err() == nil
	})
	bar.finish()
	if errors.Is(err, goodput.ErrStopped) {
		return nil, runner.ErrInterrupted
	}
	return r, flagged(err)
}

// input puts together what the scenario and the flags say.
func (c *planGoodputCmd) input(e *env) (in goodput.Input, r goodputReport, err error) {
	in = goodput.Input{GPUs: c.GPUs, PerServer: 8, Days: c.Days,
		Detect: orElse(c.Detect, time.Minute), Restart: orElse(c.Restart, 10*time.Minute),
		Interval: span(c.Interval), Step: span(c.Step), Spares: c.Spares, Repair: span(c.Repair),
		Replica: c.Replica,
		Seed:    c.Seed, Seeds: c.Seeds}
	size := c.Checkpoint
	var plan *scenario.Plan
	if c.Scenario != "" {
		resolve := scenariofile.Checked
		if c.Step == 0 && !c.Estimate { // the step is simulated
			resolve = func(path string, sets []string) (*scenario.Plan, error) {
				return scenariofile.Plan(path, sets, nil)
			}
		}
		if plan, err = resolve(c.Scenario, c.Set); err != nil {
			return in, r, err
		}
		c.fromJob(&in, plan, &size)
	} else if c.Estimate || len(c.Set) > 0 {
		return in, r, input.Fault(errors.New("--estimate and --set need a scenario"))
	}
	if c.PerServer > 0 {
		in.PerServer = c.PerServer
	}
	switch {
	case in.GPUs == 0:
		return in, r, field.New("--gpus", "is missing: how many, or which SCENARIO?")
	case c.Short && in.Replica == 0:
		return in, r, field.New("--replica", "is missing: how many GPUs has one?")
	case !c.Short:
		in.Replica = 0
	}
	if in.Rates, err = c.rates(in); err != nil {
		return in, r, err
	}
	if err = c.storage(&in, &r, size); err != nil {
		return in, r, err
	}
	if err = in.Check(); err != nil {
		return in, r, flagged(err)
	}
	r.StepBy = "as given"
	if c.Step == 0 {
		if in.Step, r.StepBy, err = c.step(e, plan); err != nil {
			return in, r, err
		}
	}
	r.Step, r.Spares, r.Detect, r.Restart = in.Step.Seconds(), in.Spares, in.Detect.Seconds(),
		in.Restart.Seconds()
	if in.Spares >= 0 {
		r.Repair = in.Repair.Seconds()
	}
	return in, r, nil
}

// or is a flag's value, 0 where it is not given.
func or(flag *time.Duration) time.Duration {
	if flag == nil {
		return 0
	}
	return *flag
}

// orElse is a flag's value where it is given.
func orElse(flag *time.Duration, d time.Duration) goodput.Span {
	if flag != nil {
		d = *flag
	}
	return span(d)
}

// fromFailure fills in what the scenario says of jobs that fail, and no flag: collectives that hang are how a
// failure is noticed.
func (c *planGoodputCmd) fromFailure(in *goodput.Input, plan *scenario.Plan) {
	if !plan.OnFailure {
		return
	}
	for _, x := range []struct {
		given bool
		says  unit.Time
		to    *goodput.Span
	}{{c.Detect != nil, plan.Patience, &in.Detect}, {c.Restart != nil, plan.Restart, &in.Restart},
		{c.Interval > 0, plan.Checkpoint, &in.Interval}} {
		if !x.given && x.says > 0 {
			*x.to = goodput.Span(x.says / unit.Microsecond)
		}
	}
}

// fromJob fills in what no flag gives.
func (c *planGoodputCmd) fromJob(in *goodput.Input, plan *scenario.Plan, size *string) {
	c.fromFailure(in, plan)
	first, last := plan.Graph.GPUsOf(0)
	in.PerServer = max(1, last-first)
	gpus := plan.Graph.TotalGPUs()
	if t := plan.Jobs[0].Training; t != nil {
		gpus = t.Layout.GPUs()
		if t.Fold {
			in.PerServer *= t.TP // a server's GPUs are tensor parallel groups
		}
		if in.Replica == 0 {
			in.Replica = t.TP * t.PP * t.CP
		}
		each := int64(checkpointBytes)
		if k := t.Checkpoint; k != nil {
			each, c.Async = int64(k.Bytes), c.Async || k.Mode == workload.Async
		}
		if *size == "" {
			*size = fmt.Sprintf("%dB", t.Model.Params()*each)
		}
	}
	if rate := plan.Takes(); rate > 0 && c.Storage == "" {
		c.Storage = fmt.Sprintf("%dbps", int64(rate))
	}
	if in.GPUs == 0 {
		in.GPUs = gpus
	}
}

// coarse refuses times that are finer than the clock of days.
func (c *planGoodputCmd) coarse() error {
	for _, x := range []struct {
		flag string
		d    time.Duration
	}{{"detect", or(c.Detect)}, {"restart", or(c.Restart)}, {"snapshot", c.Snapshot},
		{"interval", c.Interval},
		{"step", c.Step}, {"repair", c.Repair}} {
		if x.d%time.Microsecond != 0 {
			return field.New("--"+x.flag,
				"%v is finer than a microsecond, which is the least that is counted", x.d)
		}
	}
	if days := c.Step.Hours() / 24; days >= c.Days {
		return field.New("--step", "a step of %.4g days is not over in %g", days, c.Days)
	}
	return nil
}

// span is a time on the command line.
func span(d time.Duration) goodput.Span { return goodput.Span(d.Microseconds()) }

// rates are those of the file, or Llama 3's.
func (c *planGoodputCmd) rates(in goodput.Input) (*goodput.Rates, error) {
	r := goodput.Llama3()
	placed := func(err error) error { return err }
	if c.Rates != "" {
		text, err := input.Text(c.Rates, 1<<16)
		if err != nil {
			return nil, input.Fault(err)
		}
		r = &goodput.Rates{}
		if placed, err = scenario.Read(c.Rates, text, r); err != nil {
			return nil, input.Fault(err)
		}
	}
	if err := r.Check(in.GPUs, max(1, in.PerServer)); err != nil {
		return nil, input.Fault(placed(err))
	}
	return r, nil
}

// storage is how long a checkpoint keeps everybody, and when it counts.
func (c *planGoodputCmd) storage(in *goodput.Input, r *goodputReport, size string) (err error) {
	if size == "" {
		return field.New("--checkpoint", "is missing: how large is a checkpoint?")
	}
	if r.Checkpoint, err = unit.ParseBytes(size); err != nil {
		return field.Under("--checkpoint", err)
	}
	if r.Checkpoint <= 0 {
		return field.New("--checkpoint", "must be more than nothing, found %v", r.Checkpoint)
	}
	if c.Storage == "" {
		c.Storage = "100GB/s"
	}
	rate, err := unit.ParseRate(c.Storage)
	if err == nil && rate <= 0 {
		err = errors.New("must be more than nothing")
	}
	if err != nil {
		return field.Under("--storage", err)
	}
	r.Storage, r.Async = float64(rate)/8, c.Async
	write := goodput.Seconds(float64(r.Checkpoint) / r.Storage)
	if write.Seconds() > c.Days*86400 {
		return field.New("--storage", "takes %s for a checkpoint of %.4g GB: more than all %g days",
			brief(write.Seconds()), float64(r.Checkpoint)/1e9, c.Days)
	}
	in.Restart += write // it is read as fast
	if in.Stall = write; c.Async {
		in.Stall, in.Write = span(c.Snapshot), write
	}
	r.Stall, r.Write = in.Stall.Seconds(), write.Seconds()
	return nil
}

// step is how long the scenario's step takes, and who says so.
func (c *planGoodputCmd) step(e *env, plan *scenario.Plan) (goodput.Span, string, error) {
	if plan == nil || plan.Jobs[0].Training == nil {
		return 0, "", field.New("--step", "is missing: how long does a step take, or which SCENARIO with a "+
			"training?")
	}
	if c.Estimate {
		t := plan.Jobs[0].Training
		in := planner.SearchInput{Training: *t, Site: layouts.SiteOf(plan, t.Layout.GPUs())}
		return goodput.Seconds(in.Estimate(t.Layout).Seconds), "by the cost model", nil
	}
	ctx, pool, release := e.pool()
	defer release()
	s, _, err := pool.Whole(ctx, "", plan)
	if err != nil {
		return 0, "", err
	}
	// checkpoints count by their own interval
	each := (s.StepTime - s.ExposedSave) / int64(plan.Jobs[0].Training.StepsInRow())
	return goodput.Seconds(unit.Time(each).Seconds()), "simulated", nil
}

func (c *planGoodputCmd) print(w io.Writer, r goodputReport) {
	line := func(label, format string, args ...any) {
		report.Labelled(w, fmt.Sprintf("%-13s", label), fmt.Sprintf(format, args...))
	}
	line("Job", "%s in %s, %g days, %s", unit.Plural(r.GPUs, "GPU"), unit.Plural(r.Servers, "server"), r.Days,
		unit.Plural(r.Seeds, "seed"))
	if r.PerDay > 0 {
		line("Failures", "%.3g a day, one in %s (%s)", r.PerDay, brief(r.MTBF), r.Source)
	} else {
		line("Failures", "none")
	}
	how := "while all stand still"
	if r.Async {
		how = fmt.Sprintf("behind training, which stands still for %s", brief(r.Stall))
	}
	line("Checkpoint", "%.4g GB, written in %s at %.4g GB/s %s", float64(r.Checkpoint)/1e9, brief(r.Write),
		r.Storage/1e9, how)
	line("Way back", "%s until noticed, %s to start and read", brief(r.Detect), brief(r.Restart))
	switch {
	case r.Spares < 0:
		line("Servers", "there is always one that stands by")
	case c.Short:
		line("Servers", "%d stand by, repair takes %s; without one it runs short; at most %d in repair",
			r.Spares,
			brief(r.Repair), r.Out)
	default:
		line("Servers", "%d stand by, repair takes %s; without one it waits; at most %d in repair", r.Spares,
			brief(r.Repair), r.Out)
	}
	if r.PerDay > 0 && r.Stall > 0 {
		line("Optimum", "every %s (Daly), %s (Young); best of those simulated: %s", brief(r.Daly),
			brief(r.Young),
			brief(r.Best))
	}
	p := r.Chosen
	line("Effective", "%.2f %% of the time with a checkpoint every %s: %.2f to %.2f over seeds, standard "+
		"deviation %.2f%s", 100*p.Effective.Mean, brief(p.Interval), 100*p.Effective.Min, 100*p.Effective.Max,
		100*p.Effective.SD, closedForm(p))
	line("Steps", "%.6g of %s, %s", math.Floor(r.Steps), brief(r.Step), r.StepBy)
	fmt.Fprintln(w, "\nPercent of the time:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t,
		"every\teffective\tleast\tmost\tDaly\tcheckpoints\tlost\tunnoticed\tstarting\twaiting\tshort\t")
	for _, p := range r.Points {
		x := p.Where
		daly := "-"
		if p.Expected > 0 {
			daly = fmt.Sprintf("%.2f", 100*p.Expected)
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", brief(p.Interval),
			100*p.Effective.Mean, 100*p.Effective.Min, 100*p.Effective.Max, daly, 100*x.Checkpoint,
			100*x.Lost,
			100*x.Detect, 100*x.Restart, 100*x.Wait, 100*x.Short)
	}
	t.Flush()
	if len(r.Parts) == 0 {
		return
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "component\ta day\tdrawn in all")
	for _, x := range r.Parts {
		fmt.Fprintf(t, "%s\t%.3f\t%.1f\n", x.Component, x.PerDay, x.Drawn)
	}
	t.Flush()
}

func closedForm(p goodput.Point) string {
	if p.Expected == 0 {
		return ""
	}
	return fmt.Sprintf("; Daly's formula %.2f", 100*p.Expected)
}

// brief is a time in the unit that people would take.
func brief(s float64) string {
	for _, u := range []struct {
		from, scale float64
		name        string
	}{{2 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {120, 60, "min"}, {1, 1, "s"}} {
		if s >= u.from {
			return fmt.Sprintf("%.4g %s", s/u.scale, u.name)
		}
	}
	return fmt.Sprintf("%.4g ms", s*1e3)
}

// printRates writes rates as a file that --rates takes.
func printRates(w io.Writer, r *goodput.Rates) {
	fmt.Fprintf(w,
		"# How often components fail: events in days on units that were observed, or mtbf_hours, or\n"+
			"# per_second of one of them. per: gpu, server or job; takes: server (until it is repaired) "+
			"or\n# nothing.\n"+
			"source: %q\nrates:\n", r.Source)
	for _, x := range r.Rates {
		fmt.Fprintf(w, "  - {component: %s, events: %g, days: %g, units: %d}\n", x.Component, x.Events,
			x.Days, x.Units)
	}
}
