// Package fitting fits a scenario to files of measurements (calibrate). Question names them, Report has the
// calibration and its points, and Write adds the calibration to the scenario. Package calibrate has the fit itself.
package fitting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"railyard/internal/calibrate"
	"railyard/internal/input"
	"railyard/internal/measured"
	"railyard/internal/output"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/tally"
	"railyard/unit"
)

// Question is a set of measurements, with the options of the fit.
type Question struct {
	Fabric                              string
	Set, NCCLTests, Perftest, Inspector []string
	Capture, Fit                        []string
	Step                                time.Duration
	Aside                               int
	Largest                             unit.Bytes
	Algorithm                           string
	Out                                 string
	Force                               bool
}

// Report is a calibration with the measurements to which it was fitted.
type Report struct {
	Scenario string                `json:"scenario"`
	Values   []Value               `json:"values"`
	Refused  []calibrate.Refusal   `json:"not_fitted"`
	Points   []Point               `json:"points"`
	Errors   map[string][2]float64 `json:"errors"` // errors before and after, relative
	Read     tally.Report          `json:"read"`
	Capture  *Capture              `json:"capture,omitempty"`
}

type Value struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Was   float64  `json:"was"`
	Is    float64  `json:"is"`
	Error *float64 `json:"standard_error,omitempty"` // nil: too few points to estimate it
}

type Point struct {
	Name     string  `json:"name"`
	Bytes    int64   `json:"bytes,omitempty"`
	Measured float64 `json:"measured_us"`
	Before   float64 `json:"before_us"`
	After    float64 `json:"after_us"`
	Aside    bool    `json:"aside"`
	Flows    bool    `json:"flows,omitempty"` // simulated as flows, because there are too many packets
	Group    string  `json:"-"`
	total    unit.Bytes
	Settings []string `json:"-"` // overrides with which run simulates the point; nil: none does

	// algorithm of a collective that NCCL's tuning model estimates
	Algorithm string  `json:"algorithm,omitempty"`
	Model     float64 `json:"nccl_model_us,omitempty"` // the model's time
}

// Timed reports whether times are fitted to.
func (c *Question) Timed() bool {
	return len(c.NCCLTests)+len(c.Perftest)+len(c.Inspector) > 0 || c.Step != 0
}

// Fitted fits to times, where there are some.
func (c *Question) Fitted(simulate func(*scenario.Plan) (*result.Summary, error),
	progress func(share float64, label string)) (*Report, *calibrate.Bench, error) {
	if !c.Timed() {
		doc, err := scenariofile.Read(c.Fabric, c.Set)
		b := &calibrate.Bench{}
		if err == nil && doc.File.Calibration != nil {
			b.Start = *doc.File.Calibration
		}
		return &Report{Scenario: c.Fabric, Errors: map[string][2]float64{}}, b, err
	}
	b, err := c.bench(simulate, progress)
	if err != nil {
		return nil, nil, err
	}
	fit, err := b.Fit(c.Fit)
	if errors.Is(err, context.Canceled) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, input.Fault(err)
	}
	return c.report(b, fit), b, nil
}

// bench returns a bench of the scenario and all that was measured.
func (c *Question) bench(simulate func(*scenario.Plan) (*result.Summary, error),
	progress func(share float64, label string)) (*calibrate.Bench, error) {
	set, err := c.read()
	if err != nil {
		return nil, err
	}
	b, err := calibrate.NewBench(calibrate.Setup{
		Load:  func() (*scenario.Document, error) { return scenariofile.Read(c.Fabric, c.Set) },
		Files: scenariofile.Beside(c.Fabric), Simulate: simulate, Progress: progress, Aside: c.Aside,
		Largest: c.Largest, Algorithm: c.Algorithm, Step: c.Step.Seconds()}, set)
	return b, input.Fault(err)
}

// read reads all that was measured.
func (c *Question) read() (*measured.Set, error) {
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

// report combines the fit with the points.
func (c *Question) report(b *calibrate.Bench, fit *calibrate.Fit) *Report {
	r := &Report{Scenario: c.Fabric, Refused: fit.Refused, Read: b.Read,
		Errors: map[string][2]float64{"fitted": {math.Expm1(fit.FittedWas), math.Expm1(fit.FittedIs)}}}
	if fit.Aside > 0 {
		r.Errors["aside"] = [2]float64{math.Expm1(fit.HeldWas), math.Expm1(fit.HeldIs)}
	}
	for _, v := range fit.Values {
		x := Value{Name: v.Name, Unit: v.Unit, Was: v.Start, Is: v.Value}
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
		r.Points = append(r.Points, Point{Name: p.Name, Bytes: int64(p.Size()), Measured: p.Measured * 1e6,
			Before: fit.Before[i] * 1e6, After: fit.After[i] * 1e6, Aside: p.Held, Group: p.Group})
	}
	tally.Add(&r.Read.Guessed, part, "points too large to be simulated whole, in proportion from a part of their bytes",
		"", 0)
	return r
}

// Write writes the scenario with its calibration, and the measurements as comments.
func (c *Question) Write(b *calibrate.Bench, r *Report) error {
	doc, err := scenariofile.Read(c.Fabric, nil)
	if err != nil {
		return err
	}
	var out strings.Builder
	out.WriteString(strings.TrimRight(scenario.WithoutBlocks(doc.Text, "calibration"), "\n") + "\n")
	if len(r.Points) > 0 {
		fmt.Fprintf(&out, "\n# railyard calibrate: error %s\n", strings.Join(r.Words(), "; "))
	} else {
		out.WriteString("\n# railyard calibrate\n")
	}
	for _, s := range c.Set {
		fmt.Fprintf(&out, "# measured with --set %s, which this file does not set\n", s)
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
		line := fmt.Sprintf("#   %-44s %12.2f %12.2f %12.2f  %s", p.Name, p.Measured, p.Before, p.After, Aside(p.Aside))
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return output.WriteBytes(c.Out, c.Force, []byte(out.String()))
}

// Aside marks a point that was held out.
func Aside(is bool) string {
	if is {
		return "held out"
	}
	return ""
}

// Words describes errors in a sentence.
func (r *Report) Words() (out []string) {
	for _, of := range []string{"fitted", "aside"} {
		if x, ok := r.Errors[of]; ok {
			n := 0
			for _, p := range r.Points {
				if p.Aside == (of == "aside") {
					n++
				}
			}
			out = append(out, fmt.Sprintf("%.1f %% before, %.1f %% after (%s)", 100*x[0], 100*x[1],
				unit.Plural(n, map[string]string{"fitted": "fitted point", "aside": "held-out point"}[of])))
			switch {
			case x[1] > x[0]:
				out[len(out)-1] += ": worse than without calibration"
			case x[1] > 0.99*x[0] && x[0] > 0.001:
				out[len(out)-1] += ": no better than without calibration"
			}
		}
	}
	return out
}
