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
	Scenario   string         `arg:"" optional:"" help:"Scenario with the job (GPUs, step, replicas), or --gpus" placeholder:"SCENARIO"`
	Set        []string       `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	GPUs       int            `help:"GPUs of the job (the scenario's)" name:"gpus" placeholder:"N" range:"1,10000000"`
	PerServer  int            `help:"GPUs per host (the scenario's, or 8)" name:"per-server" placeholder:"N" range:"1,576"`
	Days       float64        `help:"Training time in days" default:"30" range:"0.001,3650"`
	Rates      string         `help:"Failure rates: ${rates}, or a YAML file of components (llama-3; see --rates-example)" placeholder:"NAME|FILE"`
	Example    bool           `help:"Print the default failure rates" name:"rates-example"`
	Detect     *time.Duration `help:"Detection time (on_failure.collective_timeout, by default 10m; 1m without SCENARIO)" placeholder:"TIME"`
	Restart    *time.Duration `help:"Restart time without reading the checkpoint (on_failure.restart, or 10m)" placeholder:"TIME"`
	Checkpoint string         `help:"Checkpoint size (14 bytes per parameter of the scenario's model, or its checkpoint block; required without a model)" placeholder:"SIZE"`
	Storage    string         `help:"Storage throughput of all GPUs, read and write (the scenario's, or 100GB/s)" placeholder:"RATE"`
	Async      bool           `help:"Write checkpoints asynchronously: training stops for --snapshot only"`
	Snapshot   *time.Duration `help:"Time to copy GPU state to host memory (server.pcie of SCENARIO, else 5s, at most the time of the write)" placeholder:"TIME" with:"async"`
	Interval   time.Duration  `help:"Checkpoint interval (on_failure.checkpoint_every, or Daly's optimum)" placeholder:"TIME"`
	Step       time.Duration  `help:"Step time, instead of a simulation; required without SCENARIO" placeholder:"TIME" without:"estimate"`
	Estimate   bool           `help:"Estimate the step by the cost model, without simulation"`
	Spares     int            `help:"Spare hosts; -1: unlimited" default:"-1" placeholder:"N" range:"-1,10000000"`
	Repair     time.Duration  `help:"Repair time of a host" default:"24h" placeholder:"TIME" with:"spares"`
	Short      bool           `help:"Run degraded, with fewer replicas, without spares" with:"spares"`
	Replica    int            `help:"GPUs per replica (tp x pp x cp of the scenario)" placeholder:"N" range:"1,10000000" with:"short"`
	Seeds      int            `help:"Number of random failure histories" default:"20" range:"1,1000"`
	Seed       uint64         `help:"First random seed" default:"1"`
	Plot       string         `help:"Plot effective time over the interval: .png or .svg" placeholder:"FILE"`
	Force      bool           `help:"Replace an existing plot" with:"plot"`
	JSON       bool           `help:"Print as JSON"`
}

func (c *planGoodputCmd) Help() string {
	return `Estimates the effective training time: total time without checkpoint writes, lost work, detection,
restart and waiting for spares. Failures are random with constant rates. The checkpoint interval is
Daly's optimum; others are simulated for comparison. Defaults come from on_failure of the scenario
(collective_timeout, by default 10m as NCCL's watchdog in PyTorch; checkpoint_every; restart). A failure
that ends its process, not only hangs the collectives, is detected earlier: set --detect.

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
	if other, ok := q.Asynchronous(in, &r); ok {
		x, err := c.simulate(e, other)
		if err != nil {
			return err
		}
		r.Compare(&other, x)
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
	return errors.Join(e.show(c.JSON, r, func() { table.Goodput(e.stdout, r) }), lost)
}

// simulate runs all seeds, with a bar, until Ctrl-C.
func (c *planGoodputCmd) simulate(e *env, in goodput.Input) (*goodput.Result, error) {
	ctx, release := e.endable()
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
