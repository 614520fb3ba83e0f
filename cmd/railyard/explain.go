package main

import (
	"strings"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/field"
	"railyard/internal/identify"
	"railyard/unit"
)

type explainCmd struct {
	File      string   `arg:"" help:"File or directory: results, counters, captures, configurations, traces, job scripts, runs" placeholder:"FILE"`
	Fabric    string   `help:"Scenario of the fabric: simulates what was measured, completes the commands" placeholder:"SCENARIO"`
	Set       []string `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none" with:"fabric"`
	Points    int      `help:"Maximum number of measured points to simulate, the smallest and the largest among them" default:"8" range:"2,100" with:"fabric"`
	Algorithm string   `help:"Algorithm of measured all-reduces (NCCL_ALGO): auto, ring, tree or nvls" default:"auto" enum:"auto,ring,tree,nvls" with:"fabric"`
	JSON      bool     `help:"Print as JSON"`
}

func (c *explainCmd) Help() string {
	return `Recognizes a file by its content, and prints its kind, a summary and the next commands.
With --fabric it simulates the measurements of nccl-tests and perftest, prints both, and names the part that
is below expectation: slower by 10 % than simulated and than NCCL's tuning model estimates, after the
simulator's known error for the algorithm. If one is, it simulates hypotheses, such as a NIC's link at half of
its rate, and prints those that fit, alone or with a latency, with a command that confirms
each and a remedy.

Examples:
  railyard explain out.txt
  railyard explain out.txt --fabric scenarios/pod64-llama2-7b.yaml
  railyard explain scenarios/configs/seed-dcqcn.cfg
  railyard explain scenarios/llama2-7b.sbatch --fabric scenarios/pod64-llama2-7b.yaml`
}

// Run is the explain command.
func (c *explainCmd) Run(e *env) error {
	a, err := identify.Of(c.File, c.Fabric)
	if err != nil {
		return err
	}
	if c.Algorithm == "auto" && a.Algorithm != "" {
		c.Algorithm = a.Algorithm
	}
	for i, n := range a.Next {
		if c.Algorithm != "auto" && strings.HasPrefix(n.Command, "calibrate ") && len(a.Measured.Table()) > 0 {
			a.Next[i].Command += " --algorithm " + c.Algorithm
		}
	}
	var points []fitting.Point
	var gap *fitting.Gap
	if a.Measured != nil && c.Fabric != "" {
		calibrate := calibrateCmd{Fabric: c.Fabric, Set: c.Set, NCCLTests: []string{c.File}, Algorithm: c.Algorithm}
		var without string
		if points, without, gap, err = calibrate.compared(e, c.Points, a.Algorithm != ""); err != nil {
			return err
		}
		a.Judge(points, c.Fabric, c.Algorithm, without, c.Set...)
	} else if len(c.Set) > 0 {
		return field.New("--set", "has no effect on a file without measurements")
	}
	return e.show(c.JSON, explainResult{a, points, gap}, func() {
		identify.Print(e.stdout, a, points, gap)
	})
}

// largestCompared is the largest size that explain simulates by packets on any number of ranks.
const largestCompared = 64 * unit.MiB

// compared simulates measured points without fitting and, if they differ, hypotheses. fixed: the measurement sets
// the algorithm of its all-reduces.
func (c *calibrateCmd) compared(e *env, most int, fixed bool) (points []fitting.Point, without string,
	gap *fitting.Gap, err error) {
	q := &fitting.Question{Fabric: c.Fabric, Set: c.Set, NCCLTests: c.NCCLTests, Algorithm: c.Algorithm,
		Largest: largestCompared}
	simulate, bar, release, err := c.simulator(e)
	if err != nil {
		return nil, "", nil, err
	}
	defer release()
	points, without, err = q.Compared(most, simulate, bar.show)
	if err == nil && fitting.Differ(points) {
		gap, err = q.Explain(points, fixed, simulate, bar.show)
	}
	return points, without, gap, err
}
