package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Grid draws the step of each row, in ms, over the values of a key. A value of 0 has no point: that variant failed.
func Grid(title, key string, columns, rows []string, steps [][]float64) (*vgimg.Canvas, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = key, "step, ms"
	p.NominalX(columns...)
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	p.Add(plotter.NewGrid())
	most := 0.0
	for i, name := range rows {
		var points plotter.XYs
		for k, ms := range steps[i] {
			if ms > 0 {
				points, most = append(points, plotter.XY{X: float64(k), Y: ms}), max(most, ms)
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = Tints[i%len(Tints)], vg.Points(1.2)
		if i >= len(Tints) {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
		marks.Color, marks.Shape, marks.Radius = line.Color, shapes[i%len(shapes)], vg.Points(3)
		p.Add(line, marks)
		p.Legend.Add(name, line, marks)
	}
	p.Y.Min, p.Y.Max = 0, 1.3*most // above: the legend
	return drawn(p), nil
}
