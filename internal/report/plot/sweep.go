package plot

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/report/table"
	"railyard/internal/study/space"
	"railyard/internal/study/sweep"
	"railyard/unit"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sweep draws a study into its directory. It has a curve over the only parameter or a heat map over the two most
// important ones, parallel coordinates, the Pareto front of two objectives, and the parameters by importance. It
// returns the written files.
func Sweep(s *sweep.Study, a *sweep.Analysis) (paths []string, err error) {
	if len(a.Ranking) < 2 {
		return nil, nil
	}
	axes := sweepAxes(s, a)
	for _, p := range []struct {
		name string
		draw func(*sweep.Analysis, []*axis) (*plot.Plot, error)
	}{{"curve.png", curve}, {"heatmap.png", heat}, {"parallel.png", parallel}, {"pareto.png", pareto}, {"sensitivity.png", sensitivity}} {
		drawn, err := p.draw(a, axes)
		if err != nil {
			return paths, err
		}
		if drawn == nil {
			continue
		}
		path := filepath.Join(s.Dir, p.name)
		high := 13.0
		if p.name == "sensitivity.png" { // a row of bars fits its space
			high = min(high, 4+1.4*float64(len(a.Effects)))
		}
		drawn.Title.TextStyle.Font.Size, drawn.Title.Padding = 12, vg.Points(6)
		if err := Write(drawn, path, true, 20, high); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// axis is a parameter with the values of the ranked points.
type axis struct {
	name   string
	values []string // distinct values, in their order
	of     []string // by ranked point; "" if a point does not set it
	log    bool     // whether the axis is logarithmic
	zip    string   // parameters of the same word advance together; "" varies alone
}

// sweepAxes returns the parameters with several values that change the first objective, the most important first.
func sweepAxes(s *sweep.Study, a *sweep.Analysis) (axes []*axis) {
	var keys []string
	for _, c := range s.Columns() {
		keys = append(keys, c.Key)
	}
	short := table.Short(keys)
	rank := func(key string) int {
		return slices.IndexFunc(a.Effects, func(e sweep.Influence) bool { return e.Key == key })
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return rank(keys[x]) - rank(keys[y]) })
	for _, i := range order {
		x := &axis{name: short[i], log: s.Logarithmic(keys[i])}
		if v := slices.IndexFunc(s.File.Vary, func(v sweep.Vary) bool { return v.Key == keys[i] }); v >= 0 {
			x.zip = s.File.Vary[v].Zip
		}
		for _, r := range a.Ranking {
			v := s.Value(r.Point, keys[i])
			x.of = append(x.of, v)
			if v != "" {
				x.values = append(x.values, v)
			}
		}
		slices.SortFunc(x.values, space.Compare)
		if x.values = slices.Compact(x.values); len(x.values) > 1 {
			axes = append(axes, x)
		}
	}
	var live []*axis
	for k, x := range axes {
		if moves(a, axes, k) {
			live = append(live, x)
		}
	}
	return live
}

// maxBands is the maximum number of rows and columns of a heat map; more values are merged.
const maxBands = 32

// cell returns the row or column of a value, of at most maxBands.
func (x *axis) cell(v string) int {
	i, _ := slices.BinarySearchFunc(x.values, v, space.Compare)
	return i * x.cells() / len(x.values)
}

// cells returns the number of rows or columns.
func (x *axis) cells() int { return min(len(x.values), maxBands) }

// ticks labels cells, up to a maximum.
func (x *axis) ticks(most int) (ticks []plot.Tick) {
	every := (x.cells() + most - 1) / most
	for c := 0; c < x.cells(); c += every {
		ticks = append(ticks, plot.Tick{Value: float64(c), Label: table.Setting(x.values[c*len(x.values)/x.cells()])})
	}
	return ticks
}

// sweepGrid is a heat map's means; NaN without a point.
type sweepGrid struct {
	cols, rows int
	sum, n     []float64
	spread     []float64 // standard deviation over the seeds of a cell with one point, else 0
}

func (g *sweepGrid) Dims() (c, r int)        { return g.cols, g.rows }
func (g *sweepGrid) X(c int) float64         { return float64(c) }
func (g *sweepGrid) Y(r int) float64         { return float64(r) }
func (g *sweepGrid) Z(c, r int) float64      { return g.sum[r*g.cols+c] / g.n[r*g.cols+c] }
func (g *sweepGrid) add(c, r int, x float64) { g.sum[r*g.cols+c] += x; g.n[r*g.cols+c]++ }

// over lists, for a heat map's title, the keys over which its cells are means.
func over(rest []*axis) string {
	if len(rest) == 0 {
		return ""
	}
	names := make([]string, len(rest))
	for i, x := range rest {
		names[i] = x.name
	}
	return ", mean over " + strings.Join(names, ", ")
}

// joined makes one axis of parameters that advance together, with all their names.
func joined(axes []*axis) (out []*axis) {
	for _, z := range axes {
		i := slices.IndexFunc(out, func(x *axis) bool { return z.zip != "" && x.zip == z.zip })
		if i < 0 {
			copied := *z
			out = append(out, &copied)
			continue
		}
		out[i].name += " / " + z.name
	}
	return out
}

// heat draws the first objective over the two most important parameters, averaged over all others.
func heat(a *sweep.Analysis, axes []*axis) (*plot.Plot, error) {
	axes = joined(axes)
	if len(axes) < 2 {
		return nil, nil
	}
	x, y := axes[0], axes[1]
	g := &sweepGrid{cols: x.cells(), rows: y.cells()}
	size := g.cols * g.rows
	g.sum, g.n, g.spread = make([]float64, size), make([]float64, size), make([]float64, size)
	low, high := math.Inf(1), math.Inf(-1)
	for i, r := range a.Ranking {
		if x.of[i] != "" && y.of[i] != "" {
			c := y.cell(y.of[i])*g.cols + x.cell(x.of[i])
			g.add(x.cell(x.of[i]), y.cell(y.of[i]), r.Stats[0].Mean)
			if g.spread[c] = 0; g.n[c] == 1 && len(r.Seeds) > 1 {
				g.spread[c] = stat.StdDev(r.Seeds, nil)
			}
		}
	}
	for i := range g.sum {
		if g.n[i] > 0 {
			low, high = min(low, g.sum[i]/g.n[i]), max(high, g.sum[i]/g.n[i])
		}
	}
	if low >= high {
		return nil, nil
	}
	o := a.Objectives[0]
	p := plot.New()
	best := &a.Ranking[0] // the best point by the first objective, with which a front begins
	p.Title.Text = fmt.Sprintf("%s %s at best, with %s\n%s%s", begun(o.Words), table.Quantity(best.Stats[0].Mean, o.Kind),
		strings.Join([]string{setting(x, 0), setting(y, 0)}, " and "), "mean", over(axes[2:]))
	if _, near := a.Noise(); near > 0 {
		within := fmt.Sprintf("; %s within the noise of it\n", unit.Plural(near, "point"))
		p.Title.Text = strings.Replace(p.Title.Text, "\n", within, 1)
	}
	if n := len(a.Ranking[0].Seeds); slices.Max(g.spread) > 0 {
		p.Title.Text += fmt.Sprintf(" ± standard deviation of %d seeds", n)
	}
	p.Title.Text += ": yellow " + table.Quantity(low, o.Kind) + ", red " + table.Quantity(high, o.Kind)
	p.Title.Text = strings.Replace(p.Title.Text, "\nmean: ", "\n", 1) // one point and one seed per cell
	if slices.Contains(g.n, 0) {
		p.Title.Text += ", grey: no point"
	}
	h := plotter.NewHeatMap(g, ember(128))
	h.Min, h.Max, h.NaN = low, high, color.Gray{Y: 160}
	p.Add(h)
	if err := g.write(p, o.Kind); err != nil {
		return nil, err
	}
	p.X.Label.Text, p.Y.Label.Text = x.name, y.name
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(x.ticks(8)), plot.ConstantTicks(y.ticks(16))
	return p, nil
}

// ember are the colours from the smallest value to the largest. None is the white of the paper, and dark letters
// are legible on all of them.
type ember int

func (n ember) Colors() []color.Color {
	return faded(int(n), color.RGBA{R: 255, G: 240, B: 190, A: 255})
}

// write prints each cell's value into it if it fits.
func (g *sweepGrid) write(p *plot.Plot, kind space.Kind) error {
	if g.cols > 8 || g.rows > 16 {
		return nil
	}
	var labels plotter.XYLabels
	for r := range g.rows {
		for c := range g.cols {
			if v := g.Z(c, r); !math.IsNaN(v) {
				labels.XYs = append(labels.XYs, plotter.XY{X: float64(c), Y: float64(r)})
				label := table.Quantity(v, kind)
				if sd := g.spread[r*g.cols+c]; sd > 0 {
					label += "\n± " + table.Quantity(sd, kind)
				}
				labels.Labels = append(labels.Labels, label)
			}
		}
	}
	text, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range text.TextStyle {
		text.TextStyle[i].XAlign, text.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
	}
	p.Add(text)
	return nil
}

// pareto draws the first two objectives, the front on top.
func pareto(a *sweep.Analysis, _ []*axis) (*plot.Plot, error) {
	if len(a.Objectives) < 2 {
		return nil, nil
	}
	p := plot.New()
	x, y := a.Objectives[0], a.Objectives[1]
	p.Title.Text = frontTitle(a)
	p.X.Label.Text, p.Y.Label.Text = axisName(x), axisName(y)
	p.Add(plotter.NewGrid())
	at := func(r *sweep.Ranked) plotter.XY {
		return plotter.XY{X: inUnit(r.Stats[0].Mean, x.Kind), Y: inUnit(r.Stats[1].Mean, y.Kind)}
	}
	var front, rest, base plotter.XYs
	for i := range a.Ranking {
		if i < a.Front {
			front = append(front, at(&a.Ranking[i]))
		} else {
			rest = append(rest, at(&a.Ranking[i]))
		}
	}
	if a.Baseline != nil {
		base = plotter.XYs{at(a.Baseline)}
	}
	for _, g := range []struct {
		name  string
		xy    plotter.XYs
		color color.Color
		shape draw.GlyphDrawer
		size  vg.Length
	}{{"other points", rest, color.RGBA{0xb0, 0xb0, 0xb0, 0xff}, draw.CircleGlyph{}, vg.Points(2)},
		{"Pareto front", front, Tints[0], draw.CircleGlyph{}, vg.Points(4)},
		{"scenario", base, Tints[1], draw.BoxGlyph{}, vg.Points(5)}} {
		if len(g.xy) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(g.xy)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: g.color, Radius: g.size, Shape: g.shape}
		p.Add(dots)
		p.Legend.Add(g.name, dots)
	}
	p.X.Min, p.X.Max = roomy(p.X.Min, p.X.Max)
	p.Y.Min, p.Y.Max = roomy(p.Y.Min, p.Y.Max)
	p.Legend.Left, p.Legend.Top = emptiest(p, slices.Concat(front, rest, base))
	return p, nil
}

