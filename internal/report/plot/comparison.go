package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/internal/allreduce/rates"
	"railyard/internal/result"
	"railyard/unit"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Curves are one run's data for the plots of a comparison.
type Curves struct {
	Label string
	done  []float64     // completion times of messages, µs, sorted, not 0
	queue plotter.XYs   // longest queue by sample of the switch port with the highest peak: ms, KB
	port  string        // its name
	peak  int64         // longest queue, bytes
	rates []plotter.XYs // rate that congestion control allows queue pairs: ms, Gbit/s
	line  float64       // rate of the fastest of them, Gbit/s
	slow  []sizeClass   // slowdown of messages at random times
}

// maxCurve is the maximum number of points of a curve.
const maxCurve = 2000

// NewCurves takes from a run what plots show.
func NewCurves(label string, s *result.Summary, t *result.Tables) Curves {
	c := Curves{Label: label}
	for i := range t.Flows {
		if f := &t.Flows[i]; f.Done >= 0 {
			c.done = append(c.done, max(1e-6, unit.Time(f.Done-f.Posted).Micros()))
		}
	}
	slices.Sort(c.done)
	if s.Flows.Slowdown != nil {
		c.slow = sizeClasses(t.Flows)
	}
	c.longestQueue(t)
	c.ratesOf(s, t)
	return c
}

