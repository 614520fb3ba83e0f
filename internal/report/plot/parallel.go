package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"railyard/internal/report/table"
	"railyard/internal/study/space"
	"railyard/internal/study/sweep"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Parallel coordinates: the most lines, and the share of a value's room in which its lines are side by side.
const (
	mostLines = 60
	fan       = 0.7
)

// moves reports whether a parameter changes the first objective between points that are equal in all others.
// Without such points a study gives no information about it.
func moves(a *sweep.Analysis, axes []*axis, k int) bool {
	seen, compared := map[string]float64{}, false
	for i := range a.Ranking {
		var others []string
		for j, x := range axes {
			if j != k {
				others = append(others, x.of[i])
			}
		}
		key, v := strings.Join(others, "\x00"), a.Ranking[i].Stats[0].Mean
		if first, ok := seen[key]; !ok {
			seen[key] = v
		} else if compared = true; first != v {
			return true
		}
	}
	return !compared
}

// parallel draws a line for each point through its parameters to the first objective, whose best value is on top. Lines
// of a value are side by side, in the order in which they reach the next axis. The best are blue.
func parallel(a *sweep.Analysis, axes []*axis) (*plot.Plot, error) {
	if len(axes) < 2 { // curve draws one
		return nil, nil
	}
	axes = axes[:min(len(axes), 7)]
	o, n := a.Objectives[0], len(a.Ranking)
	best, worst := a.Ranking[0].Stats[0].Mean, a.Ranking[0].Stats[0].Mean
	for _, r := range a.Ranking {
		if v := r.Stats[0].Mean; math.Abs(v-best) > math.Abs(worst-best) {
			worst = v
		}
	}
	p := plot.New()
	blue := min(5, (n+9)/10)
	for blue < n && blue < 10 && a.Ranking[blue].Stats[0].Mean == best { // equal ones
		blue++
	}
	every := (n + mostLines - 1) / mostLines
	p.Title.Text = fmt.Sprintf("%s %s at best, with %s and %s\nblue: the best %d of %s", begun(o.Words),
		table.Quantity(best, o.Kind), setting(axes[0], 0), setting(axes[1], 0), blue, unit.Plural(n, "point"))
	var lines []int
	for i := range n {
		if i < blue || i%every == 0 {
			lines = append(lines, i)
		}
	}
	if len(lines) < n {
		p.Title.Text += fmt.Sprintf(", grey: %d of the others", len(lines)-blue)
	}
	places, next := make([]plotter.XYs, len(lines)), make([]float64, len(lines))
	for at, i := range lines {
		next[at] = (a.Ranking[i].Stats[0].Mean - worst) / orOne(best-worst)
		places[at] = plotter.XYs{{X: float64(len(axes)), Y: next[at]}}
	}
	for k := len(axes) - 1; k >= 0; k-- {
		next = axes[k].side(lines, next)
		for at, y := range next {
			places[at] = append(places[at], plotter.XY{X: float64(k), Y: y})
		}
	}
	for at := len(lines) - 1; at >= 0; at-- { // the best on top
		i := lines[at]
		slices.Reverse(places[at])
		line, err := plotter.NewLine(bent(places[at]))
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = color.RGBA{0xc4, 0xc6, 0xca, 0xff}, vg.Points(0.8)
		if i < blue {
			line.Color, line.Width = Tints[0], vg.Points(2)
		}
		p.Add(line)
	}
	p.HideY()
	p.X.LineStyle.Width, p.X.Tick.LineStyle.Width = 0, 0
	return p, poles(p, a, axes, best, worst)
}

// orOne is a range to divide by, 1 where there is none.
func orOne(v float64) float64 {
	if v == 0 {
		return 1
	}
	return v
}

