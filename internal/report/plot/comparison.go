package plot

import (
	"cmp"
	"slices"

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
	done  []float64     // completion times of messages, us, sorted
	queue plotter.XYs   // the switch port with the longest mean queue: ms, KB
	port  string        // its name
	rates []plotter.XYs // what congestion control allows queue pairs: ms, Gbit/s
	line  float64       // of the fastest of them, Gbit/s
}

// maxCurve is the maximum number of points of a curve.
const maxCurve = 2000

// NewCurves takes from a run what plots show.
func NewCurves(label string, s *result.Summary, t *result.Tables) Curves {
	c := Curves{Label: label}
	for i := range t.Flows {
		if f := &t.Flows[i]; f.Done >= 0 {
			c.done = append(c.done, unit.Time(f.Done-f.Posted).Micros())
		}
	}
	slices.Sort(c.done)
	c.longestQueue(t)
	c.ratesOf(s, t)
	return c
}

// longestQueue draws the samples of the switch port whose queue is longest in the mean.
func (c *Curves) longestQueue(t *result.Tables) {
	sums := make([]float64, len(t.Ports))
	best := int32(-1)
	for i := range t.Links {
		l := &t.Links[i]
		if t.Ports[l.Port].Role == "host" {
			continue
		}
		sums[l.Port] += float64(l.Queued) * float64(l.Length)
		if best < 0 || sums[l.Port] > sums[best] {
			best = l.Port
		}
	}
	if best < 0 {
		return
	}
	c.port = t.Ports[best].Name
	last := int64(0)
	for i := range t.Links {
		l := &t.Links[i]
		if l.Port != best {
			continue
		}
		if l.Start > last { // no row: no queue
			c.queue = append(c.queue, plotter.XY{X: float64(last) / 1e9}, plotter.XY{X: float64(l.Start) / 1e9})
		}
		last = l.Start + l.Length
		c.queue = append(c.queue, plotter.XY{X: float64(last) / 1e9, Y: float64(l.Queued) / 1e3})
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

// thinned keeps of each stretch of a long curve the lowest and the highest point, in their order.
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
	p.Title.Text = "completion of messages"
	p.X.Label.Text, p.Y.Label.Text = "time, us", "messages done, %"
	p.Y.Min, p.Y.Max, p.Legend.Top, p.Legend.Left = 0, 100, true, true
	for i, c := range all {
		var points plotter.XYs
		for k, t := range c.done {
			points = append(points, plotter.XY{X: t, Y: 100 * float64(k) / float64(len(c.done))},
				plotter.XY{X: t, Y: 100 * float64(k+1) / float64(len(c.done))})
		}
		if err := AddLine(p, c.Label, thinned(points), i); err != nil {
			return nil, err
		}
	}
	return drawn(p), nil
}

// Queues is the longest queue of each over time.
func Queues(all []Curves) (*vgimg.Canvas, error) {
	p := plot.New()
	p.Title.Text = "the switch port with the longest mean queue"
	p.X.Label.Text, p.Y.Label.Text = "time, ms", "queue, KB"
	p.X.Min, p.Y.Min, p.Legend.Top = 0, 0, true
	for i, c := range all {
		name := c.Label
		if c.port != "" {
			name += ", " + c.port
		}
		if err := AddLine(p, name, c.queue, i); err != nil {
			return nil, err
		}
	}
	return drawn(p), nil
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

// drawn is a plot on a canvas of its own.
func drawn(p *plot.Plot) *vgimg.Canvas {
	img := vgimg.New(24*vg.Centimeter, 12*vg.Centimeter)
	p.Draw(draw.New(img))
	return img
}

// Rates has a panel for each run, with the rates of its first queue pairs, all to one scale.
func Rates(all []Curves) (*vgimg.Canvas, error) {
	const across = 3
	rows := (len(all) + across - 1) / across
	most := slices.MaxFunc(all, func(a, b Curves) int { return cmp.Compare(a.line, b.line) }).line
	end := 0.0
	for _, c := range all {
		for _, r := range c.rates {
			end = max(end, r[len(r)-1].X)
		}
	}
	panels := make([][]*plot.Plot, rows)
	for r := range panels {
		panels[r] = make([]*plot.Plot, across)
		for k := range across {
			i := r*across + k
			if i >= len(all) {
				continue
			}
			p := plot.New()
			p.Title.Text = all[i].Label
			p.X.Label.Text, p.Y.Label.Text = "time, ms", "allowed rate, Gbit/s"
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, end, 0, 1.05*most
			for q, points := range all[i].rates {
				if err := AddLine(p, "", points, q); err != nil {
					return nil, err
				}
			}
			panels[r][k] = p
		}
	}
	img := vgimg.New(30*vg.Centimeter, vg.Length(rows)*8*vg.Centimeter)
	tiles := draw.Tiles{Rows: rows, Cols: across, PadX: vg.Millimeter * 4, PadY: vg.Millimeter * 4}
	for r, canvases := range plot.Align(panels, tiles, draw.New(img)) {
		for k, canvas := range canvases {
			if panels[r][k] != nil {
				panels[r][k].Draw(canvas)
			}
		}
	}
	return img, nil
}
