package plot

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/goodput"
	"railyard/internal/output"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Check refuses a plot's name without a supported extension.
func Check(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); path != "" && ext != ".png" && ext != ".svg" {
		return field.New("--plot", "writes .png or .svg, found %q", path)
	}
	return nil
}

// Spread is a mean over seeds with its least and most.
type Spread struct {
	plotter.XYs
	plotter.YErrors
}

// Goodput draws the effective time over the interval between checkpoints, with its spread and the closed form.
func Goodput(gpus int, days float64, seeds int, r *goodput.Result) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%d GPUs, %g days: effective training time over the checkpoint interval", gpus, days)
	p.X.Label.Text, p.Y.Label.Text = "training between checkpoints, s", "effective, %"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.XOffs = -6 * vg.Centimeter
	var s Spread
	var daly plotter.XYs
	for _, x := range r.Points {
		m := 100 * x.Effective.Mean
		s.XYs = append(s.XYs, plotter.XY{X: x.Interval, Y: m})
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{m - 100*x.Effective.Min,
			100*x.Effective.Max - m})
		if x.Expected > 0 {
			daly = append(daly, plotter.XY{X: x.Interval, Y: 100 * x.Expected})
		}
	}
	if err := AddLine(p, fmt.Sprintf("simulated, mean and spread of %d seeds", seeds), s.XYs, 0); err != nil {
		return nil, err
	}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return nil, err
	}
	bars.Color, bars.Width = Tints[0], vg.Points(1)
	p.Add(bars)
	if err := AddLine(p, "Daly's formula", daly, 1); err != nil {
		return nil, err
	}
	at := plotter.XYs{{X: r.Chosen.Interval, Y: p.Y.Min}, {X: r.Chosen.Interval, Y: p.Y.Max}}
	if err := AddLine(p, "the interval taken", at, 6); err != nil {
		return nil, err
	}
	if p.X.Max <= p.X.Min*1.01 || math.IsInf(p.X.Max, 0) { // one interval only
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	return p, nil
}

// Write writes a plot of a size in centimetres, in the format of its file's extension.
func Write(p *plot.Plot, path string, force bool, wide, high float64) error {
	to := Panels(path, vg.Length(wide)*vg.Centimeter, vg.Length(high)*vg.Centimeter, []*plot.Plot{p})
	return output.Write(path, force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}
