package plot

import (
	"io"
	"slices"
	"strings"

	"railyard/internal/output"
	"railyard/internal/perftest/bench"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Bench draws rdma bench's rows: a panel of bars for each unit.
func Bench(rows []bench.Row, path string, force bool) error {
	var row []*plot.Plot
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Unit == rows[0].Unit {
			n++
		}
		p, err := benchPanel(rows[:n])
		if err != nil {
			return err
		}
		row, rows = append(row, p), rows[n:]
	}
	to := Panels(path, 30*vg.Centimeter, 10*vg.Centimeter, row)
	return output.Write(path, force, func(w io.Writer) error { _, err := to.WriteTo(w); return err })
}

// benchTitles describe the measurements of a unit.
var benchTitles = map[string]string{"Gbit/s": "throughput", "us": "latency of 4 KiB, half a ping-pong",
	"ns/KiB": "CPU time of both ends"}

// shortName is a row's name that fits adjacent bars.
var shortName = strings.NewReplacer("RDMA ", "RDMA\n", "bare ", "bare\n", "iperf3 ", "iperf3\n", "one copy ",
	"one copy\n", " 1 MiB", "", " 4 KiB p50", "", ", equal datagrams", "", ", CPU", "")

// benchPanel draws medians, each with its spread over rounds.
func benchPanel(rows []bench.Row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = benchTitles[rows[0].Unit]
	p.Y.Label.Text, p.Y.Min = rows[0].Unit, 0
	var names []string
	var spans Spread
	for _, r := range rows {
		if len(r.Values) == 0 {
			continue
		}
		x := float64(len(names))
		names = append(names, shortName.Replace(r.Name))
		bars, err := plotter.NewBarChart(plotter.Values{r.Median}, vg.Points(40))
		if err != nil {
			return nil, err
		}
		bars.XMin, bars.LineStyle.Width = x, 0
		bars.Color = Tints[len(names)-1]
		p.Add(bars)
		spans.XYs = append(spans.XYs, plotter.XY{X: x, Y: r.Median})
		spans.YErrors = append(spans.YErrors, struct{ Low, High float64 }{r.Median - slices.Min(r.Values),
			slices.Max(r.Values) - r.Median})
	}
	ends, err := plotter.NewYErrorBars(spans)
	if err != nil {
		return nil, err
	}
	p.Add(ends)
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.6, float64(len(names))-0.4
	return p, nil
}
