package plot

import (
	"math"

	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// times are ticks at 1, 2 and 5 times a power of ten of microseconds, with their units.
type times struct{ decades bool }

// Ticks implements plot.Ticker.
func (t times) Ticks(low, high float64) (all []plot.Tick) {
	add := func(v float64) {
		if v >= low && v <= high {
			all = append(all, plot.Tick{Value: v, Label: unit.Time(math.Round(v * 1e6)).Show()})
		}
	}
	if t.decades {
		for ten := math.Pow(10, math.Floor(math.Log10(low))); ten <= high; ten *= 10 {
			for _, n := range []float64{1, 2, 5} {
				add(n * ten)
			}
		}
		return all
	}
	for _, tick := range ticks(low*1e6, high*1e6) { // of picoseconds
		add(tick.Value / 1e6)
	}
	return all
}

// quiet gives axes the colours of the other figures, and returns their grid.
func quiet(p *plot.Plot) *plotter.Grid {
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color, a.Tick.Label.Color = rule, rule, faint
		a.Tick.Label.Font.Size = 9
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = rule, rule
	return grid
}

// keyed draws a plot below its title, a note, and a key of its lines, which covers none of them.
func keyed(p *plot.Plot, title, note string, names []string) *vgimg.Canvas {
	img := image(figureWide, 12*vg.Centimeter)
	c := headed(img, title, note)
	x, y := c.Min.X, c.Max.Y-2*vg.Millimeter
	for i, name := range names {
		style := draw.TextStyle{Font: font.From(plot.DefaultFont, 9), Handler: plot.DefaultTextHandler}
		wide := style.Width(name) + 12*vg.Millimeter
		if x > c.Min.X && x+wide > c.Max.X {
			x, y = c.Min.X, y-5*vg.Millimeter
		}
		line := draw.LineStyle{Color: Tints[i%len(Tints)], Width: vg.Points(1.8)}
		if i >= len(Tints) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		c.StrokeLine2(line, x, y+1*vg.Millimeter, x+6*vg.Millimeter, y+1*vg.Millimeter)
		say(c, ink, 9, vg.Point{X: x + 7.5*vg.Millimeter, Y: y}, text.XLeft, name)
		x += wide
	}
	p.Draw(draw.Crop(c, 0, -2*vg.Millimeter, 3*vg.Millimeter, y-c.Max.Y-5*vg.Millimeter))
	return img
}
