package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"railyard/internal/calibrate"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/measured"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/tally"
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

// calibrateReport is what the command says.
type calibrateReport struct {
	Scenario string                `json:"scenario"`
	Values   []calibrateValue      `json:"values"`
	Refused  []calibrate.Refusal   `json:"not_fitted"`
	Points   []calibratePoint      `json:"points"`
	Errors   map[string][2]float64 `json:"errors"` // before and after, relative
	Read     tally.Report          `json:"read"`
	Capture  *calibrateCapture     `json:"capture,omitempty"`
}

type calibrateValue struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Was   float64  `json:"was"`
	Is    float64  `json:"is"`
	Error *float64 `json:"standard_error,omitempty"` // where there are points enough to tell
}

type calibratePoint struct {
	Name     string  `json:"name"`
	Bytes    int64   `json:"bytes,omitempty"`
	Measured float64 `json:"measured_us"`
	Before   float64 `json:"before_us"`
	After    float64 `json:"after_us"`
	Aside    bool    `json:"aside"`
	group    string
}

// Run is the calibrate command.
func (c *calibrateCmd) Run(e *env) error {
	if err := c.flags(); err != nil {
		return err
	}
	r, b, err := c.fitted(e)
	if err != nil {
		return err
	}
	if len(c.Capture) > 0 {
		if r.Capture, err = c.captures(e); err != nil {
			return err
		}
	}
	if c.Out != "" {
		if err := c.write(b, r); err != nil {
			return err
		}
	}
	if c.Plot != "" {
		if err := c.draw(r); err != nil {
			return err
		}
	}
	if c.JSON {
		return printJSON(e.stdout, r)
	}
	c.print(e.stdout, r)
	return nil
}

// timed reports whether times are fitted to.
func (c *calibrateCmd) timed() bool {
	return len(c.NCCLTests)+len(c.Perftest)+len(c.Inspector) > 0 || c.Step != 0
}

// fitted fits to times, where there are some.
func (c *calibrateCmd) fitted(e *env) (*calibrateReport, *calibrate.Bench, error) {
	if !c.timed() {
		doc, err := scenariofile.Read(c.Fabric, c.Set)
		b := &calibrate.Bench{}
		if err == nil && doc.File.Calibration != nil {
			b.Start = *doc.File.Calibration
		}
		return &calibrateReport{Scenario: c.Fabric, Errors: map[string][2]float64{}}, b, err
	}
	set, err := c.read()
	if err != nil {
		return nil, nil, err
	}
	b, done, err := c.bench(e, set)
	if err != nil {
		return nil, nil, err
	}
	fit, err := b.Fit(c.Fit)
	done()
	if errors.Is(err, context.Canceled) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	return c.report(b, fit), b, nil
}