// frontTitle describes the number of points on the front, and its ends.
func frontTitle(a *sweep.Analysis) string {
	say := fmt.Sprintf("%d of %s on the Pareto front", a.Front, unit.Plural(len(a.Ranking), "point"))
	for k, o := range a.Objectives[:2] {
		low, high := math.Inf(1), math.Inf(-1)
		for _, r := range a.Ranking[:a.Front] {
			low, high = min(low, r.Stats[k].Mean), max(high, r.Stats[k].Mean)
		}
		say += fmt.Sprintf("%s %s %s to %s", []string{":", ","}[k], o.Words, table.Quantity(low, o.Kind),
			table.Quantity(high, o.Kind))
	}
	return say
}

// emptiest is the corner with fewest points, for a legend.
func emptiest(p *plot.Plot, points plotter.XYs) (left, top bool) {
	var in [2][2]int
	for _, at := range points {
		x, y := (at.X-p.X.Min)/(p.X.Max-p.X.Min), (at.Y-p.Y.Min)/(p.Y.Max-p.Y.Min)
		for i, near := range []bool{x > 0.7, x < 0.3} {
			for j, close := range []bool{y < 0.2, y > 0.8} {
				if near && close {
					in[i][j]++
				}
			}
		}
	}
	least := in[0][0]
	for i := range in {
		for j := range in[i] {
			if in[i][j] < least {
				least, left, top = in[i][j], i == 1, j == 1
			}
		}
	}
	return left, top
}

