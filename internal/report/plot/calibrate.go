package plot

import (
	"cmp"
	"io"
	"slices"

	"railyard/internal/calibrate/fitting"
	"railyard/internal/output"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Calibration has two panels: times over sizes, measured as points and simulated as lines, and the ratio of simulated
// to measured time.
func Calibration(r *fitting.Report, path string, force bool) error {
	times, ratios := plot.New(), plot.New()
	times.Title.Text = "measured (points; hollow: held out), before (dashed) and after (lines)"
	times.X.Label.Text, times.Y.Label.Text = "bytes", "time, us"
	ratios.Title.Text = "simulated over measured"
	ratios.X.Label.Text, ratios.Y.Label.Text = "measured, us", "before (hollow), after (filled)"
	for _, a := range []*plot.Axis{&times.X, &times.Y, &ratios.X} {
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	times.Legend.Top, times.Legend.Left = true, true
	ratios.Add(plotter.NewGrid())
	for i, g := range byGroup(r.Points) {
		if err := drawGroup(times, ratios, g, i); err != nil {
			return err
		}
	}
	ratios.Y.Min = min(ratios.Y.Min, 0.9)
	ratios.Y.Max = max(ratios.Y.Max, 1.1)
	to := Panels(path, 34*vg.Centimeter, 14*vg.Centimeter, []*plot.Plot{times, ratios})
	return output.Write(path, force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}

// byGroup groups points by kind, sorted by size.
func byGroup(points []fitting.Point) (out [][]fitting.Point) {
	for _, p := range points {
		if len(out) == 0 || out[len(out)-1][0].Group != p.Group {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	for _, g := range out {
		slices.SortStableFunc(g, func(a, b fitting.Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	}
	return out
}

// drawGroup adds the points of one kind to both panels.
func drawGroup(times, ratios *plot.Plot, g []fitting.Point, i int) error {
	var before, after, was, is plotter.XYs
	var measured [2]plotter.XYs
	for _, p := range g {
		x := max(1, float64(p.Bytes))
		before, after = append(before, plotter.XY{X: x, Y: p.Before}), append(after, plotter.XY{X: x,
			Y: p.After})
		k := 0
		if p.Aside {
			k = 1
		}
		measured[k] = append(measured[k], plotter.XY{X: x, Y: p.Measured})
		was = append(was, plotter.XY{X: p.Measured, Y: p.Before / p.Measured})
		is = append(is, plotter.XY{X: p.Measured, Y: p.After / p.Measured})
	}
	tint := Tints[i%len(Tints)]
	for k, xy := range []plotter.XYs{before, after} {
		line, err := plotter.NewLine(xy)
		if err != nil {
			return err
		}
		line.Color, line.Width = tint, vg.Points(1.2)
		if k == 0 {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		times.Add(line)
		if k == 1 {
			times.Legend.Add(g[0].Group, line)
		}
	}
	for k, on := range []struct {
		p     *plot.Plot
		xy    plotter.XYs
		glyph draw.GlyphDrawer
	}{{times, measured[0], draw.CircleGlyph{}}, {times, measured[1], draw.RingGlyph{}},
		{ratios, was, draw.RingGlyph{}}, {ratios, is, draw.CircleGlyph{}}} {
		if len(on.xy) == 0 {
			continue
		}
		points, err := plotter.NewScatter(on.xy)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: tint, Radius: vg.Points(2.5), Shape: on.glyph}
		if k == 1 || k == 2 {
			points.GlyphStyle.Radius = vg.Points(3)
		}
		on.p.Add(points)
	}
	return nil
}
