package plot

import (
	"railyard/internal/study/load"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// Load draws the mean latency over the offered load, a line for each way of load balancing. Where one is
// saturated its line leaves the plot.
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
