package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"railyard/internal/output"
	"railyard/internal/planner"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// maxCells is the maximum number of cells of a side of a heat map.
const maxCells = 256

// grid is a heat map's data: logarithms of bytes, empty cells left out.
type grid struct {
	cells [][]float64
	per   int
}

func (g grid) Dims() (cols, rows int) { return len(g.cells), len(g.cells) }
func (g grid) X(c int) float64        { return float64(c*g.per) + float64(g.per-1)/2 }
func (g grid) Y(r int) float64        { return float64(r*g.per) + float64(g.per-1)/2 }
func (g grid) Z(c, r int) float64 {
	if b := g.cells[r][c]; b > 0 {
		return math.Log10(b)
	}
	return math.NaN()
}

// Traffic writes a heat map for each kind of parallelism that sends, and one of all traffic, on one colour scale.
func Traffic(t *planner.Traffic, name, path string, force bool) error {
	kinds := []int{}
	for k, b := range t.Kinds {
		if b > 0 {
			kinds = append(kinds, k)
		}
	}
	kinds = append(kinds, planner.Kinds)
	lo, hi := scale(t, kinds)
	colours := func() palette.ColorMap {
		m := moreland.Kindlmann()
		m.SetMin(lo)
		m.SetMax(hi)
		return m
	}
	_, per := t.Cells(maxCells, planner.Kinds)
	tiles := make([][]*plot.Plot, (len(kinds)+1)/2)
	for i, kind := range kinds {
		cells, _ := t.Cells(maxCells, kind)
		p := plot.New()
		p.Title.Text = name + ": all traffic"
		if kind < planner.Kinds {
			p.Title.Text = planner.KindNames[kind] + " parallel"
		}
		p.X.Label.Text, p.Y.Label.Text = "receiving rank", "sending rank"
		h := plotter.NewHeatMap(grid{cells, per}, colours().Palette(128))
		h.Min, h.Max, h.NaN = lo, hi, color.White
		p.Add(h)
		if tiles[i/2] = append(tiles[i/2], p); i == len(kinds)-1 && i%2 == 0 {
			tiles[i/2] = append(tiles[i/2], nil)
		}
	}
	bar := plot.New()
	bar.Add(&plotter.ColorBar{ColorMap: colours()})
	bar.X.Label.Text = fmt.Sprintf("log10 of bytes in a step between two ranks (a cell is %d x %d ranks)", per, per)
	bar.HideY()
	return output.Write(path, force, func(f io.Writer) error { return paint(f, path, tiles, bar) })
}

// scale is the range of the colours, from the smallest cell of any map to somewhat above the largest. The palette
// ends in white, which is the colour of pairs without traffic.
func scale(t *planner.Traffic, kinds []int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, k := range kinds {
		cells, _ := t.Cells(maxCells, k)
		for _, row := range cells {
			for _, b := range row {
				if b > 0 {
					lo, hi = math.Min(lo, math.Log10(b)), math.Max(hi, math.Log10(b))
				}
			}
		}
	}
	if math.IsInf(hi, 0) {
		return 0, 1
	}
	return lo - 0.1, hi + 0.3*math.Max(hi-lo, 1)
}

// paint arranges the heat maps in two columns with the colour scale below.
func paint(f io.Writer, path string, tiles [][]*plot.Plot, bar *plot.Plot) error {
	const side, low = 24 * vg.Centimeter, 2.5 * vg.Centimeter
	high := side/2*vg.Length(len(tiles)) + low
	layout := func(canvas draw.Canvas) {
		top := draw.Crop(canvas, 0, 0, low, 0)
		for i, row := range plot.Align(tiles, draw.Tiles{Rows: len(tiles), Cols: 2, PadX: vg.Centimeter,
			PadY: vg.Centimeter}, top) {
			for j := range row {
				if tiles[i][j] != nil {
					tiles[i][j].Draw(row[j])
				}
			}
		}
		bar.Draw(draw.Crop(canvas, 0, 0, 0, low-canvas.Size().Y))
	}
	to := Picture(path, side, high)
	layout(draw.New(to))
	_, err := to.WriteTo(f)
	return err
}