// flags refuses what makes no sense before anything is simulated.
func (c *calibrateCmd) flags() error {
	switch {
	case !c.timed() && len(c.Capture) == 0:
		return field.New("", "nothing is measured: --nccl-tests, --perftest, --inspector, --step or "+
			"--capture is expected")
	case !c.timed() && (len(c.Fit) > 0 || c.Plot != ""):
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

// read reads all that was measured.
func (c *calibrateCmd) read() (*measured.Set, error) {
	var files []measured.File
	for _, path := range slices.Concat(c.NCCLTests, c.Perftest, c.Inspector) {
		names := []string{path}
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			if names, err = filepath.Glob(filepath.Join(path, "*")); err != nil {
				return nil, input.Fault(err)
			}
			names = slices.DeleteFunc(names, func(n string) bool {
				st, err := os.Stat(n)
				return err == nil && st.IsDir()
			})
		}
		for _, name := range names {
			f, _, err := input.Stream(name, 0)
			if err != nil {
				return nil, input.Fault(err)
			}
			defer f.Close()
			files = append(files, measured.File{Name: name, Text: f})
		}
	}
	if len(files) == 0 {
		return &measured.Set{}, nil
	}
	set, err := measured.Read(files...)
	if err != nil {
		return nil, input.Fault(err)
	}
	return set, nil
}

// bench is the scenario with what was measured; done ends its progress bar.
func (c *calibrateCmd) bench(e *env, set *measured.Set) (b *calibrate.Bench, done func(), err error) {
	largest, err := parseSize("--largest", c.Largest, unit.KiB, unit.GiB)
	if err != nil {
		return nil, nil, err
	}
	ctx, pool, release := e.pool()
	bar := newMeter(e)
	pool.Progress = nil // the bar is of the fit
	b, err = calibrate.NewBench(calibrate.Setup{
		Load:  func() (*scenario.Document, error) { return scenariofile.Read(c.Fabric, c.Set) },
		Files: scenariofile.Beside(c.Fabric),
		Simulate: func(p *scenario.Plan) (float64, error) {
			s, _, err := pool.Whole(ctx, "", p)
			if err != nil {
				return 0, err
			}
			return unit.Time(s.StepTime).Seconds(), nil
		},
		Progress: bar.show, Aside: c.Aside, Largest: largest, Algorithm: c.Algorithm, Step: c.Step.Seconds()},
		set)
	if err != nil {
		release()
		return nil, nil, input.Fault(err)
	}
	return b, func() { bar.finish(); release() }, nil
}

// report joins the fit with the points.
func (c *calibrateCmd) report(b *calibrate.Bench, fit *calibrate.Fit) *calibrateReport {
	r := &calibrateReport{Scenario: c.Fabric, Refused: fit.Refused, Read: b.Read,
		Errors: map[string][2]float64{"fitted": {math.Expm1(fit.FittedWas), math.Expm1(fit.FittedIs)}}}
	if fit.Aside > 0 {
		r.Errors["aside"] = [2]float64{math.Expm1(fit.HeldWas), math.Expm1(fit.HeldIs)}
	}
	for _, v := range fit.Values {
		x := calibrateValue{Name: v.Name, Unit: v.Unit, Was: v.Start, Is: v.Value}
		if !math.IsNaN(v.Error) {
			x.Error = &v.Error
		}
		r.Values = append(r.Values, x)
	}
	part := 0
	for i := range b.Points {
		p := &b.Points[i]
		if p.Simulated() < p.Bytes {
			part++
		}
		r.Points = append(r.Points, calibratePoint{p.Name, int64(p.Bytes), p.Measured * 1e6,
			fit.Before[i] * 1e6, fit.After[i] * 1e6, p.Held, p.Group})
	}
	tally.Add(&r.Read.Guessed, part, "points too large to be simulated whole, in proportion from a part of their bytes",
		"", 0)
	return r
}

// write writes the scenario with its calibration, and what it was fitted to as comments.
func (c *calibrateCmd) write(b *calibrate.Bench, r *calibrateReport) error {
	doc, err := scenariofile.Read(c.Fabric, nil)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(strings.TrimRight(scenario.WithoutBlocks(doc.Text, "calibration"), "\n") + "\n")
	if len(r.Points) > 0 {
		fmt.Fprintf(&out, "\n# railyard calibrate: error %s\n", strings.Join(r.errors(), "; "))
	} else {
		out.WriteString("\n# railyard calibrate\n")
	}
	for _, s := range c.Set {
		fmt.Fprintf(&out, "# measured with --set %s, which this file does not say\n", s)
	}
	r.Capture.comments(&out)
	out.WriteString("calibration:\n")
	fitted := b.Start
	for _, v := range r.Values {
		calibrate.Find(v.Name).Put(&fitted, v.Is)
	}
	r.Capture.put(&fitted)
	for i := range calibrate.Knobs {
		if k := &calibrate.Knobs[i]; k.Said(&fitted) {
			fmt.Fprintf(&out, "  %s: %s\n", k.Name, k.Text(&fitted))
		}
	}
	if fitted.CNPDelay > 0 {
		fmt.Fprintf(&out, "  cnp_delay: %v\n", fitted.CNPDelay)
	}
	if fitted.CNPInterval > 0 {
		fmt.Fprintf(&out, "  cnp_interval: %v\n", fitted.CNPInterval)
	}
	if len(r.Points) > 0 {
		out.WriteString("# measured, simulated before and after, us\n")
	}
	for _, p := range r.Points {
		fmt.Fprintf(&out, "#   %-44s %12.2f %12.2f %12.2f%s\n", p.Name, p.Measured, p.Before, p.After,
			aside(p.Aside))
	}
	return output.Write(c.Out, c.Force, func(w io.Writer) error {
		_, err := io.WriteString(w,
			out.String())
		return err
	})
}

func aside(is bool) string {
	if is {
		return "  aside"
	}
	return ""
}

// errors says them in words.
func (r *calibrateReport) errors() (out []string) {
	for _, of := range []string{"fitted", "aside"} {
		if x, ok := r.Errors[of]; ok {
			n := 0
			for _, p := range r.Points {
				if p.Aside == (of == "aside") {
					n++
				}
			}
			out = append(out, fmt.Sprintf("%.1f %% before, %.1f %% after over %s %s", 100*x[0], 100*x[1],
				unit.Plural(n, "point"), map[string]string{"fitted": "that were fitted",
					"aside": "kept aside"}[of]))
			switch {
			case x[1] > x[0]:
				out[len(out)-1] += ": worse than no calibration"
			case x[1] > 0.99*x[0] && x[0] > 0.001:
				out[len(out)-1] += ": no better than no calibration"
			}
		}
	}
	return out
}

// maxShown is how many points the terminal shows.
const maxShown = 60

func (c *calibrateCmd) print(w io.Writer, r *calibrateReport) {
	for _, g := range r.Read.Guessed {
		report.Labelled(w, "assumed   ", g.Words())
	}
	for _, l := range r.Read.Left {
		report.Labelled(w, "left out  ", l.Words())
	}
	if r.Capture != nil {
		r.Capture.print(w)
	}
	if len(r.Points) > 0 {
		r.table(w)
	}
	if c.Out != "" {
		fmt.Fprintf(w, "\nwritten to %s\n", c.Out)
		for _, s := range c.Set {
			report.Labelled(w, "note      ", fmt.Sprintf("the errors are with --set %s, which %s does not say", s, c.Out))
		}
	} else {
		fmt.Fprintln(w, "\n--out FILE writes the scenario with this calibration")
	}
}

// table prints what was fitted to times.
func (r *calibrateReport) table(w io.Writer) {
	fmt.Fprintf(w, "%-14s %10s %10s\n", "", "was", "is")
	for _, v := range r.Values {
		spread := ""
		if v.Error != nil {
			spread = fmt.Sprintf(" ± %.2g", *v.Error)
		}
		fmt.Fprintf(w, "%-14s %10.4g %10.4g %s%s, %s\n", v.Name, v.Was, v.Is, v.Unit, spread,
			calibrate.Find(v.Name).About)
	}
	for _, x := range r.Refused {
		report.Labelled(w, fmt.Sprintf("%-14s ", x.Name), "not fitted: "+x.Why)
	}
	fmt.Fprintln(w)
	for _, s := range r.errors() {
		fmt.Fprintf(w, "error %s\n", s)
	}
	fmt.Fprintf(w, "\n%-44s %12s %12s %12s\n", "", "measured us", "before", "after")
	for i, p := range r.Points {
		if i == maxShown {
			fmt.Fprintf(w, "and %s more (--json has all)\n", unit.Plural(len(r.Points)-i, "point"))
			break
		}
		fmt.Fprintf(w, "%-44s %12.2f %11.1f%% %11.1f%%%s\n", p.Name, p.Measured, 100*(p.Before/p.Measured-1),
			100*(p.After/p.Measured-1), aside(p.Aside))
	}
}