// longestQueue draws the longest queue in each sample of the switch port with the highest peak, which the summary
// also reports.
func (c *Curves) longestQueue(t *result.Tables) {
	best := -1
	for i := range t.Ports {
		if p := &t.Ports[i]; p.Role != "host" && p.QueuePeak > 0 && (best < 0 || p.QueuePeak > t.Ports[best].QueuePeak) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	c.port, c.peak = t.Ports[best].Name, t.Ports[best].QueuePeak
	c.queue = plotter.XYs{{}}
	last := int64(0)
	for i := range t.Links {
		l := &t.Links[i]
		if int(l.Port) != best {
			continue
		}
		if l.Start > last { // no row: no queue
			c.queue = append(c.queue, plotter.XY{X: float64(last) / 1e9}, plotter.XY{X: float64(l.Start) / 1e9})
		}
		last = l.Start + l.Length
		c.queue = append(c.queue, plotter.XY{X: float64(last) / 1e9, Y: float64(l.Longest()) / 1e3})
	}
	c.queue = thinned(c.queue)
}

// ratesOf draws the first queue pairs' rates as steps, from their line rate on.
func (c *Curves) ratesOf(s *result.Summary, t *result.Tables) {
	end := float64(s.StepTime) / 1e9
	n := min(rates.MaxCurves, len(t.QPs))
	c.rates = make([]plotter.XYs, n)
	for q := range n {
		line := float64(t.QPs[q].Line) / 1e9
		c.line = max(c.line, line)
		c.rates[q] = plotter.XYs{{X: 0, Y: line}}
	}
	for i := range t.Signals {
		x := &t.Signals[i]
		if x.Signal != cc.SignalRate || int(x.QP) >= n {
			continue
		}
		r, at := c.rates[x.QP], float64(x.At)/1e9
		c.rates[x.QP] = append(r, plotter.XY{X: at, Y: r[len(r)-1].Y}, plotter.XY{X: at, Y: x.Value / 1e9})
	}
	for q, r := range c.rates {
		c.rates[q] = thinned(append(r, plotter.XY{X: end, Y: r[len(r)-1].Y}))
	}
}

// thinned keeps, of each section of a long curve, the lowest and the highest point, in their order.
func thinned(points plotter.XYs) plotter.XYs {
	if len(points) <= maxCurve {
		return points
	}
	per := 2 * len(points) / maxCurve
	var out plotter.XYs
	for part := range slices.Chunk(points, per) {
		low, high := 0, 0
		for i := range part {
			if part[i].Y < part[low].Y {
				low = i
			}
			if part[i].Y > part[high].Y {
				high = i
			}
		}
		out = append(out, part[min(low, high)])
		if low != high {
			out = append(out, part[max(low, high)])
		}
	}
	return out
}

// Completion returns the share of messages that took at most the given time.
func Completion(all []Curves) (*vgimg.Canvas, error) {
	p := plot.New()
	low, high := math.Inf(1), 0.0
	for _, c := range all {
		if n := len(c.done); n > 0 {
			low, high = min(low, c.done[0]), max(high, c.done[n-1])
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1.02*high, 0, 100
	marks := times{}
	if high > 10*low {
		p.X.Scale, p.X.Min, marks.decades = plot.LogScale{}, low, true
	}
	p.X.Tick.Marker = marks
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 25, Label: "25 %"}, {Value: 50, Label: "50 %"},
		{Value: 75, Label: "75 %"}, {Value: 100, Label: "100 %"}}
	p.Add(quiet(p))
	var names []string
	for i, c := range all {
		var points plotter.XYs
		for k, t := range c.done {
			points = append(points, plotter.XY{X: t, Y: 100 * float64(k) / float64(len(c.done))},
				plotter.XY{X: t, Y: 100 * float64(k+1) / float64(len(c.done))})
		}
		if err := AddLine(p, "", thinned(points), i); err != nil {
			return nil, err
		}
		name := c.Label
		if n := len(c.done); n > 0 {
			name += ", max " + unit.Time(c.done[n-1]*1e6).Show()
		}
		names = append(names, name)
	}
	return keyed(p, halves(all), "share of messages that take at most a time", names), nil
}

// Slowdowns returns the slowdown of messages over their size.
func Slowdowns(all []Curves) (*vgimg.Canvas, error) {
	p, err := slowdownPlot(all)
	if err != nil {
		return nil, err
	}
	p.Title.Text = "Slowdown of messages by size"
	return drawn(p), nil
}

// halves returns the title of the plot of completion times: it compares the medians of the fastest run and of the
// first run, or where all medians are within 1 % their slowest messages.
func halves(all []Curves) string {
	half := func(c *Curves) float64 { return c.done[(len(c.done)-1)/2] }
	last := func(c *Curves) float64 { return c.done[len(c.done)-1] }
	best, first := fastest(all, half)
	if first == nil {
		return "No message ended"
	}
	what, of := "Median completion time ", half
	if !slices.ContainsFunc(all, func(c Curves) bool { return len(c.done) > 0 && half(&c) >= 1.01*half(best) }) {
		if b, _ := fastest(all, last); last(first) >= 1.01*last(b) {
			what, of, best = "Slowest message ", last, b
		}
	}
	say := func(c *Curves) string { return unit.Time(of(c)*1e6).Show() + " with " + c.Label }
	if best == first {
		return what + say(first)
	}
	return what + say(best) + ", " + say(first)
}

// fastest returns the run with the least figure, and the first, of those with messages; nil: none has.
func fastest(all []Curves, of func(*Curves) float64) (best, first *Curves) {
	for i := range all {
		if c := &all[i]; len(c.done) > 0 {
			if first == nil {
				first = c
			}
			if best == nil || of(c) < of(best) {
				best = c
			}
		}
	}
	return best, first
}

// Queues is the longest queue of each over time.
func Queues(all []Curves) (*vgimg.Canvas, error) {
	s := strips{note: "longest queue per sample of the switch port with the highest peak", tint: amber,
		show: func(v float64) string { return unit.Bytes(v).Show() }}
	var least, longest string
	low := math.Inf(1)
	for _, c := range all {
		one := strip{name: c.Label, note: c.port}
		most := float64(c.peak)
		for i := 1; i < len(c.queue); i++ {
			a, b := c.queue[i-1], c.queue[i]
			one.on = append(one.on, stretch{a.X * 1e9, b.X * 1e9, b.Y * 1e3})
			s.end = max(s.end, b.X*1e9)
		}
		one.note = strings.TrimPrefix(one.note+", peak "+unit.Bytes(most).Show(), ", ")
		if most > s.most || longest == "" {
			longest = unit.Bytes(most).Show() + " with " + c.Label
		}
		if most < low {
			low, least = most, unit.Bytes(most).Show()+" with "+c.Label
		}
		s.all, s.most = append(s.all, one), max(s.most, most)
	}
	if s.title = "Longest queue " + longest; least != longest {
		s.title += ", " + least
	}
	return s.image(), nil
}

// AddLine draws a curve; colours repeat with other dashes.
func AddLine(p *plot.Plot, name string, points plotter.XYs, i int) error {
	if len(points) == 0 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = Tints[i%len(Tints)], vg.Points(1.2)
	if i >= len(Tints) {
		line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}

// drawn is a plot on its own canvas.
func drawn(p *plot.Plot) *vgimg.Canvas {
	img := image(24*vg.Centimeter, 12*vg.Centimeter)
	p.Draw(draw.Crop(draw.New(img), 2*vg.Millimeter, -6*vg.Millimeter, 2*vg.Millimeter, -2*vg.Millimeter))
	return img
}

// Rates draws the rates that congestion control permits for the first queue pairs of each run: the lowest to the
// highest rate, and their mean, all on one scale.
func Rates(all []Curves) (*vgimg.Canvas, error) {
	s := strips{tint: tint("#aecae3"), show: func(v float64) string { return unit.Rate(v).Show() }}
	lowest, of := math.Inf(1), ""
	for _, c := range all {
		one, low := strip{name: c.Label, band: true}, c.line
		for _, r := range c.rates {
			for i := 1; i < len(r); i++ {
				if r[i].X > r[i-1].X {
					one.on = append(one.on, stretch{r[i-1].X * 1e9, r[i].X * 1e9, r[i-1].Y * 1e9})
				}
				low, s.end = min(low, r[i].Y), max(s.end, r[i].X*1e9)
			}
		}
		if low < lowest {
			lowest, of = low, c.Label
		}
		one.note = "lowest " + unit.Rate(low*1e9).Show()
		s.all, s.most = append(s.all, one), max(s.most, c.line*1e9)
	}
	s.title = fmt.Sprintf("%s lowers rates most, to %s of %s", of, unit.Rate(lowest*1e9).Show(), unit.Rate(s.most).Show())
	s.note = "rate that congestion control allows: lowest to highest of up to " + strconv.Itoa(rates.MaxCurves) + " queue pairs, and their mean"
	return s.image(), nil
}
