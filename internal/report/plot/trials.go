package plot

import (
	"fmt"
	"image/color"

	"railyard/internal/tune"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Trials draws completion against pause time, the front on top.
func Trials(name string, trials, front []tune.Trial, best tune.Trial) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s: %d trials", name, len(trials))
	p.X.Label.Text, p.Y.Label.Text = "completion time, ms", "pause time of all ports, ms"
	add := func(name string, list []tune.Trial, c color.Color, shape draw.GlyphDrawer, size vg.Length) error {
		var xy plotter.XYs
		for _, x := range list {
			if x.Outcome.Error == "" {
				xy = append(xy, plotter.XY{X: float64(x.Outcome.Time) / 1e9,
					Y: float64(x.Outcome.Pause) / 1e9})
			}
		}
		if len(xy) == 0 {
			return nil
		}
		s, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: size, Shape: shape}
		p.Add(s)
		p.Legend.Add(name, s)
		return nil
	}
	p.Add(plotter.NewGrid())
	for _, g := range []struct {
		name  string
		list  []tune.Trial
		color color.Color
		shape draw.GlyphDrawer
		size  vg.Length
	}{
		{"trials", trials, color.RGBA{0xb0, 0xb0, 0xb0, 0xff}, draw.CircleGlyph{}, vg.Points(2.5)},
		{"front of time, pauses and queue", front, color.RGBA{0x1f, 0x77, 0xb4, 0xff}, draw.CircleGlyph{}, vg.Points(4)},
		{"unchanged", trials[:1], color.RGBA{0xd6, 0x27, 0x28, 0xff}, draw.BoxGlyph{}, vg.Points(5)},
		{"best", []tune.Trial{best}, color.RGBA{0x2c, 0xa0, 0x2c, 0xff}, draw.TriangleGlyph{}, vg.Points(6)},
	} {
		if err := add(g.name, g.list, g.color, g.shape, g.size); err != nil {
			return nil, err
		}
	}
	p.Legend.Top = true
	p.Y.Min = 0
	return p, nil
}
