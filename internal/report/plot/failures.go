package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"railyard/internal/report/table"
	"railyard/internal/study/failures"
	"railyard/internal/study/interference"
	"railyard/internal/study/load"
)

// maxPlotRows is the maximum number of failures of a variant in a heat map: the worst.
const maxPlotRows = 20

// harmGrid is the cells of a heat map: rows from the top, between 0 and 1; missing ones are NaN.
type harmGrid struct{ cells [][]float64 }

func (g harmGrid) Dims() (cols, rows int) { return len(g.cells[0]), len(g.cells) }
func (g harmGrid) X(c int) float64        { return float64(c) }
func (g harmGrid) Y(r int) float64        { return float64(r) }
func (g harmGrid) Z(c, r int) float64     { return g.cells[len(g.cells)-1-r][c] }

// shades are the colours from no harm, white, to the maximum: dark letters are legible on all of them.
type shades int

func (n shades) Colors() []color.Color {
	return faded(int(n), color.RGBA{R: 255, G: 255, B: 255, A: 255})
}

// faded are n colours from one to red.
func faded(n int, from color.RGBA) (all []color.Color) {
	for i := range n {
		fade := func(from uint8, to int) uint8 { return uint8(int(from) + (to-int(from))*i/(n-1)) }
		all = append(all, color.RGBA{R: fade(from.R, 235), G: fade(from.G, 90), B: fade(from.B, 70), A: 255})
	}
	return all
}

// harms are the columns.
var harms = []string{"step time", "GPUs isolated", "retransmitted"}

// Failures writes a heat map: a row per failure, worst first, variant by variant. Each column has its own scale,
// from 0 to its largest value.
func Failures(f io.Writer, path string, all []*failures.Variant) error {
	var rows []failures.Row
	var names []string
	for _, v := range all {
		for _, r := range v.Rows[:min(len(v.Rows), maxPlotRows)] {
			rows = append(rows, r)
			name := fmt.Sprintf("%s (%d)", r.Name, r.Alike)
			if len(all) > 1 {
				name = v.Label + ": " + name
			}
			names = append(names, name)
		}
	}
	g, labels := harmOf(rows)
	p := plot.New()
	p.Title.Text = "single failures, worst first (in brackets: number of equivalent ones)"
	h := plotter.NewHeatMap(g, shades(128))
	h.Min, h.Max, h.NaN = 0, 1, color.Gray{Y: 40}
	p.Add(h)
	text, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range text.TextStyle {
		text.TextStyle[i].XAlign, text.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		if math.IsNaN(g.cells[i/len(harms)][i%len(harms)]) {
			text.TextStyle[i].Color = color.White
		}
	}
	p.Add(text)
	var x, y []plot.Tick
	for i, name := range harms {
		x = append(x, plot.Tick{Value: float64(i), Label: name})
	}
	for i, name := range names {
		y = append(y, plot.Tick{Value: float64(len(names) - 1 - i), Label: name})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(x), plot.ConstantTicks(y)
	wide, high := 26*vg.Centimeter, vg.Length(3+0.7*float64(len(rows)))*vg.Centimeter
	to := Picture(path, wide, high)
	p.Draw(draw.New(to))
	_, err = to.WriteTo(f)
	return err
}

// harmOf returns the grid of some rows and the labels of its cells. A step that a lost rank has ended is dark.
func harmOf(rows []failures.Row) (g harmGrid, labels plotter.XYLabels) {
	most := make([]float64, len(harms))
	for _, r := range rows {
		for i, v := range harm(&r) {
			if !math.IsNaN(v) {
				most[i] = max(most[i], v)
			}
		}
	}
	for k, r := range rows {
		cells := harm(&r)
		said := []string{table.Seconds(r.Step), fmt.Sprint(r.Isolated), table.Megabytes(r.Again)}
		if r.Lost {
			said[0] = "rank lost"
		} else if r.Step == 0 {
			said[0] = "no end"
		}
		for i := range cells {
			cells[i] /= max(most[i], 1e-30)
			labels.XYs = append(labels.XYs, plotter.XY{X: float64(i), Y: float64(len(rows) - 1 - k)})
			labels.Labels = append(labels.Labels, said[i])
		}
		g.cells = append(g.cells, cells)
	}
	return g, labels
}

// harm returns the columns' values for a failure.
func harm(r *failures.Row) []float64 {
	step := r.Step
	if r.Lost || step == 0 {
		step = math.NaN()
	}
	return []float64{step, float64(r.Isolated), float64(r.Again)}
}

func Interference(x *interference.Result) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "jobs alone and together"
	p.X.Label.Text, p.X.Min, p.Legend.Top = "time, ms", 0, true
	var ticks []plot.Tick
	for i, j := range x.Jobs {
		y := float64(len(x.Jobs) - i)
		ticks = append(ticks, plot.Tick{Value: y, Label: j.Job + " " + j.Label()})
		for k, took := range []int64{j.Alone, j.Together} {
			from, to := float64(j.Start)/1e9, float64(j.Start+took)/1e9
			top := y + 0.3 - 0.32*float64(k)
			bar, err := plotter.NewPolygon(plotter.XYs{{X: from, Y: top}, {X: to, Y: top},
				{X: to, Y: top - 0.28}, {X: from, Y: top - 0.28}})
			if err != nil {
				return nil, err
			}
			bar.Color, bar.LineStyle.Width = Tints[k], 0
			p.Add(bar)
			if i == 0 {
				p.Legend.Add([]string{"alone", "together"}[k], bar)
			}
		}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Max *= 1.02
	p.Y.Min, p.Y.Max = 0.4, float64(len(x.Jobs))+0.9
	return p, nil
}

// Load draws the mean latency over the offered load, a line for each load balancing. Curves of saturated fabrics go
// beyond the upper edge of the plot.
func Load(name string, curves []load.Curve) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = name + ": mean latency of messages over offered load"
	p.X.Label.Text, p.Y.Label.Text = "offered, % of NICs' rate", "latency, us"
	p.X.Min, p.Y.Min, p.Legend.Top, p.Legend.Left = 0, 0, true, true
	top := 0.0
	for i, curve := range curves {
		var points plotter.XYs
		for _, x := range curve.Points {
			points = append(points, plotter.XY{X: 100 * x.Offered, Y: float64(x.Mean) / 1e6})
			if !x.Saturated {
				top = max(top, float64(x.Mean)/1e6)
			}
		}
		if err := AddLine(p, curve.LB, points, i); err != nil {
			return nil, err
		}
	}
	if top > 0 {
		p.Y.Max = 1.3 * top
	}
	return p, nil
}
