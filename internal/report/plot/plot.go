// Package plot draws studies and runs as PNG or SVG. A function for each returns a plot, and Write writes it in the
// format of the file's extension. Colours are Okabe and Ito's, distinguishable with any colour vision.
package plot

import (
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"railyard/internal/report/svg"
)

func init() {
	plot.DefaultFont.Variant, plotter.DefaultFont.Variant = "Sans", "Sans"
}

// image is an empty PNG, sharp on a slide.
func image(wide, high vg.Length) *vgimg.Canvas {
	return vgimg.NewWith(vgimg.UseWH(wide, high), vgimg.UseDPI(192))
}

// Picture is an empty one, SVG or PNG by the ending of the file that it is for.
func Picture(path string, wide, high vg.Length) vg.CanvasWriterTo {
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		return svg.New(wide, high)
	}
	return vgimg.PngCanvas{Canvas: image(wide, high)}
}

// Panels draws plots next to each other, with aligned axes.
func Panels(path string, wide, high vg.Length, row []*plot.Plot) io.WriterTo {
	to := Picture(path, wide, high)
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: vg.Millimeter * 6, PadTop: vg.Millimeter * 2,
		PadLeft: vg.Millimeter * 2, PadRight: vg.Millimeter * 3, PadBottom: vg.Millimeter * 2}
	for i, canvas := range plot.Align([][]*plot.Plot{row}, tiles, draw.New(to))[0] {
		row[i].Draw(canvas)
	}
	return to
}
