package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/submission"
	"railyard/internal/whatif"
	"railyard/unit"
)

type runCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Out      string   `help:"Run directory (runs/NAME-NNN)" placeholder:"DIR"`
	Seed     *uint64  `help:"Random seed (from the scenario)"`
	Set      []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Force    bool     `help:"Replace an existing run directory"`
	JSON     bool     `help:"Print the summary as JSON"`
	Capture  []string `help:"Write a pcapng of a port (rail-1:Eth3); repeatable" group:"Trace" placeholder:"PORT" sep:"none"`
	Window   string   `help:"Simulated time to capture; later packets are not recorded" group:"Trace" default:"0us..1ms" placeholder:"A..B" name:"capture-window" with:"capture"`
	Follow   []string `help:"Trace a packet hop by hop (0/1614795 by PSN, 0/+17 by offset, 0/longest-wait, 0/marked, 0/paused by search); repeatable" group:"Trace" placeholder:"QP/PSN" sep:"none"`
	Counters string   `help:"Write counters as nxos, eos or sonic prints them" group:"Devices" placeholder:"SYSTEM"`
	deviceFlags
	CountTo string             `help:"Directory of the counters (next to the run directory)" group:"Devices" placeholder:"DIR" name:"counters-dir" with:"counters"`
	Confirm string             `help:"Simulate small runs again without main causes and with remedies (auto), all runs (always) or none (never)" placeholder:"WHEN" default:"auto" enum:"auto,always,never"`
	Expect  []string           `help:"Check a figure of summary.json ('step_time < 550ms', drops=0); repeatable; exit code 4: not met" group:"Checks" placeholder:"CONDITION" sep:"none"`
	JUnit   string             `help:"Write the checks as JUnit XML" group:"Checks" placeholder:"FILE.xml" name:"junit" with:"expect"`
	Memory  string             `help:"Memory limit (available memory)" placeholder:"SIZE"`
	Cores   *int               `help:"Cores for the simulation, a part of the network each; results do not change (those free, if it takes over 2 s)" placeholder:"N" range:"1,1024"`
	Audit   *float64           `help:"With fidelity=reuse, also simulate this percentage of the reused episodes and print how far their times are off" placeholder:"PERCENT" range:"0.01,100"`
	Beside  *submission.Report `kong:"-"` // printed with the summary as JSON
	CPU     string             `help:"Write a CPU profile (pprof)" placeholder:"FILE" name:"cpuprofile"`
}

func (c *runCmd) Help() string {
	return `Examples:
  railyard run scenarios/pod64-llama2-7b.yaml
  railyard run scenarios/three-flows.yaml --set lb=spray --seed 7 --out runs/spray --force
  railyard run scenarios/fattree128-permutation.yaml --json | jq .step_time_ps
  railyard run scenarios/three-flows.yaml --capture rail-1:Eth3 --capture-window 0us..200us
  railyard run scenarios/three-flows.yaml --follow 0/+400 --out runs/followed
  railyard report runs/followed --packet 0/+400
  railyard run scenarios/victim.yaml --counters sonic --counters-dir shown
  railyard run scenarios/three-flows.yaml --expect 'step_time < 2ms' --expect drops=0 --junit checks.xml`
}

// Run is the run command.
func (c *runCmd) Run(e *env) error {
	began := time.Now()
	keep, err := c.profiled()
	if err != nil {
		return err
	}
	defer pprof.StopCPUProfile() // also written if the command fails before it simulates
	plan, err := scenariofile.Plan(c.Scenario, c.Set, c.Seed)
	if err != nil {
		return err
	}
	if c.chosen().Given() && c.Counters != "sonic" {
		return field.New("--hwsku and --profile", "set port names for --counters sonic, which is not set")
	}
	if c.Counters == "sonic" && c.chosen().Wanted(plan.Graph) {
		if err := c.chosen().Fit(plan.Graph); err != nil {
			return err
		}
	}
	return c.simulated(e, plan, began, keep)
}

