package plot

import (
	"cmp"
	"slices"
	"strconv"

	"railyard/internal/report/table"
	"railyard/internal/study/space"
	"railyard/internal/study/sweep"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve draws the first objective over the only parameter, with the range of each point's seeds. The axis of a
// parameter with a logarithmic range is logarithmic; words are next to each other, without a line.
func curve(a *sweep.Analysis, axes []*axis) (*plot.Plot, error) {
	if len(axes) != 1 {
		return nil, nil
	}
	x, o := axes[0], a.Objectives[0]
	p := plot.New()
	p.Title.Text = o.Words
	if slices.ContainsFunc(a.Ranking, func(r sweep.Ranked) bool { return r.Stats[0].Min < r.Stats[0].Max }) {
		p.Title.Text += ": mean of seeds, bars from best to worst seed"
	}
	p.X.Label.Text, p.Y.Label.Text = x.name, axisName(o)
	p.Add(plotter.NewGrid())
	s := &spread{}
	for i, v := range x.of {
		if v == "" {
			continue
		}
		m := a.Ranking[i].Stats[0]
		y := inUnit(m.Mean, o.Kind)
		s.XYs = append(s.XYs, plotter.XY{X: x.at(v), Y: y})
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{y - inUnit(m.Min, o.Kind), inUnit(m.Max, o.Kind) - y})
	}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return nil, err
	}
	bars.Color = Tints[0]
	dots, err := plotter.NewScatter(s.XYs)
	if err != nil {
		return nil, err
	}
	dots.Color, dots.Shape, dots.Radius = Tints[0], draw.CircleGlyph{}, vg.Points(3)
	p.Add(bars, dots)
	if x.numeric() {
		along := slices.Clone(s.XYs)
		slices.SortFunc(along, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		line, err := plotter.NewLine(along)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = Tints[0], vg.Points(1.2)
		p.Add(line)
	}
	if x.log && x.numeric() && p.X.Min > 0 { // 0 may belong to points that were added
		p.X.Scale = plot.LogScale{}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(x.marks(8)), plot.TickerFunc(fourDigits)
	p.Y.Min, p.Y.Max = roomy(p.Y.Min, p.Y.Max)
	if !x.numeric() {
		p.X.Min, p.X.Max = -0.5, float64(len(x.values))-0.5
	}
	return p, nil
}

// fourDigits labels the usual marks with four digits: values of a narrow range differ in the third or the fourth.
func fourDigits(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'g', 4, 64)
		}
	}
	return ticks
}

// spread is points with their ranges.
type spread struct {
	plotter.XYs
	plotter.YErrors
}

// numeric reports whether all values are quantities of one kind.
func (x *axis) numeric() bool {
	_, kind := space.Quantity(x.values[0])
	return kind != space.Word && !slices.ContainsFunc(x.values, func(v string) bool {
		_, k := space.Quantity(v)
		return k != kind
	})
}

// at returns the position of a value: its size, or its number among words.
func (x *axis) at(v string) float64 {
	if x.numeric() {
		q, _ := space.Quantity(v)
		return q
	}
	return float64(slices.Index(x.values, v))
}

// marks labels values at their positions, up to a maximum, including the first and the last.
func (x *axis) marks(most int) (ticks []plot.Tick) {
	last := len(x.values) - 1
	n := min(most, len(x.values))
	for i := range n {
		v := x.values[i*last/max(1, n-1)]
		ticks = append(ticks, plot.Tick{Value: x.at(v), Label: table.Setting(v)})
	}
	return ticks
}
