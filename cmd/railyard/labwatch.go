package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"railyard/internal/lab"
	"railyard/internal/report/plot"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// labMove is what became of traffic after an event, rates in Gbit/s of frames.
type labMove struct {
	Event    string  `json:"event"`
	Moved    float64 `json:"moved_after_ms"` // below 0: not while the load lasted
	Before   float64 `json:"path_gbps_before"`
	After    float64 `json:"path_gbps_after"`
	Arrived  float64 `json:"arrived_gbps_before"`
	Arrives  float64 `json:"arrived_gbps_after"`
	Again    int64   `json:"retransmissions"`
	Longest  float64 `json:"longest_write_ms"`
	Verified bool    `json:"verified"`

	path, total plotter.XYs // ms since the event, Gbit/s
}

// tick is how often counters are read, window over how long rates are taken: a few packets at least.
const (
	tick   = 2 * time.Millisecond
	window = 10 * time.Millisecond
	// gone is the share of what went there before at which traffic has left: probes still ask after paths.
	gone = 0.1
)

// lasting is the time, in ms, over which traffic counts that is more than probes.
const lasting = 100.0

// sample is counters at a moment.
type sample struct {
	at          time.Duration
	path, total int64 // bytes
}

// watch reads counters while something breaks.
type watch struct {
	tap     *lab.Tap
	ports   int // that are tapped
	path    int // so many of them, from the second on, lead to what breaks; at those behind data arrive
	samples []sample
	event   time.Duration
	pace
}

// pace says when the event happens and when the load is to end, by what was seen so far.
type pace struct {
	happens func(w *watch) bool
	enough  func(w *watch, ev *labEvent) bool // nil: the load ends when its time is over
}

// begun is how many bytes must have gone towards what breaks before the time until the event counts: more
// than hosts that have not met exchange.
const begun = 32 << 10

// after returns a pace by the clock: the event happens so long after traffic was seen for the first time.
func after(at time.Duration) pace {
	first, began := time.Duration(0), false
	return pace{happens: func(w *watch) bool {
		last := w.samples[len(w.samples)-1]
		if !began && last.path-w.samples[0].path > begun {
			began, first = true, last.at
		}
		return began && last.at-first >= at
	}}
}

