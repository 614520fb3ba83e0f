package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/internal/result"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// percents are the percentiles of the slowdown that are drawn, in the order of their curves.
var percents = []int{50, 95, 99}

// sizeClass is messages of similar sizes, and their slowdown.
type sizeClass struct {
	messages int
	bytes    int64     // bytes of the message in the middle
	slowdown []float64 // by percents
}

// Classes of sizes have equal numbers of messages, enough for a 99th percentile.
const (
	mostClasses = 20
	perClass    = 100
)

// sizeClasses sorts the messages that ended into classes of sizes, from small to large. Messages of one size are in one
// class. Percentiles are the nearest rank.
func sizeClasses(flows []result.FlowRow) (out []sizeClass) {
	type message struct {
		bytes    int64
		slowdown float64
	}
	var all []message
	for i := range flows {
		if f := &flows[i]; f.Done >= 0 && f.Ideal > 0 {
			all = append(all, message{f.Bytes, float64(f.Done-f.Posted) / float64(f.Ideal)})
		}
	}
	slices.SortFunc(all, func(a, b message) int { return cmp.Compare(a.bytes, b.bytes) })
	each := max(perClass, (len(all)+mostClasses-1)/mostClasses)
	for len(all) > 0 {
		n := min(each, len(all))
		for n < len(all) && (all[n].bytes == all[n-1].bytes || len(all)-n < perClass) {
			n++
		}
		class := all[:n]
		x := sizeClass{messages: n, bytes: class[n/2].bytes}
		slices.SortFunc(class, func(a, b message) int { return cmp.Compare(a.slowdown, b.slowdown) })
		for _, p := range percents {
			x.slowdown = append(x.slowdown, class[result.NearestRank(n, p)].slowdown)
		}
		out, all = append(out, x), all[n:]
	}
	return out
}

// slowdownPlot draws the percentiles of the slowdown over the size of messages. For one run each percentile has a
// colour. For several each run has a colour, and each percentile its dashes.
func slowdownPlot(all []Curves) (*plot.Plot, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "message, bytes", "slowdown: time over time on an idle fabric"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	dashes := [][]vg.Length{{1.5, 2}, {5, 3}, nil}
	for i, c := range all {
		for k, percent := range percents {
			var points plotter.XYs
			for _, x := range c.slow {
				points = append(points, plotter.XY{X: max(1, float64(x.bytes)), Y: x.slowdown[k]})
			}
			if len(points) == 0 {
				continue
			}
			line, dots, err := plotter.NewLinePoints(points)
			if err != nil {
				return nil, err
			}
			name, colour := fmt.Sprintf("p%d", percent), Tints[k]
			if len(all) > 1 {
				name, colour = c.Label+" "+name, Tints[i%len(Tints)]
				line.Dashes = dashes[k]
			}
			line.Color, line.Width, dots.Color, dots.Radius = colour, vg.Points(1.2), colour, vg.Points(1.5)
			dots.Shape = draw.CircleGlyph{}
			p.Add(line, dots)
			p.Legend.Add(name, line, dots)
		}
	}
	p.Y.Min, p.Y.Max = min(1, p.Y.Min), max(10, math.Pow10(int(math.Ceil(math.Log10(p.Y.Max)))))
	return p, nil
}

// slowdowns draws the slowdowns of a run with the given classes.
func slowdowns(name string, classes []sizeClass) (drawing, error) {
	p, err := slowdownPlot([]Curves{{slow: classes}})
	if err != nil {
		return drawing{}, err
	}
	messages, last := 0, len(percents)-1
	for _, x := range classes {
		messages += x.messages
	}
	worst := slices.MaxFunc(classes, func(a, b sizeClass) int {
		return cmp.Compare(a.slowdown[last], b.slowdown[last])
	})
	title := fmt.Sprintf("Messages of about %s are slowed most: p%d %s of the time on an idle fabric",
		unit.Bytes(worst.bytes).Show(), percents[last], unit.ShowFactor(worst.slowdown[last]))
	note := fmt.Sprintf("%s: %s in %s of sizes", name, unit.Plural(messages, "message"), unit.Plural(len(classes), "class"))
	return drawing{"slowdown", 14 * vg.Centimeter, func(to vg.CanvasSizer) {
		c := headed(to, title, note)
		p.Draw(draw.Crop(c, 0, 0, 2*vg.Millimeter, 0))
	}}, nil
}
