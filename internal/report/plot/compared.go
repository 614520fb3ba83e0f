package plot

import (
	"maps"
	"path/filepath"
	"slices"

	"railyard/internal/report"

	"gonum.org/v1/plot/vg/vgimg"
)

// Comparison writes the plots of a comparison into a directory: three of the curves of its variants, by number. It
// adds one of the slowdown if all have messages at random times, and one of the steps if it is a grid. paths are
// the written files, even if a later one fails.
func Comparison(dir, title string, of map[int]Curves, g *report.Grid, force bool) (paths []string, err error) {
	var all []Curves
	for _, n := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[n])
	}
	type drawing struct {
		name string
		draw func([]Curves) (*vgimg.Canvas, error)
	}
	drawings := []drawing{{"completion", Completion}, {"queues", Queues}, {"rates", Rates}}
	if !slices.ContainsFunc(all, func(c Curves) bool { return len(c.slow) == 0 }) {
		drawings = append(drawings, drawing{"slowdown", Slowdowns})
	}
	if g != nil {
		drawings = append(drawings, drawing{"steps", func([]Curves) (*vgimg.Canvas, error) {
			return Grid(title, g.Key, g.Columns, g.Rows, g.Steps())
		}})
	}
	for _, p := range drawings {
		img, err := p.draw(all)
		if err != nil {
			return paths, err
		}
		path := filepath.Join(dir, p.name+".png")
		if err := WritePNG(img, path, force); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
