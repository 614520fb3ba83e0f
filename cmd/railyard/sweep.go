package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/batch"
	"railyard/internal/study/sweep"
	"railyard/internal/study/workers"
	"railyard/unit"
)

type sweepCmd struct {
	Run   sweepRunCmd   `cmd:"" default:"withargs" help:"Simulate thousands of variants and rank them"`
	Show  sweepShowCmd  `cmd:"" help:"Print the results of a study so far"`
	Merge sweepMergeCmd `cmd:"" help:"Merge the shards of a study"`
}

func (c *sweepCmd) Help() string {
	return `Simulates thousands of variants of a scenario on all cores, in a directory from which an interrupted
study resumes.

Examples:
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 8 --out sweep-lb
  railyard sweep show sweep-lb`
}

type sweepRunCmd struct {
	Study string `arg:"" help:"Study, or a scenario with --grid or --range" placeholder:"STUDY"`
	sweep.Flags
	Keep     string   `help:"Run directories to keep: none, best:N, all" default:"" placeholder:"WHICH"`
	Out      string   `help:"Directory of the study; an unfinished one is resumed (sweep-NAME)" placeholder:"DIR"`
	Add      bool     `help:"Add these points to the study in --out"`
	Reuse    []string `help:"Study whose trials are taken over where they are the same; repeatable" placeholder:"DIR" sep:"none"`
	Force    bool     `help:"Restart in an existing directory" without:"add"`
	Shard    string   `help:"Simulate the Kth of N parts; sweep merge combines them" placeholder:"K/N"`
	Estimate bool     `help:"Print trials, core time and memory, and simulate nothing"`
	Yes      bool     `help:"Allow more than 10,000 trials"`
	Jobs     int      `help:"Simulations in parallel; 0: one per processor" default:"0" range:"0,1024"`
	Memory   string   `help:"Memory limit of all simulations (available memory)" placeholder:"SIZE"`
	Top      int      `help:"Points to print" default:"10" range:"1,10000"`
	JSON     bool     `help:"Print as JSON"`

	workers.Placement
}

func (c *sweepRunCmd) Help() string {
	return `Simulates the unchanged scenario and every point of a study, each with several seeds, and ranks the
points. A study is a YAML file with the keys scenario, vary, sampler, samples, seeds, objectives and
rungs, or a scenario with the flags below. Ctrl-C keeps the results; the same command resumes. No
trial runs twice: not after --add, and not where --reuse names a study that has it.

Examples:
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 8
  railyard sweep scenarios/three-flows.yaml --range switch.queues.3.wred_min=50KB..800KB:16:log \
    --require "switch.queues.3.wred_min < switch.queues.3.wred_max" --grid lb=ecmp,spray
  railyard sweep scenarios/three-flows.yaml --range cc.dcqcn.ai=10Mbps..400Mbps:log \
    --range switch.queues.3.wred_min=50KB..400KB --sample 200 --sampler halton \
    --objective step_time --objective queue_peak
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 500 --listen 127.0.0.1:4222
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 500 --engine slurm \
    --parts 16 --sbatch="--cpus-per-task=4"
  railyard sweep scenarios/pod64-alltoall.yaml --grid lb=ecmp,flowlet,spray \
    --set transport.recovery=selective --rung fidelity=flow --rung fidelity=packet --reduce 2`
}

// unasked is the number of trials that need no --yes.
const unasked = 10_000

// Run is the sweep command.
func (c *sweepRunCmd) Run(e *env) error {
	f, err := c.File(c.Study)
	if err != nil {
		return err
	}
	f.Keep = cmp.Or(c.Keep, f.Keep)
	memory, err := parseMemory(c.Memory)
	if err != nil {
		return err
	}
	shard, err := sweep.ParseShard(c.Shard)
	if err != nil {
		return field.Under("--shard", err)
	}
	s, err := sweep.New(f, sweep.Options{Dir: c.Out, Add: c.Add, Force: c.Force, Reuse: c.Reuse, Shard: shard})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, pool.Memory, pool.Before, s.Pool = c.Jobs, memory, nil, pool // foretell estimates
	if done, err := c.foretell(e, s); done || err != nil {
		return err
	}
	if err := s.Open(); err != nil {
		return err
	}
	finish, err := c.Distribute(ctx, e.say, s, c.Jobs)
	if err != nil {
		s.Abandon()
		return err
	}
	stopped := s.Run(ctx)
	finish()
	if stopped != nil && !errors.Is(stopped, runner.ErrInterrupted) {
		if !s.Abandon() {
			_ = s.Write() // trials that ended before count
		}
		return stopped
	}
	a, err := s.Analyse(true)
	if err != nil {
		return err
	}
	var dirs []string
	if stopped == nil {
		dirs, stopped = s.Keep(ctx, a)
	}
	release()
	if err := s.Write(); err != nil {
		return err
	}
	plots, err := plot.Sweep(s, a)
	if err != nil {
		return err
	}
	return sweepEnd(e, s, a, append(dirs, plots...), c.Top, c.JSON, stopped)
}