// follow reads until the load has ended, has the event happen at its time, and ends the load when there was
// enough of it.
func (w *watch) follow(ctx context.Context, s *lab.State, ev *labEvent, fault *lab.Fault, end func() error,
	ended <-chan error) error {
	start := time.Now()
	every := time.NewTicker(tick)
	defer every.Stop()
	sent, received := make([]int64, w.ports), make([]int64, w.ports)
	broken := make(chan error, 1)
	ending := false
	for happened := false; ; {
		if err := w.tap.Read(sent, received); err != nil {
			return err
		}
		x := sample{at: time.Since(start)}
		for i := 1; i <= w.path; i++ {
			x.path += sent[i]
		}
		for i := w.path + 1; i < w.ports; i++ {
			x.total += received[i]
		}
		w.samples = append(w.samples, x)
		if happened && !ending && w.enough != nil && w.enough(w, ev) {
			ending = true
			if err := end(); err != nil {
				return err
			}
		}
		if !happened && w.happens(w) {
			happened, w.event = true, time.Since(start)
			if ev.loss == 0 {
				if err := w.tap.Cut(0); err != nil {
					return err
				}
			} else { // another process does it: not to wait for
				go func() { broken <- lab.SetLoss(ctx, s, fault.Port, ev.loss) }()
			}
		}
		select {
		case err := <-broken:
			if err != nil {
				return labError(err)
			}
		case err := <-ended:
			exit := (*exec.ExitError)(nil)
			switch {
			case ending && errors.As(err, &exit) && exit.ExitCode() == exitInterupt:
				return nil
			case !happened && err == nil && x.path-w.samples[0].path <= begun:
				return errors.New("the load has ended, and none of it went towards what was to break")
			case !happened && err == nil:
				return errors.New("the load ended before the event")
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
	}
}

// rates are what counters make over windows, in Gbit/s, at the end of each, in ms since the event.
func (w *watch) rates(of func(sample) int64) (out plotter.XYs) {
	first := 0
	for i, x := range w.samples {
		for x.at-w.samples[first].at > window && first < i-1 {
			first++
		}
		took := x.at - w.samples[first].at
		if took < window/2 {
			continue
		}
		out = append(out, plotter.XY{X: (x.at - w.event).Seconds() * 1e3,
			Y: float64(of(x)-of(w.samples[first])) * 8 / took.Seconds() / 1e9})
	}
	return out
}

// mean is that of points from one time to another, in ms.
func mean(points plotter.XYs, from, to float64) float64 {
	sum, n := 0.0, 0
	for _, p := range points {
		if p.X >= from && p.X < to {
			sum, n = sum+p.Y, n+1
		}
	}
	return sum / float64(max(1, n))
}

// around is how long before the event, and before the end, rates are taken, in ms; the load's last moments
// do not count: senders fall silent one by one.
const (
	around  = 250.0
	nearEnd = 150.0
)

// judge says when traffic had left.
func (w *watch) judge(what string) (*labMove, error) {
	m := &labMove{Event: what, Moved: -1, path: w.rates(func(s sample) int64 { return s.path }),
		total: w.rates(func(s sample) int64 { return s.total })}
	if len(m.path) == 0 {
		return nil, errors.New("nothing was measured")
	}
	end := m.path[len(m.path)-1].X - nearEnd
	for len(m.total) > 0 && end > 0 && mean(m.total, end-20, end) == 0 { // the processes took their leave
		end -= 20
	}
	m.Before, m.Arrived = mean(m.path, -around, 0), mean(m.total, -around, 0)
	if m.Before < 1e-4 {
		return nil, fmt.Errorf("no traffic goes there: %.6f Gbit/s before the event", m.Before)
	}
	m.After, m.Arrives = mean(m.path, end-around, end), mean(m.total, end-around, end)
	last := 0.0 // end of the last window with more than is left, which is more than a few probes at once
	for _, p := range m.path {
		if p.X > 0 && p.X < end && p.Y > gone*m.Before && mean(m.path, p.X-lasting/2, p.X+lasting/2) > gone*m.Before {
			last = p.X
		}
	}
	if last < end-around { // quiet for long enough to say so
		m.Moved = last
	}
	return m, nil
}

// moveRow prints one line of the table, the first with its head.
func moveRow(w io.Writer, i int, m *labMove) {
	if i == 0 {
		fmt.Fprintf(w, "%-40s %9s %17s %17s %7s %9s "+
			"%8s\n", "event", "moved", "path, Gbit/s", "arriving, Gbit/s",
			"again", "longest", "verified")
		fmt.Fprintf(w, "%-40s %9s %17s %17s %7s "+
			"%9s\n", "", "(ms)", "before   after", "before   after", "", "(ms)")
	}
	moved := "not"
	if m.Moved >= 0 {
		moved = fmt.Sprintf("%.0f", m.Moved)
	}
	fmt.Fprintf(w, "%-40s %9s %9.3f %7.3f %9.3f %7.3f %7d %9.1f %8v\n", m.Event, moved, m.Before, m.After,
		m.Arrived, m.Arrives, m.Again, m.Longest, m.Verified)
}

// movePlot has a panel for each event: what arrives, and what goes to what broke.
func movePlot(moves []labMove) (*vgimg.Canvas, error) {
	panels := make([][]*gonum.Plot, len(moves))
	most := 0.0
	for _, m := range moves {
		for _, p := range m.total {
			most = max(most, p.Y)
		}
	}
	for i := range moves {
		m := &moves[i]
		p := gonum.New()
		p.Title.Text = m.Event
		if m.Moved >= 0 {
			p.Title.Text += fmt.Sprintf(": moved after %.0f ms", m.Moved)
		}
		p.X.Label.Text, p.Y.Label.Text = "ms since the event", "Gbit/s"
		p.Y.Min, p.Y.Max = 0, 1.3*most // room for the legend
		for k, line := range []struct {
			name   string
			points plotter.XYs
		}{{"arriving", m.total}, {"towards what broke", m.path},
			{"the event", plotter.XYs{{X: 0, Y: 0}, {X: 0, Y: 1.1 * most}}}} {
			if err := plot.AddLine(p, line.name, line.points, k); err != nil {
				return nil, err
			}
		}
		p.Legend.Top = true
		panels[i] = []*gonum.Plot{p}
	}
	img := vgimg.New(24*vg.Centimeter, vg.Length(len(moves))*8*vg.Centimeter)
	tiles := draw.Tiles{Rows: len(moves), Cols: 1, PadY: vg.Millimeter * 4}
	for r, canvases := range gonum.Align(panels, tiles, draw.New(img)) {
		panels[r][0].Draw(canvases[0])
	}
	return img, nil
}