// side places points on a parameter's axis, from 0 to 1: at their value, ordered by their positions on the next
// axis. NaN: a point does not set it.
func (x *axis) side(points []int, next []float64) []float64 {
	out, of := make([]float64, len(points)), make([][]int, len(x.values))
	for at, i := range points {
		if out[at] = math.NaN(); x.of[i] != "" {
			v, _ := slices.BinarySearchFunc(x.values, x.of[i], space.Compare)
			of[v] = append(of[v], at)
		}
	}
	for v, all := range of {
		slices.Reverse(all) // of equal ones the best on top
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(next[a], next[b]) })
		for k, at := range all {
			within := (float64(k)+0.5)/float64(len(all)) - 0.5
			out[at] = (float64(v) + 0.5 + fan*within) / float64(len(x.values))
		}
	}
	return out
}

// plates are labels on white, so that lines below do not cross letters.
type plates struct{ *plotter.Labels }

// Plot draws them.
func (l plates) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, at := range l.XYs {
		box := l.TextStyle[i].Rectangle(l.Labels.Labels[i]).Add(vg.Point{X: x(at.X), Y: y(at.Y)})
		box.Min.X += vg.Points(4)
		c.FillPolygon(color.White, []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max,
			{X: box.Min.X, Y: box.Max.Y}})
	}
	l.Labels.Plot(c, p)
}

// bent connects positions by curves that are horizontal at the axes; a position without a value is skipped.
func bent(places plotter.XYs) (line plotter.XYs) {
	places = slices.DeleteFunc(places, func(p plotter.XY) bool { return math.IsNaN(p.Y) })
	for i := 0; i+1 < len(places); i++ {
		a, b := places[i], places[i+1]
		for s := 0.0; s < 1; s += 1.0 / 24 {
			line = append(line, plotter.XY{X: a.X + s*(b.X-a.X), Y: a.Y + s*s*(3-2*s)*(b.Y-a.Y)})
		}
	}
	return append(line, places[len(places)-1])
}

// poles draws the axes, their values, and their names.
func poles(p *plot.Plot, a *sweep.Analysis, axes []*axis, best, worst float64) error {
	var ticks []plot.Tick
	var at plotter.XYLabels
	o := a.Objectives[0]
	bar := func(k, from, to float64) error {
		line, err := plotter.NewLine(plotter.XYs{{X: k, Y: from}, {X: k, Y: to}})
		if err == nil {
			line.Color, line.Width = color.RGBA{0x3a, 0x3f, 0x47, 0xff}, vg.Points(4)
			p.Add(line)
		}
		return err
	}
	label := func(k, y float64, text string) {
		at.XYs, at.Labels = append(at.XYs, plotter.XY{X: k, Y: y}), append(at.Labels, "  "+text)
	}
	for k, x := range axes {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: x.name})
		n := float64(len(x.values))
		every := (len(x.values) + 11) / 12
		for v, name := range x.values {
			middle := (float64(v) + 0.5) / n
			if err := bar(float64(k), middle-fan/2/n, middle+fan/2/n); err != nil {
				return err
			}
			if v%every == 0 || v == len(x.values)-1 {
				label(float64(k), middle, table.Setting(name))
			}
		}
	}
	last := float64(len(axes))
	ticks = append(ticks, plot.Tick{Value: last, Label: o.Words})
	if err := bar(last, 0, 1); err != nil {
		return err
	}
	label(last, 1, table.Quantity(best, o.Kind)+" (best)")
	label(last, 0, table.Quantity(worst, o.Kind))
	if b := a.Baseline; b != nil {
		if share := (b.Stats[0].Mean - worst) / orOne(best-worst); share > 0.05 && share < 0.95 {
			label(last, share, table.Quantity(b.Stats[0].Mean, o.Kind)+" (scenario)")
		}
	}
	text, err := plotter.NewLabels(at)
	if err != nil {
		return err
	}
	for i := range text.TextStyle {
		text.TextStyle[i].YAlign = draw.YCenter
	}
	p.Add(plates{text})
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -0.04, 1.04
	p.X.Min, p.X.Max = -0.15, last+0.45
	return nil
}