// setting is a parameter with its value at a ranked point.
func setting(x *axis, point int) string {
	return x.name + " " + table.Setting(x.of[point])
}

// begun writes a sentence's first letter large.
func begun(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// roomy widens the range of an axis so that marks at its ends are complete.
func roomy(low, high float64) (float64, float64) {
	room := (high - low) / 20
	return low - room, high + room
}

// sensitivity draws how much each parameter counts.
func sensitivity(a *sweep.Analysis, _ []*axis) (*plot.Plot, error) {
	var keys []string
	var values plotter.Values
	o := a.Objectives[0]
	for i := range a.Effects[:min(len(a.Effects), 20)] {
		switch e := &a.Effects[i]; {
		case e.Morris != nil:
			values = append(values, inUnit(e.Morris.MeanAbs, o.Kind))
		case math.IsNaN(e.Share):
			continue
		default:
			values = append(values, 100*e.Share)
		}
		keys = append(keys, a.Effects[i].Key)
	}
	if len(values) < 2 {
		return nil, nil
	}
	p := plot.New()
	p.X.Label.Text = "share of the variance of the " + o.Words + ", %"
	first := table.Short(keys)[0]
	p.Title.Text = fmt.Sprintf("%s explains %s of the variance of the %s over %s", first, unit.ShowShare(values[0]/100),
		o.Words, unit.Plural(len(a.Ranking), "point"))
	if a.Screening {
		p.X.Label.Text = "mean effect on " + axisName(o)
		p.Title.Text = fmt.Sprintf("%s changes the %s most, over %s", first, o.Words, unit.Plural(len(a.Ranking), "point"))
	}
	slices.Reverse(values) // the first on top
	keys = table.Short(keys)
	slices.Reverse(keys)
	bars, err := plotter.NewBarChart(values, vg.Points(14))
	if err != nil {
		return nil, err
	}
	bars.Horizontal, bars.Color = true, Tints[0]
	p.Add(bars)
	p.NominalY(keys...)
	p.Y.Min, p.Y.Max = -0.5, float64(len(keys))-0.5
	_, p.X.Max = roomy(0, p.X.Max)
	p.X.Min = 0
	return p, nil
}

// axisName names an objective with the unit of inUnit.
func axisName(o sweep.Objective) string {
	return o.Words + map[space.Kind]string{space.Time: ", ms", space.Size: ", MB", space.Rate: ", Gbit/s"}[o.Kind]
}

// inUnit converts from base units to milliseconds, megabytes and Gbit/s.
func inUnit(x float64, k space.Kind) float64 {
	return x / map[space.Kind]float64{space.Word: 1, space.Number: 1, space.Time: 1e9, space.Size: 1e6, space.Rate: 1e9,
		space.Length: 1e3}[k]
}
