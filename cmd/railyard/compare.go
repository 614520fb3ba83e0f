package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/web"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/study"
)

type compareCmd struct {
	Scenarios []string `arg:"" help:"Scenario files, or run directories" placeholder:"SCENARIO"`
	Set       []string `help:"Values to compare (lb=ecmp,flowlet,spray); cc.algorithm=all, transport=all: all that apply. Repeated: all combinations" placeholder:"KEY=A,B" sep:"none"`
	Config    []string `help:"Switch configurations to compare: old.cfg,new.cfg" placeholder:"FILE,FILE"`
	Seeds     int      `help:"Seeds per variant, starting at the scenario's" default:"1" range:"1,1000"`
	JSON      bool     `help:"Print the summaries as JSON"`
	PNG       string   `help:"Plot completion times, queues, rates and slowdown by message size of each variant" name:"png" placeholder:"DIR"`
	Force     bool     `help:"Replace existing plots, or begin anew in --study" with:"png,study"`

	studyFlags
}

func (c *compareCmd) Help() string {
	return `Examples:
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,flowlet,spray
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,spray --set cc.algorithm=dcqcn,none
  railyard compare scenarios/pod64-alltoall.yaml --set lb=ecmp,spray --seeds 8
  railyard compare scenarios/fattree128-incast32.yaml --set cc.algorithm=all --png plots
  railyard compare scenarios/victim.yaml --set transport=roce,srd,uec,mrc,scheduled --png plots
  railyard compare scenarios/three-flows.yaml --config old.cfg,new.cfg
  railyard compare scenarios/pod64-alltoall.yaml --set lb=ecmp,spray --seeds 8 --study compared
  railyard compare scenarios/three-flows.yaml --set lb=ecmp,spray --study compared-slurm --engine slurm
  railyard compare runs/a runs/b --png plots`
}

// Run is the compare command.
func (c *compareCmd) Run(e *env) error {
	s := &study.Comparison{Matrix: study.Matrix{Scenarios: c.Scenarios, Set: c.Set, Config: c.Config},
		Seeds: c.Seeds}
	if err := s.Prepare(); err != nil {
		return err
	}
	if err := c.plotsFit(); err != nil {
		return input.Fault(err)
	}
	notes := s.Idle
	if len(c.Config) > 0 {
		notes = s.Notes
	}
	for _, n := range slices.Concat(s.Zeros(), notes) {
		report.Labelled(e.stderr, "note: ", n)
	}
	ctx, pool, release := e.pool()
	defer release()
	if c.Dir != "" && (c.PNG != "" || s.Simulations() == 0) {
		return field.New("--study", "has no effect with --png, nor on runs, which are not simulated again")
	}
	finish, err := c.keep(ctx, e, pool, "compare", c.Scenarios, c.Force)
	if err != nil {
		return err
	}
	defer finish()
	var mu sync.Mutex
	shown := map[int]plot.Curves{} // curves of each variant's first run
	variants, stopped := s.Run(ctx, pool, func(n int, label string, o *study.Outcome) {
		if c.PNG != "" {
			if c.Seeds > 1 {
				label = fmt.Sprintf("%s, seed %d", label, o.Summary.Seed)
			}
			x := plot.NewCurves(label, o.Summary, o.Tables)
			mu.Lock()
			defer mu.Unlock()
			shown[n] = x
		}
	})
	if err := c.print(e, variants, s); err != nil {
		return err
	}
	if c.PNG != "" {
		err = readCurves(variants, shown)
	}
	if err != nil {
		return err
	}
	if c.PNG != "" && len(shown) > 0 {
		if err := os.MkdirAll(c.PNG, 0o755); err != nil {
			return input.Fault(err)
		}
		grid := report.NewGrid(c.Set, variants)
		paths, err := plot.Comparison(c.PNG, strings.Join(c.Scenarios, ", "), shown, grid, c.Force)
		if e.list(paths); err != nil {
			return err
		}
		if c.Seeds > 1 {
			report.Labelled(e.stderr, "note: ", fmt.Sprintf("curves are those of the first of %d seeds", c.Seeds))
		}
	}
	switch {
	case stopped != nil && !errors.Is(stopped, runner.ErrInterrupted):
		return stopped
	case stopped != nil && c.Dir != "":
		return fmt.Errorf("%w; the same command resumes the comparison", runner.ErrInterrupted)
	case stopped != nil:
		return fmt.Errorf("%w; what had ended is in the table, nothing was written", runner.ErrInterrupted)
	}
	return study.AnyFailed(variants)
}

// mostColumns is the maximum number of variants in columns; more have a line each.
const mostColumns = 16

// print shows the variants in columns, including those that failed.
func (c *compareCmd) print(e *env, variants []result.Variant, of *study.Comparison) error {
	if c.JSON {
		out := map[string][]compareRun{}
		for _, v := range variants {
			list := []compareRun{}
			for _, s := range v.Runs {
				list = append(list, s)
			}
			if v.Failed != "" {
				list = append(list, failedRun{v.Failed})
			}
			out[v.Label] = append(out[v.Label], list...)
		}
		for _, u := range of.Unfit {
			out[u.Label] = append(out[u.Label], unfitVariant{u.Why})
		}
		return printJSON(e.stdout, out)
	}
	title := strings.Join(c.Scenarios, ", ")
	if len(c.Scenarios) == 1 {
		for _, v := range variants {
			if len(v.Runs) > 0 && v.Runs[0].Name != "" {
				title = v.Runs[0].Name
			}
		}
	}
	if of.LeavesOut() {
		report.Algorithms(e.stdout, title, variants, of.Unfit)
		return nil
	}
	if len(variants) > mostColumns {
		if g := report.NewGrid(c.Set, variants); g != nil {
			g.Table(e.stdout, title)
			return nil
		}
		report.Many(e.stdout, title, variants)
		return nil
	}
	report.Compare(e.stdout, title, variants)
	return nil
}

// readCurves adds the curves of the variants that are run directories, whose labels are their paths.
func readCurves(variants []result.Variant, shown map[int]plot.Curves) error {
	for n := range variants {
		v := &variants[n]
		if _, simulated := shown[n]; simulated || !result.IsDir(v.Label) {
			continue
		}
		r, err := web.Open(v.Label)
		if err != nil {
			return input.Fault(err)
		}
		t, err := r.Curves()
		if err != nil {
			return input.Fault(err)
		}
		shown[n] = plot.NewCurves(v.Label, &r.Summary, t)
	}
	return nil
}

// plotsFit refuses, before a simulation, a folder to which plots cannot be written.
func (c *compareCmd) plotsFit() error {
	if c.PNG == "" {
		return nil
	}
	if _, err := os.Stat(c.PNG); err == nil && !result.IsDir(c.PNG) {
		return fmt.Errorf("--png: %s is a file, not a folder", c.PNG)
	}
	for _, name := range []string{"completion", "queues", "rates", "slowdown", "steps"} {
		path := filepath.Join(c.PNG, name+".png")
		if _, err := os.Stat(path); err == nil && !c.Force {
			return fmt.Errorf("%s exists; --force replaces it", path)
		}
	}
	return nil
}
