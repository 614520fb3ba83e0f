package plot

import (
	"railyard/internal/study/interference"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

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
