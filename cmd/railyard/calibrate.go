package main

import (
	"time"

	"railyard/internal/calibrate"
	"railyard/internal/calibrate/fitting"
	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/unit"
)

type calibrateCmd struct {
	Fabric    string        `help:"Scenario of the cluster that was measured." required:"" placeholder:"SCENARIO"`
	NCCLTests []string      `help:"Output of nccl-tests, text or JSON." name:"nccl-tests" placeholder:"FILE,..."`
	Perftest  []string      `help:"Output of ib_write_bw, ib_write_lat and their kin." placeholder:"FILE,..."`
	Inspector []string      `help:"Files of NCCL's Inspector, or folders of them." placeholder:"PATH,..."`
	Step      time.Duration `help:"How long a step of the scenario's own training took." default:"0s"`
	Capture   []string      `help:"Captures at receiving NICs: how long marks wait for CNPs." placeholder:"FILE.pcapng,..."`
	Fit       []string      `help:"Fit these and no others: message, nic_share, nvlink_share, launch, step, network_step, compute_share." placeholder:"NAME,..."`
	Aside     int           `help:"Keep every so manieth point aside, to compare with; 0: none." default:"3" range:"0,1000000"`
	Largest   string        `help:"Largest collective simulated at every step of the fit; its outcome is simulated whole." default:"64MiB" placeholder:"SIZE"`
	Algorithm string        `help:"Of the all-reduces that were measured, as NCCL_ALGO names it; auto: NCCL's tuning model's." default:"auto" enum:"auto,ring,tree,nvls"`
	Set       []string      `help:"Override a value of the scenario." placeholder:"KEY=VALUE" sep:"none"`
	Out       string        `help:"Write the scenario with its calibration." placeholder:"FILE"`
	Plot      string        `help:"Draw what was measured and simulated, before and after." placeholder:"FILE.png"`
	Force     bool          `help:"Replace existing files."`
	JSON      bool          `help:"Print as JSON."`
}

func (c *calibrateCmd) Help() string {
	return `Fits what no data sheet says, and no simulation can know, to what was measured: a message's
latency, the share of NIC and NVLink that GPUs reach, what a collective takes to launch and each of its
steps beyond the wire, kernels' efficiency. It fits only what the measurements carry and says what they do
not; some points are kept aside, and the error on those is the one to believe. The calibration is a block
of the scenario, of shares and additions, so that what-ifs keep it.

--capture finds what a receiving NIC takes from a marked packet to its CNP, and its interval between CNPs.
Capture at the receiving NIC's own port (a sniffer of the NIC, or a mirror of the switch port that it hangs
on) while several hosts send to it; elsewhere the way there and back counts as well. Stamps of hardware,
in nanoseconds; 128 bytes of each packet are enough; other ports in one pcapng do no harm.

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
	if c.JSON {
		return printJSON(e.stdout, r)
	}
	table.Calibration(e.stdout, r, c.Out, c.Set)
	return nil
}

// fitted fits to times, with a bar for the fit.
func (c *calibrateCmd) fitted(e *env, q *fitting.Question) (r *fitting.Report, b *calibrate.Bench, err error) {
	if q.Timed() {
		if q.Largest, err = parseSize("--largest", c.Largest, unit.KiB, unit.GiB); err != nil {
			return nil, nil, err
		}
	}
	ctx, pool, release := e.pool()
	defer release()
	bar := newMeter(e)
	pool.Progress = nil // the bar is of the fit
	defer bar.finish()
	return q.Fitted(func(p *scenario.Plan) (float64, error) {
		s, _, err := pool.Whole(ctx, "", p)
		if err != nil {
			return 0, err
		}
		return unit.Time(s.StepTime).Seconds(), nil
	}, bar.show)
}

// flags refuses what makes no sense before anything is simulated.
func (c *calibrateCmd) flags(q *fitting.Question) error {
	switch {
	case !q.Timed() && len(c.Capture) == 0:
		return field.New("", "nothing is measured: --nccl-tests, --perftest, --inspector, --step or "+
			"--capture is expected")
	case !q.Timed() && (len(c.Fit) > 0 || c.Plot != ""):
		return field.New("", "--fit and --plot are about times, and --capture alone has none: --nccl-tests, "+
			"--perftest, --inspector or --step is expected")
	case c.Step < 0 || c.Step > 24*time.Hour:
		return field.Outside("--step", "1us", "24h", c.Step)
	case c.Aside < 0 || c.Aside == 1:
		return field.New("--aside", "must be 0 or at least 2, found %d", c.Aside)
	case c.Force && c.Out+c.Plot == "":
		return field.New("--force", "means nothing without a file to write")
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	for _, path := range []string{c.Out, c.Plot} {
		if path == "" {
			continue
		}
		f, err := output.Create(path, c.Force)
		if err != nil {
			return err
		}
		f.Drop()
	}
	return nil
}
