package table

import (
	"fmt"
	"io"
	"math"
	"strings"

	"railyard/internal/calibrate"
	"railyard/internal/calibrate/fitting"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// maxShown is the maximum number of points on the terminal.
const maxShown = 60

// largestUse is the error from which on a calibration is too coarse to predict with.
const largestUse = 0.1

// Calibration prints the fitted parameters and their measurements; out is the written file, with the overrides in set.
func Calibration(w io.Writer, r *fitting.Report, out string, set []string) {
	if len(r.Points) > 0 {
		calibrationAnswer(w, r)
		fit(w, r)
	}
	if r.Capture != nil {
		captured(w, r.Capture)
	}
	if out != "" {
		fmt.Fprintf(w, "Scenario: %s\n", out)
		for _, s := range set {
			report.Labelled(w, "note: ", fmt.Sprintf("errors are with --set %s, which is not in %s", s, out))
		}
	} else {
		fmt.Fprintln(w, "--out FILE writes the scenario with this calibration.")
	}
	for _, g := range r.Read.Guessed {
		report.Labelled(w, "note: ", "assumed "+g.Words())
	}
	for _, l := range r.Read.Left {
		report.Labelled(w, "note: ", "left out "+l.Words())
	}
}

// calibrationAnswer describes the calibration's effect on the error of held-out points, or else of fitted ones, and of
// fitted ones too if that is larger or grew.
func calibrationAnswer(w io.Writer, r *fitting.Report) {
	of, name := "aside", "held-out point"
	if _, ok := r.Errors[of]; !ok {
		of, name = "fitted", "fitted point"
	}
	n, far := 0, -1
	for i := range r.Points {
		p := &r.Points[i]
		if p.Aside == (of == "aside") {
			n++
		}
		if far < 0 || off(p) > off(&r.Points[far]) {
			far = i
		}
	}
	x, y := r.Errors[of], r.Errors["fitted"]
	change := "reduces"
	switch {
	case x[1] > x[0]:
		change = "increases"
	case x[1] > 0.99*x[0] && x[0] > 0.001:
		change = "does not reduce"
	}
	what, show := "the error", unit.ShowShare
	if max(x[0], x[1], y[0], y[1]) > 0.5 { // half and twice are equally far off
		what, show = "the factor by which times are off", func(x float64) string { return unit.ShowFactor(1 + x) }
	}
	say := fmt.Sprintf("Calibration %s %s: %s before, %s after (%s)", change, what, show(x[0]), show(x[1]),
		unit.Plural(n, name))
	if grew := change == "reduces" && y[1] > y[0]; of == "aside" && (grew || y[1] > x[1]) {
		if grew {
			say = strings.Replace(say, "Calibration reduces the ", "Calibration is mixed, ", 1)
		}
		say += fmt.Sprintf(", %s before, %s after (%s)", show(y[0]), show(y[1]), unit.Plural(len(r.Points)-n, "fitted point"))
	}
	screen.Painted(w, screen.Answer, "", say)
	if max(x[1], y[1]) > largestUse && far >= 0 {
		p := &r.Points[far]
		report.Labelled(w, "warning: ", fmt.Sprintf("too much for predictions; largest error %s at %s",
			unit.ShowChange(p.After, p.Measured), p.Name))
	}
}

// undecided returns the share of NVLink or NICs that was fitted below its default while the other was not fitted.
func undecided(r *fitting.Report) (one, other string) {
	not := map[string]string{"nvlink_share": "nic_share", "nic_share": "nvlink_share"}
	for _, v := range r.Values {
		for _, x := range r.Refused {
			if v.Is < v.Was && not[v.Name] == x.Name {
				return v.Name, x.Name
			}
		}
	}
	return "", ""
}

// off returns the error of a calibrated point.
func off(p *fitting.Point) float64 { return math.Abs(p.After/p.Measured - 1) }

// fit prints the parameters fitted to times.
func fit(w io.Writer, r *fitting.Report) {
	t := screen.Table{Columns: []screen.Column{{Head: "Parameter"}, {Head: "default"}, {Head: "fitted", Left: true}}}
	for _, v := range r.Values {
		spread, of := "", v.Unit
		if of == "us" {
			of = "µs"
		}
		if v.Error != nil {
			spread = " ± " + unit.Digits(*v.Error)
		}
		t.Add(v.Name, unit.Digits(v.Was)+" "+of, fmt.Sprintf("%s%s %s %s", unit.Digits(v.Is), spread, of,
			calibrate.Find(v.Name).About))
	}
	for _, x := range r.Refused {
		t.Add(x.Name, "–", "not fitted: "+x.Why)
	}
	t.Print(w)
	if one, other := undecided(r); other != "" {
		report.Labelled(w, "note: ", fmt.Sprintf("%s was fitted and %s not: which of both is low depends on the algorithm that ran (--algorithm; NCCL_DEBUG=INFO prints it); measurements inside one server separate them",
			one, other))
	}
	fmt.Fprintln(w)
	t = screen.Table{Columns: []screen.Column{{Head: "Point"}, {Head: "measured"}, {Head: "uncalibrated"},
		{Head: "calibrated"}, {Head: "", Left: true, Rare: true}}}
	for i, p := range r.Points {
		if i == maxShown {
			break
		}
		t.Add(p.Name, took(p.Measured/1e6), unit.ShowChange(p.Before, p.Measured), unit.ShowChange(p.After, p.Measured),
			fitting.Aside(p.Aside))
	}
	if t.Print(w); len(r.Points) > maxShown {
		fmt.Fprintf(w, "%s more: --json\n", unit.Plural(len(r.Points)-maxShown, "point"))
	}
	report.Labelled(w, "Error (root mean square of log ratios): ", strings.Join(r.Words(), "; "))
}

// captured prints how receivers answer marks.
func captured(w io.Writer, r *fitting.Capture) {
	fmt.Fprintf(w, "%s in %s, %s; %d open a CNP interval, %d of them unanswered\n",
		unit.Plural(r.Marks, "mark"), unit.Plural(r.Packets, "packet"), unit.Plural(r.CNPs, "CNP"),
		r.Openings, r.Unanswered)
	t := screen.Table{Columns: []screen.Column{{Head: "Parameter"}, {Head: "default"}, {Head: "fitted"},
		{Head: "", Left: true}}}
	for _, x := range r.Rows() {
		t.Add(x.Name, took(x.Was/1e6), took(x.Median/1e6), x.Words())
	}
	t.Print(w)
	report.Labelled(w, "Error: ", strings.Join(r.Words(), "; "))
	for _, n := range r.Notes {
		report.Labelled(w, "note: ", n)
	}
}
