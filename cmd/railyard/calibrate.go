package main

import (
	"fmt"
	"time"

	"railyard/internal/calibrate"
	"railyard/internal/calibrate/fitting"
	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/perftest"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

type calibrateCmd struct {
	Fabric    string        `help:"Scenario of the measured cluster" required:"" placeholder:"SCENARIO"`
	NCCLTests []string      `help:"Output of nccl-tests, text or JSON" group:"Input" name:"nccl-tests" placeholder:"FILE,..."`
	Perftest  []string      `help:"Output of ib_write_bw, ib_write_lat, ib_send_bw …" group:"Input" placeholder:"FILE,..."`
	Inspector []string      `help:"Files or directories of NCCL Inspector" group:"Input" placeholder:"PATH,..."`
	Step      time.Duration `help:"Measured step time of the scenario's training" group:"Input" default:"0s"`
	Capture   []string      `help:"Captures at receiving NICs: delay from mark to CNP" group:"Input" placeholder:"FILE,..."`
	Fit       []string      `help:"Fit only these: message, nic_share, nvlink_share, launch, step, network_step, compute_share" placeholder:"NAME,..."`
	Aside     int           `help:"Hold out every Nth point to measure the error; 0: none" default:"3" range:"0,1000000"`
	Largest   string        `help:"Largest collective to simulate during the fit" default:"64MiB" placeholder:"SIZE"`
	Algorithm string        `help:"Algorithm of the measured all-reduces (NCCL_ALGO); auto: as NCCL's tuning model selects" default:"auto" enum:"auto,ring,tree,nvls"`
	Set       []string      `help:"Override a value of the scenario; repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Out       string        `help:"Write the scenario with its calibration" placeholder:"FILE"`
	Plot      string        `help:"Plot measured and simulated times" placeholder:"FILE.png"`
	Force     bool          `help:"Replace existing files, and begin anew in --study"`
	JSON      bool          `help:"Print as JSON"`

	studyFlags
}

func (c *calibrateCmd) Help() string {
	return `Fits parameters that no data sheet contains to measurements: message latency, share of NIC and
NVLink rate that GPUs reach, launch time and per-step latency of a collective, kernel efficiency.
Parameters that the measurements do not constrain are not fitted and named. The error is measured on
held-out points. The result is a calibration block of the scenario, which what-if variants keep.

--capture measures a NIC's delay from a marked packet to its CNP, and its interval between CNPs.
Capture at the receiving NIC's own port (or a mirror of its switch port) while several hosts send to
it, with hardware timestamps in nanoseconds. 128 bytes per packet are enough.

Examples:
  railyard calibrate --fabric pod.yaml --nccl-tests out.txt --plot fit.png --out calibrated.yaml
  railyard calibrate --fabric pod.yaml --nccl-tests out.txt --perftest lat.txt,bw.txt --json
  railyard calibrate --fabric scenarios/pod64-llama2-7b.yaml --step 610ms
  railyard calibrate --fabric pod.yaml --capture receiver.pcapng --out calibrated.yaml`
}

// Run is the calibrate command.
func (c *calibrateCmd) Run(e *env) error {
	q := &fitting.Question{Fabric: c.Fabric, Set: c.Set, NCCLTests: c.NCCLTests, Perftest: c.Perftest,
		Inspector: c.Inspector, Capture: c.Capture, Fit: c.Fit, Step: c.Step, Aside: c.Aside, Algorithm: c.Algorithm,
		Out: c.Out, Force: c.Force}
	if err := c.flags(q); err != nil {
		return err
	}
	r, b, err := c.fitted(e, q)
	if err != nil {
		return err
	}
	if len(c.Capture) > 0 {
		m := newMeter(e)
		r.Capture, err = q.Captures(m.show)
		if m.finish(); err != nil {
			return err
		}
	}
	if c.Out != "" {
		if err := q.Write(b, r); err != nil {
			return err
		}
	}
	if c.Plot != "" {
		if err := plot.Calibration(r, c.Plot, c.Force); err != nil {
			return err
		}
	}
	return e.show(c.JSON, r, func() {
		table.Calibration(e.stdout, r, c.Out, c.Set)
		if len(c.NCCLTests) > 0 && fitting.Differ(r.Points) {
			report.Labelled(e.stdout, "next: ", fmt.Sprintf("railyard explain %s --fabric %s%s tries causes of the difference",
				c.NCCLTests[0], c.Fabric, c.alike(len(r.Points))))
		}
	})
}

// alike returns the flags with which explain simulates the same as calibrate, with the given number of points.
func (c *calibrateCmd) alike(points int) (flags string) {
	if c.Algorithm != "auto" {
		flags += " --algorithm " + c.Algorithm
	}
	for _, s := range c.Set {
		flags += " --set " + s
	}
	if points > 8 { // explain's default
		flags += fmt.Sprintf(" --points %d", min(points, 100))
	}
	return flags
}

// fitted fits to times, with a progress bar for the fit.
func (c *calibrateCmd) fitted(e *env, q *fitting.Question) (r *fitting.Report, b *calibrate.Bench, err error) {
	if q.Timed() {
		if q.Largest, err = perftest.Size("--largest", c.Largest, unit.KiB, unit.GiB); err != nil {
			return nil, nil, err
		}
	}
	simulate, bar, release, err := c.simulator(e)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	return q.Fitted(simulate, bar.show)
}

// simulator returns a function that simulates plans, with one progress bar for all.
func (c *calibrateCmd) simulator(e *env) (simulate func(*scenario.Plan) (*result.Summary, error), bar *meter,
	release func(), err error) {
	ctx, pool, free := e.pool()
	finish, err := c.keep(ctx, e, pool, "calibrate", []string{c.Fabric}, c.Force)
	if err != nil {
		free()
		return nil, nil, nil, err
	}
	bar = newMeter(e)
	pool.Progress = nil // the meter shows the progress of the fit, not that of each run
	return func(p *scenario.Plan) (*result.Summary, error) {
		s, _, err := pool.Whole(ctx, "", p)
		return s, err
	}, bar, func() { bar.finish(); finish(); free() }, nil
}

// flags refuses meaningless flags before a simulation.
func (c *calibrateCmd) flags(q *fitting.Question) error {
	switch {
	case !q.Timed() && len(c.Capture) == 0:
		return field.New("", "nothing is measured: --nccl-tests, --perftest, --inspector, --step or --capture is expected")
	case !q.Timed() && (len(c.Fit) > 0 || c.Plot != ""):
		return field.New("", "--fit and --plot are about times, and --capture alone has none: --nccl-tests, --perftest, --inspector or --step is expected")
	case c.Step < 0 || c.Step > 24*time.Hour:
		return field.Outside("--step", "1us", "24h", c.Step)
	case c.Aside < 0 || c.Aside == 1:
		return field.New("--aside", "must be 0 or at least 2, found %d", c.Aside)
	case c.Force && c.Out+c.Plot+c.Dir == "":
		return field.New("--force", "has no effect without a file to write, or --study")
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	return output.Fits(c.Force, c.Out, c.Plot)
}
