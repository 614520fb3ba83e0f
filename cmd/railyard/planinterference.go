package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study/interference"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

type planInterferenceCmd struct {
	Scenario string   `arg:"" help:"Scenario file with jobs, - for stdin." placeholder:"SCENARIO"`
	Set      []string `help:"Change a value: jobs.left.placement=spread." placeholder:"KEY=VALUE" sep:"none"`
	Top      int      `help:"How many ports to list where jobs met." default:"10" range:"0,100"`
	Plot     string   `help:"Plot when each job ran, alone and together: .png or .svg." placeholder:"FILE"`
	Force    bool     `help:"Replace a plot that exists." with:"plot"`
	JSON     bool     `help:"Print as JSON."`
}

func (c *planInterferenceCmd) Help() string {
	return `Simulates all jobs of a scenario together, and each alone on the GPUs that it has there: how much
each is slowed down, and at which ports and when it had to share. A message's slowdown is its time beside
the same message's of the job alone; background traffic, whose messages begin at times of their own, has no
other. Exit code 3: a job lost a rank, as with run.

Examples:
  railyard plan interference scenarios/two-jobs.yaml
  railyard plan interference scenarios/two-jobs.yaml --set placement=spread --plot jobs.png
  railyard compare scenarios/two-jobs.yaml --set placement=packed,rack,spread,random`
}

// Run is the plan interference command.
func (c *planInterferenceCmd) Run(e *env) error {
	plan, err := scenariofile.Plan(c.Scenario, c.Set, nil)
	if err != nil {
		return err
	}
	if err := isPicture(c.Plot); err != nil {
		return err
	}
	ctx, pool, release := e.pool()
	defer release()
	again := func() (*scenario.Plan, error) { return scenariofile.Plan(c.Scenario, c.Set, nil) }
	out, err := interference.Simulate(ctx, pool, plan, again)
	if err != nil {
		return err
	}
	if c.Plot != "" {
		if err := c.draw(out); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := printJSON(e.stdout, out); err != nil {
			return err
		}
	} else {
		printInterference(e.stdout, out, c.Top)
	}
	if out.Lost() {
		return &exitError{exitLost} // the table has said so
	}
	return nil
}

func printInterference(w io.Writer, x *interference.Result, top int) {
	fmt.Fprintf(w, "%s: %s, together and each alone on the same GPUs\n\n", x.Name,
		unit.Plural(len(x.Jobs), "job"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tGPUs\tstarts\talone\ttogether\tslowdown\tmessages: p50\tp99")
	for _, j := range x.Jobs {
		fmt.Fprintf(t, "%s\t%d\t%v\t%s\t%s\t%s\t%s\n", j.Job, j.GPUs, unit.Time(j.Start),
			interference.Took(j.Alone, j.Lost.Alone),
			interference.Took(j.Together, j.Lost.Together), j.Ratio(), j.Messages.Words())
	}
	t.Flush()
	if x.Outcome != nil {
		report.Labelled(w, "rank lost  ", x.Outcome.Why)
	}
	if len(x.Meetings) == 0 {
		fmt.Fprintln(w, "\nThey never had bytes under way at one port at a time.")
	}
	report.Meetings(w, x.Meetings, top, "which --top and --json show")
}

// draw writes when each job ran: alone above, together below.
func (c *planInterferenceCmd) draw(x *interference.Result) error {
	p, err := interferencePlot(x)
	if err != nil {
		return err
	}
	height := vg.Length(4+1.5*float64(len(x.Jobs))) * vg.Centimeter
	to, err := p.WriterTo(24*vg.Centimeter, height, strings.ToLower(filepath.Ext(c.Plot))[1:])
	if err != nil {
		return err
	}
	return output.Write(c.Plot, c.Force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}

func interferencePlot(x *interference.Result) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "jobs alone and together"
	p.X.Label.Text, p.X.Min, p.Legend.Top = "time, ms", 0, true
	var ticks []plot.Tick
	for i, j := range x.Jobs {
		y := float64(len(x.Jobs) - i)
		ticks = append(ticks, plot.Tick{Value: y, Label: j.Job + " " + j.Label()})
		for k, took := range []int64{j.Alone, j.Together} {
			from, to := float64(j.Start)/1e9, float64(j.Start+took)/1e9
			top := y + 0.3 - 0.32*float64(k)
			bar, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: top}, {X: to, Y: top},
				{X: to, Y: top - 0.28}, {X: from, Y: top - 0.28}})
			if err != nil {
				return nil, err
			}
			bar.Color, bar.LineStyle.Width = tints[k], 0
			p.Add(bar)
			if i == 0 {
				p.Legend.Add([]string{"alone", "together"}[k], bar)
			}
		}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Max *= 1.02
	p.Y.Min, p.Y.Max = 0.4, float64(len(x.Jobs))+0.9
	return p, nil
}