// simulated runs a plan, writes the results and prints them; keep writes the profile.
func (c *runCmd) simulated(e *env, plan *scenario.Plan, began time.Time, keep func() error) error {
	limit, err := parseMemory(c.Memory)
	if err != nil {
		return err
	}
	checks, err := newChecks(c.Expect, c.JUnit, c.Force)
	if err != nil {
		return err
	}
	defer checks.drop()
	run, err := e.newRun(plan, limit)
	if err != nil {
		return err
	}
	tap, err := c.capture(run)
	if err != nil {
		return err
	}
	follow, err := c.follow(run)
	if err != nil {
		return err
	}
	count, err := c.census(run)
	if err != nil {
		return err
	}
	if err := c.share(e, run); err != nil {
		return err
	}
	if err := c.audit(run, plan); err != nil {
		return err
	}
	job := &runner.Runner{Plan: plan, Run: run, Version: runner.Version(), Began: began, Capture: tap,
		Follow: follow}
	if c.Out == "" {
		err = job.Fresh("runs", scenariofile.Slug(plan.Name, c.Scenario))
	} else {
		err = job.Reserve(c.Out, c.Force)
	}
	if err != nil {
		return input.Fault(err)
	}
	defer job.Release()
	for _, n := range plan.Notes {
		report.Labelled(e.stderr, "note: ", n)
	}
	var s *result.Summary
	var lost error
	goErr := watched(run, e, func(watch exec.Observer) (goErr error) {
		job.Confirm = func(s *result.Summary) bool { return c.confirm(plan, s, limit, watch) }
		s, goErr, lost = job.Go(watch)
		return goErr
	})
	job.Release() // before the output begins, because a closed pipe ends the program
	lost = errors.Join(lost, keep(), count.write(e, job.Dir))
	if err := c.print(e, job, s); err != nil {
		return err
	}
	if errors.Is(goErr, runner.ErrInterrupted) {
		goErr = stoppedAt(job)
	}
	if goErr != nil && lost != nil {
		fmt.Fprintf(e.stderr, "error: %v\n", lost)
		return goErr
	}
	if goErr == nil {
		lost = errors.Join(lost, checks.print(e, c.JSON, s))
	}
	switch {
	case goErr != nil || lost != nil:
		return errors.Join(goErr, lost)
	case s.Outcome != nil:
		return &exitError{exitLost} // the report shows the reason
	case !checks.met():
		return &exitError{exitUnmet}
	}
	return nil
}

// worthSharing is the estimated time, in seconds, above which all free cores share a run.
const worthSharing = 2

// share lets several cores share a run: the configured number, or all free ones for a long run.
func (c *runCmd) share(e *env, run *fidelity.Simulation) error {
	cores := 1
	switch {
	case c.Cores != nil:
		cores = *c.Cores
	case run.Cost.Seconds > worthSharing:
		cores = runner.FreeCores()
	}
	if why := run.Share(cores); why != "" && c.Cores != nil && cores > 1 {
		report.Labelled(e.stderr, "note: ", "one core: "+why)
	}
	return nil
}

// audit makes a run simulate a part of the results that it reuses.
func (c *runCmd) audit(run *fidelity.Simulation, plan *scenario.Plan) error {
	if c.Audit == nil {
		return nil
	}
	of, ok := run.Run.(fidelity.Auditor)
	if !ok {
		return field.New("--audit", "fidelity %s reuses nothing; accepted: --set fidelity=reuse", plan.Fidelity)
	}
	of.Audit(*c.Audit / 100)
	return nil
}

// confirm simulates a run again without its main causes and with remedies, if requested or fast.
func (c *runCmd) confirm(plan *scenario.Plan, s *result.Summary, memory unit.Bytes, watch exec.Observer) bool {
	limits, small := whatif.Small(s)
	if c.Confirm == "never" || c.Confirm != "always" && !small {
		return false
	}
	if c.Confirm == "always" {
		limits = whatif.Limits{}
	}
	limits.Memory, limits.Watch = memory, watch
	return whatif.Confirm(plan, s, limits)
}

// print shows the report, whether or not the run could be written.
func (c *runCmd) print(e *env, job *runner.Runner, s *result.Summary) error {
	if c.JSON && c.Beside != nil {
		return printJSON(e.stdout, submitted{job.Dir, c.Beside, s})
	}
	if c.JSON {
		return printJSON(e.stdout, s)
	}
	report.Text(e.stdout, s)
	if job.Dir == "" {
		return nil
	}
	screen.Painted(e.stdout, screen.Baseline, "Results: ",
		job.Dir+" (summary.json, *.parquet; trace.json for Perfetto)")
	if job.Moved != "" {
		report.Wrap(e.stdout, "", job.Moved+".")
	}
	if job.Capture != nil {
		of := ""
		if _, to, err := c.window(); err == nil && to < unit.Time(s.StepTime) {
			of = fmt.Sprintf(", those of %s; the run took %s: --capture-window", c.Window, unit.Time(s.StepTime).Show())
		}
		report.Labelled(e.stdout, "Capture: ", fmt.Sprintf("%s in %s (railyard pcap, Wireshark)%s; addresses number the NICs and are not config render's",
			unit.Plural(job.Capture.Len(), "packet"), filepath.Join(job.Dir, "capture.pcapng"), of))
	}
	if job.Follow != nil {
		for i, f := range job.Follow.Packets() {
			how := fmt.Sprintf("railyard report %s --packet %s", job.Dir, c.Follow[i])
			if none := report.NotFollowed(&f); none != "" {
				how = none
			}
			fmt.Fprintf(e.stdout, "Trace of packet %s: %s\n", c.Follow[i], how)
		}
	}
	all := whatif.Remedies(job.Plan, s)
	switch {
	case !s.Complete || len(all) == 0:
	case len(whatif.First(all, 1)) > 0:
		fmt.Fprintf(e.stdout, "Next: railyard why %s --try 3 (simulates the remedies)\n", job.Dir)
	default:
		fmt.Fprintf(e.stdout, "Next: railyard why %s (all remedies, and what does not help)\n", job.Dir)
	}
	return nil
}

