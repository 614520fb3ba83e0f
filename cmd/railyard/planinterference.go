package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"railyard/internal/field"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/workload"
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
each is slowed down, and at which ports and when it had to share.

Examples:
  railyard plan interference scenarios/two-jobs.yaml
  railyard plan interference scenarios/two-jobs.yaml --set placement=spread --plot jobs.png
  railyard compare scenarios/two-jobs.yaml --set placement=packed,rack,spread,random`
}

// slowdown is what the others cost a job.
type slowdown struct {
	Job      string  `json:"job"`
	GPUs     int     `json:"gpus"`
	Start    int64   `json:"start_ps"`
	Alone    int64   `json:"alone_ps"`
	Together int64   `json:"together_ps"`
	Slowdown float64 `json:"slowdown"`
}

// interference is what the command says.
type interference struct {
	Jobs     []slowdown       `json:"jobs"`
	Meetings []result.Meeting `json:"meetings"`
}

// maxAlone bounds how many jobs are simulated alone.
const maxAlone = 64

// Run is the plan interference command.
func (c *planInterferenceCmd) Run(e *env) error {
	plan, err := loadPlan(c.Scenario, c.Set, nil)
	if err != nil {
		return err
	}
	switch n := len(plan.Jobs); {
	case n < 2:
		return &inputError{plan.Refuse("jobs", "there is one: interference is between two and more")}
	case n > maxAlone:
		return &inputError{plan.Refuse("jobs", "there are %d; at most %d are simulated alone", n, maxAlone)}
	}
	if err := isPicture(c.Plot); err != nil {
		return err
	}
	e.doing = "together"
	all, _, err := outcomeTables(e, plan)
	if err != nil {
		return fmt.Errorf("together: %w", err)
	}
	out := interference{Meetings: all.Meetings}
	for i := range all.Jobs {
		j := &all.Jobs[i]
		alone, err := loadPlan(c.Scenario, c.Set, nil)
		if err != nil {
			return err
		}
		alone.Jobs = onlyJob(alone.Jobs, j.Name)
		e.doing = j.Name + " alone"
		s, _, err := outcomeTables(e, alone)
		if err != nil {
			return fmt.Errorf("%s alone: %w", j.Name, err)
		}
		out.Jobs = append(out.Jobs, slowdown{Job: j.Name, GPUs: j.GPUs, Start: j.Start,
			Alone: s.Jobs[0].StepTime, Together: j.StepTime,
			Slowdown: float64(j.StepTime) / float64(max(1, s.Jobs[0].StepTime))})
	}
	if c.Plot != "" {
		if err := c.draw(&out); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e.stdout, out)
	}
	out.print(e.stdout, all.Name, c.Top)
	return nil
}

// onlyJob is the job of a name, alone.
func onlyJob(jobs []workload.Job, name string) []workload.Job {
	for i := range jobs {
		if jobs[i].Name == name {
			return jobs[i : i+1]
		}
	}
	panic("railyard: no job " + field.Quote(name)) // the name comes from a run of the same jobs
}

func (x *interference) print(w io.Writer, name string, top int) {
	fmt.Fprintf(w, "%s: %s, together and each alone on the same GPUs\n\n", name,
		unit.Plural(len(x.Jobs), "job"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tGPUs\tstarts\talone\ttogether\tslowdown")
	for _, j := range x.Jobs {
		fmt.Fprintf(t, "%s\t%d\t%v\t%v\t%v\t%.3fx\n", j.Job, j.GPUs, unit.Time(j.Start), unit.Time(j.Alone),
			unit.Time(j.Together), j.Slowdown)
	}
	t.Flush()
	if len(x.Meetings) == 0 {
		fmt.Fprintln(w, "\nThey never had bytes under way at one port at a time.")
	}
	report.Meetings(w, x.Meetings, top, "which --top and --json show")
}

// draw writes when each job ran: alone above, together below.
func (c *planInterferenceCmd) draw(x *interference) error {
	p, err := x.plot()
	if err != nil {
		return err
	}
	height := vg.Length(4+1.5*float64(len(x.Jobs))) * vg.Centimeter
	to, err := p.WriterTo(24*vg.Centimeter, height, strings.ToLower(filepath.Ext(c.Plot))[1:])
	if err != nil {
		return err
	}
	return writeOut(c.Plot, c.Force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}

func (x *interference) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "jobs alone and together"
	p.X.Label.Text, p.X.Min, p.Legend.Top = "time, ms", 0, true
	var ticks []plot.Tick
	for i, j := range x.Jobs {
		y := float64(len(x.Jobs) - i)
		ticks = append(ticks, plot.Tick{Value: y, Label: fmt.Sprintf("%s %.2fx", j.Job, j.Slowdown)})
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
