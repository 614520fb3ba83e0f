package plot

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strconv"

	"railyard/internal/cause"
	"railyard/internal/input"
	"railyard/internal/report/web"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Run writes the plots of a run into a directory: its busiest ports over time, and the time of its collectives by
// cause. paths are the written files, also if a later one fails.
func Run(r *web.Directory, dir, ext string, force bool) (paths []string, err error) {
	curves, err := r.Hottest(5)
	if err != nil {
		return nil, input.Fault(err)
	}
	parts, err := r.Parts()
	if err != nil {
		return nil, input.Fault(err)
	}
	for _, p := range []struct {
		name string
		draw func() (*plot.Plot, error)
	}{{"utilisation", func() (*plot.Plot, error) { return Ports(r, curves, false) }},
		{"queues", func() (*plot.Plot, error) { return Ports(r, curves, true) }},
		{"collectives", func() (*plot.Plot, error) { return Collectives(r, parts) }}} {
		if p.name == "collectives" && len(parts) == 0 {
			continue
		}
		fig, err := p.draw()
		if err != nil {
			return paths, err
		}
		path := filepath.Join(dir, p.name+"."+ext)
		if err := Write(fig, path, force, 24, 12); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Tints are colours that are distinguishable with any colour vision (Okabe and Ito).
var Tints = []color.RGBA{
	{0, 114, 178, 255}, {230, 159, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{213, 94, 0, 255}, {86, 180, 233, 255}, {120, 120, 120, 255}, {0, 0, 0, 255},
}

// tint parses a colour of the registry of causes, "#rrggbb".
func tint(hex string) color.RGBA {
	v, _ := strconv.ParseUint(hex[1:], 16, 24)
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

func Ports(r *web.Directory, curves []web.Curve, queue bool) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = r.Summary.Name + ": utilisation of the busiest ports"
	p.X.Label.Text, p.Y.Label.Text = "time, ms", "share of line rate, %"
	if queue {
		p.Title.Text, p.Y.Label.Text = r.Summary.Name+": longest queues, with the marking thresholds", "queue, KB"
	}
	p.Legend.Top = true
	p.Y.Min = 0
	for i, c := range curves {
		points := make(plotter.XYs, 0, 2*len(c.Points))
		for _, x := range c.Points {
			v := 100 * x.Use
			if queue {
				v = x.Queue / 1e3
			}
			points = append(points, plotter.XY{X: x.At / 1e9, Y: v}, plotter.XY{X: (x.At + x.Length) / 1e9, Y: v})
		}
		if len(points) == 0 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = Tints[i%len(Tints)], vg.Points(1.2)
		p.Add(line)
		p.Legend.Add(c.Name, line)
	}
	if q := r.Topology.Configs; queue && len(q) > 0 && q[0].WREDMax > 0 {
		for _, t := range []struct {
			name string
			v    int64
			dash float64
		}{{"WRED min", q[0].WREDMin, 2}, {"WRED max", q[0].WREDMax, 7}} {
			line := plotter.NewFunction(func(float64) float64 { return float64(t.v) / 1e3 })
			line.Dashes = []vg.Length{vg.Points(t.dash), vg.Points(3)}
			p.Add(line)
			p.Legend.Add(fmt.Sprintf("%s, %v", t.name, unit.Bytes(t.v)), line)
		}
		p.X.Min, p.X.Max = 0, float64(r.Summary.StepTime)/1e9
	}
	return p, nil
}

func Collectives(r *web.Directory, parts []web.Part) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = r.Summary.Name + ": where the time of collectives went"
	p.Y.Label.Text = "share of their time, %"
	p.Y.Min, p.Y.Max = 0, 100
	p.Legend.Top = true
	names := make([]string, len(parts))
	var below *plotter.BarChart
	for i, about := range cause.All() {
		if !slices.ContainsFunc(parts, func(x web.Part) bool { return x.Shares[i] > 0 }) {
			continue
		}
		values := make(plotter.Values, len(parts))
		for j, x := range parts {
			values[j], names[j] = 100*x.Shares[i], x.Name
		}
		bars, err := plotter.NewBarChart(values, vg.Points(28))
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle = tint(about.Color), draw.LineStyle{}
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		p.Legend.Add(about.Name, bars)
	}
	p.NominalX(names...)
	p.X.Max += 1.5 // room for the legend
	return p, nil
}