// stoppedAt describes a run that Ctrl-C has ended.
func stoppedAt(job *runner.Runner) error {
	if job.Dir == "" {
		return fmt.Errorf("%w; nothing could be written", runner.ErrInterrupted)
	}
	return fmt.Errorf("%w; what had been simulated is in %s, marked incomplete", runner.ErrInterrupted, job.Dir)
}

// profiled starts the requested CPU profile; keep ends and writes it.
func (c *runCmd) profiled() (keep func() error, err error) {
	if c.CPU == "" {
		return func() error { return nil }, nil
	}
	if b, err := input.Text(c.CPU, 0); c.Force && err == nil && len(b) > 0 &&
		!bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		// --force is about runs
		return nil, input.Fault(fmt.Errorf("%s is not a CPU profile: it is not replaced", c.CPU))
	}
	if err := output.Fits(c.Force, c.CPU); err != nil {
		return nil, err
	}
	var w bytes.Buffer
	return func() error {
		pprof.StopCPUProfile()
		return output.WriteBytes(c.CPU, c.Force, w.Bytes())
	}, pprof.StartCPUProfile(&w)
}

// window reads the time to capture.
func (c *runCmd) window() (from, to unit.Time, err error) {
	a, b, ok := strings.Cut(c.Window, "..")
	from, err1 := unit.ParseTime(a)
	to, err2 := unit.ParseTime(b)
	if errors.Join(err1, err2) != nil || !ok || from < 0 || to < from {
		err = field.New("--capture-window", "found %s, expected two times such as 0us..200us, the later one last", field.Quote(c.Window))
	}
	return from, to, err
}

// capture starts the requested captures.
func (c *runCmd) capture(run *fidelity.Simulation) (*fidelity.Capture, error) {
	if len(c.Capture) == 0 {
		return nil, nil
	}
	from, to, err := c.window()
	if err != nil {
		return nil, err
	}
	packets, ok := run.Run.(fidelity.Capturer)
	if !ok {
		return nil, field.New("--capture", "only a simulation of packets has what to capture")
	}
	tap, err := packets.Capture(c.Capture, from, to)
	if err != nil {
		return nil, field.Under("--capture", err)
	}
	return tap, nil
}

// follow starts to follow the packets that were named.
func (c *runCmd) follow(run *fidelity.Simulation) (*fidelity.Follower, error) {
	if len(c.Follow) == 0 {
		return nil, nil
	}
	var all []fidelity.Named
	for _, s := range c.Follow {
		n, err := fidelity.ParseNamed(s)
		if err != nil {
			return nil, field.Under("--follow", err)
		}
		all = append(all, n)
	}
	packets, ok := run.Run.(fidelity.Tracker)
	if !ok {
		return nil, field.New("--follow", "only a simulation of packets has packets to follow")
	}
	f, err := packets.Follow(all)
	if err != nil {
		return nil, field.Under("--follow", err)
	}
	return f, nil
}

// watched simulates a run with a progress bar, and ends it early but orderly on Ctrl-C. Writing millions of flows
// takes long. A second Ctrl-C does not wait for it; the incomplete hidden files are removed by the next run.
func watched(run *fidelity.Simulation, e *env, simulate func(exec.Observer) error) error {
	ctx, release := e.endable()
	defer release()
	bar := newMeter(e)
	defer bar.finish()
	said := e.ending(ctx)
	return runner.Guarded(run, func(p exec.Progress) bool {
		bar.simulated(p)
		said()
		return ctx.Err() == nil
	}, simulate)
}
