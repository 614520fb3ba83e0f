package main

import (
	"errors"
	"time"

	"railyard/internal/field"
	"railyard/internal/goodput"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/study/days"
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

// Run is the plan goodput command.
func (c *planGoodputCmd) Run(e *env) error {
	if c.Example {
		goodput.Llama3().Write(e.stdout)
		return nil
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	q := days.Question{Scenario: c.Scenario, Set: c.Set, GPUs: c.GPUs, PerServer: c.PerServer, Days: c.Days,
		Rates: c.Rates, Detect: c.Detect, Restart: c.Restart, Checkpoint: c.Checkpoint, Storage: c.Storage,
		Async: c.Async, Snapshot: c.Snapshot, Interval: c.Interval, Step: c.Step, Estimate: c.Estimate,
		Spares: c.Spares, Repair: c.Repair, Short: c.Short, Replica: c.Replica, Seeds: c.Seeds, Seed: c.Seed}
	in, r, err := q.Input(func(plan *scenario.Plan) (*result.Summary, error) {
		ctx, pool, release := e.pool()
		defer release()
		s, _, err := pool.Whole(ctx, "", plan)
		return s, err
	})
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
	table.Goodput(e.stdout, r)
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
	return r, field.Flags(err)
}
