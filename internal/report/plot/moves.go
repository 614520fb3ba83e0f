package plot

import (
	"fmt"
	"io"

	"railyard/internal/lab/load"
	"railyard/internal/output"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Moves has a panel for each event: the arriving traffic, and the traffic towards the failure.
func Moves(moves []load.Move) (*vgimg.Canvas, error) {
	panels := make([][]*plot.Plot, len(moves))
	most := 0.0
	for _, m := range moves {
		for _, p := range m.Total {
			most = max(most, p.Y)
		}
	}
	for i := range moves {
		m := &moves[i]
		p := plot.New()
		p.Title.Text = m.Event
		if m.Moved >= 0 {
			p.Title.Text += fmt.Sprintf(": moved after %.0f ms", m.Moved)
		}
		p.X.Label.Text, p.Y.Label.Text = "ms since the event", "Gbit/s"
		p.Y.Min, p.Y.Max = 0, 1.3*most // room for the legend
		for k, line := range []struct {
			name   string
			points plotter.XYs
		}{{"arriving", m.Total}, {"towards what broke", m.Path},
			{"the event", plotter.XYs{{X: 0, Y: 0}, {X: 0, Y: 1.1 * most}}}} {
			if err := AddLine(p, line.name, line.points, k); err != nil {
				return nil, err
			}
		}
		p.Legend.Top = true
		panels[i] = []*plot.Plot{p}
	}
	img := image(24*vg.Centimeter, vg.Length(len(moves))*8*vg.Centimeter)
	tiles := draw.Tiles{Rows: len(moves), Cols: 1, PadY: vg.Millimeter * 4}
	for r, canvases := range plot.Align(panels, tiles, draw.New(img)) {
		panels[r][0].Draw(canvases[0])
	}
	return img, nil
}

// Controls has a panel of queue pairs' rates for each congestion control of a lab; line is a host port's rate.
func Controls(all []load.Variant, line unit.Rate) (*vgimg.Canvas, error) {
	var curves []Curves
	for _, v := range all {
		c := Curves{Label: fmt.Sprintf("%s: %.1f ms", v.CC, v.Row.TimeUS/1e3), rates: v.Rates, line: float64(line) / 1e9}
		if len(v.Rates) == 0 {
			c.Label += ", no rate changed"
		}
		curves = append(curves, c)
	}
	return Rates(curves)
}

// WritePNG writes a canvas as PNG.
func WritePNG(img *vgimg.Canvas, path string, force bool) error {
	return output.Write(path, force, func(w io.Writer) error {
		_, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(w)
		return err
	})
}