// foretell prints the cost of the study, and refuses a large one without --yes; done: only the estimate was requested.
func (c *sweepRunCmd) foretell(e *env, s *sweep.Study) (done bool, err error) {
	atOnce := s.Pool.AtOnce()
	if c.Engine != "local" {
		atOnce = c.Parts
	}
	x := s.Estimate(atOnce)
	wall := x.Seconds / float64(min(x.AtOnce, max(x.Trials, 1)))
	words := fmt.Sprintf("%s, about %s with %d at a time (%s of one core), %s of memory, %s on disk",
		unit.Plural(x.Trials, "trial"), unit.ShowSeconds(wall), x.AtOnce, unit.ShowSeconds(x.Seconds),
		x.Memory.Show(), x.Disk.Show())
	if x.Seconds > study.WorthSaying && x.Causes > x.Seconds/2 {
		words += fmt.Sprintf("; without causes about %.2g times faster: --set output.causes=false", x.Seconds/(x.Seconds-x.Causes))
	}
	switch {
	case c.Estimate && c.JSON:
		return true, printJSON(e.stdout, x)
	case c.Estimate:
		report.Wrap(e.stdout, "", words)
		return true, nil
	case x.Trials > unasked && !c.Yes:
		return true, field.New("--yes", "is needed for more than %d trials: %s", unasked, words)
	case x.Seconds > study.WorthSaying:
		report.Labelled(e.stderr, "estimate: ", words)
	}
	if samples, points, fewer := s.Repeated(); fewer {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("%s are %s: the others repeat values or miss a requirement (without --sample: every combination)", unit.Plural(samples, "sample"), unit.Plural(points, "different point")))
	}
	if x.Kept > 0 {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("%s in %s kept", unit.Plural(x.Kept, "trial"), s.Dir))
	}
	return false, nil
}

type sweepShowCmd struct {
	Dir  string `arg:"" help:"Directory of a study, also of one that runs" placeholder:"DIR"`
	Top  int    `help:"Points to print" default:"10" range:"1,10000"`
	JSON bool   `help:"Print as JSON"`
}

func (c *sweepShowCmd) Help() string {
	return `Prints the results of a study so far: of one that runs, was interrupted, or has ended.

Examples:
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 8 --out sweep-lb
  railyard sweep show sweep-lb --top 3`
}

// Run is the sweep show command.
func (c *sweepShowCmd) Run(e *env) error {
	s, err := sweep.View(c.Dir)
	if err != nil {
		return err
	}
	defer s.Close()
	a, err := s.Analyse(true)
	if err != nil {
		return err
	}
	return e.show(c.JSON, s.Report(a, nil, c.Top), func() { table.Sweep(e.stdout, s, a, c.Top) })
}

type sweepMergeCmd struct {
	Dirs []string `arg:"" help:"Directories of the shards" placeholder:"DIR"`
	Out  string   `help:"Directory of the whole study" required:"" placeholder:"DIR"`
	Top  int      `help:"Points to print" default:"10" range:"1,10000"`
	JSON bool     `help:"Print as JSON"`
}

func (c *sweepMergeCmd) Help() string {
	return `Merges the trials of shards, or of unfinished copies of one study, with what their arrays of Slurm and Jobs
of Kubernetes have simulated since the driver ended, and writes the results. --out may be one of the
directories. Trials that no directory has stay open; railyard sweep with the same --out simulates them.

Examples:
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --shard 1/2 --out part-1
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --shard 2/2 --out part-2
  railyard sweep merge part-1 part-2 --out whole`
}

// Run is the sweep merge command.
func (c *sweepMergeCmd) Run(e *env) error {
	s, err := sweep.Merge(c.Dirs, c.Out)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, dir := range c.Dirs {
		if err := batch.Join(s, dir); err != nil {
			return err
		}
	}
	return sweepWritten(e, s, c.Top, c.JSON)
}

// sweepWritten writes and prints the results of a study that nothing more is simulated of.
func sweepWritten(e *env, s *sweep.Study, top int, asJSON bool) error {
	a, err := s.Analyse(true)
	if err == nil {
		err = s.Write()
	}
	if err != nil {
		return err
	}
	plots, err := plot.Sweep(s, a)
	if err != nil {
		return err
	}
	return sweepEnd(e, s, a, plots, top, asJSON, nil)
}

// sweepEnd prints the findings of a study.
func sweepEnd(e *env, s *sweep.Study, a *sweep.Analysis, files []string, top int, asJSON bool, stopped error) error {
	files = append([]string{filepath.Join(s.Dir, sweep.CSVName), filepath.Join(s.Dir, sweep.ParquetName)}, files...)
	if asJSON {
		if err := printJSON(e.stdout, s.Report(a, files, top)); err != nil {
			return err
		}
	} else {
		table.Sweep(e.stdout, s, a, top)
		report.Labelled(e.stdout, "Results: ", strings.Join(files, ", "))
	}
	if s.Short > 0 {
		report.Labelled(e.stderr, "error: ", fmt.Sprintf("%s not simulated: %v", unit.Plural(s.Short, "trial"), s.ShortWhy))
	}
	switch c := a.Counts; {
	case stopped != nil && !errors.Is(stopped, runner.ErrInterrupted):
		return stopped
	case stopped != nil:
		fmt.Fprintf(e.stderr, "interrupted after %d of %s; the same command resumes the study\n", c.Trials-c.Open,
			unit.Plural(c.Trials, "trial"))
		return &exitError{exitInterupt}
	case len(a.Ranking) == 0 && c.Refused > 0 && c.Lost+c.Failed == 0:
		return input.Fault(fmt.Errorf("no point could be simulated: %s", c.FirstError))
	case c.Failed > 0:
		return fmt.Errorf("%d of %s failed", c.Failed, unit.Plural(c.Trials, "trial"))
	case s.Short > 0:
		return &exitError{exitFailed}
	}
	return nil
}
