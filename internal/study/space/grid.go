package space

import (
	"strconv"

	"railyard/internal/field"
)

// grid takes every combination of values, the last parameter varying fastest.
var grid = Sampler{Name: "grid", Words: "every combination of values", Whole: true, Draw: drawGrid}

func drawGrid(s *Space, _ int, _ uint64) (*Design, error) {
	n, all := 1, 1.0
	for _, params := range s.axes {
		p := &s.Params[params[0]]
		levels := p.levels()
		if levels == 0 {
			return nil, field.New(field.At("vary", params[0]), "%s: a grid needs the number of steps of %s; accepted: %[2]s:STEPS", field.Clip(p.Key), p.Range)
		}
		n, all = n*levels, all*float64(levels)
		if all > MaxPoints { // the product may be beyond an integer
			n = 0
		}
	}
	if all > MaxPoints {
		return nil, field.New("vary", "the grid has %s points; accepted: fewer values, or a number of samples",
			strconv.FormatFloat(all, 'f', 0, 64))
	}
	return &Design{n, func(i int) []float64 {
		u := make([]float64, len(s.axes))
		for axis := len(s.axes) - 1; axis >= 0; axis-- {
			levels := s.Params[s.axes[axis][0]].levels()
			u[axis] = (float64(i%levels) + 0.5) / float64(levels)
			i /= levels
		}
		return u
	}}, nil
}
