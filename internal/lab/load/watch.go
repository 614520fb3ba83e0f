package load

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"railyard/internal/lab"
	"railyard/internal/ranks"

	"gonum.org/v1/plot/plotter"
)

// Move is the change of traffic after an event, rates in Gbit/s of frames.
type Move struct {
	Event    string  `json:"event"`
	Moved    float64 `json:"moved_after_ms"` // below 0: not while the load lasted
	Before   float64 `json:"path_gbps_before"`
	After    float64 `json:"path_gbps_after"`
	Arrived  float64 `json:"arrived_gbps_before"`
	Arrives  float64 `json:"arrived_gbps_after"`
	Again    int64   `json:"retransmissions"`
	Longest  float64 `json:"longest_write_ms"`
	Verified bool    `json:"verified"`

	Path, Total plotter.XYs `json:"-"` // ms since the event, Gbit/s
}

// tick is the interval of counter samples, window the period of rates: a few packets at least.
const (
	tick   = 2 * time.Millisecond
	window = 10 * time.Millisecond
	// gone is the share of the former traffic below which the traffic has been rerouted: probes still test paths.
	gone = 0.1
)

// lasting is the time, in ms, for which traffic must continue to count as more than probes.
const lasting = 100.0

// Sample is counters at a time.
type Sample struct {
	At          time.Duration
	Path, Total int64 // bytes
}

// Watch reads counters while a link breaks.
type Watch struct {
	tap     *lab.Tap
	ports   int // tapped ports
	path    int // number of the queue pairs, from the second on, that lead to the failure; data arrive at the rest
	Samples []Sample
	event   time.Duration
	Pace
}

// Pace returns the time of the event and the end of the load, from the observations so far.
type Pace struct {
	Happens func(w *Watch) bool
	Enough  func(w *Watch, ev *Event) bool // nil: the load ends when its time is over
}

// Begun is the number of bytes towards the failure before the time until the event counts: more than the hosts'
// connection set-up.
const Begun = 32 << 10

// after returns a pace by the clock: the event happens at a fixed time after the first traffic.
func after(at time.Duration) Pace {
	first, began := time.Duration(0), false
	return Pace{Happens: func(w *Watch) bool {
		last := w.Samples[len(w.Samples)-1]
		if !began && last.Path-w.Samples[0].Path > Begun {
			began, first = true, last.At
		}
		return began && last.At-first >= at
	}}
}

// follow reads until the load has ended, triggers the event in time, and ends the load after the required time.
func (w *Watch) follow(ctx context.Context, s *lab.State, ev *Event, fault *lab.Fault, end func() error,
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
		x := Sample{At: time.Since(start)}
		for i := 1; i <= w.path; i++ {
			x.Path += sent[i]
		}
		for i := w.path + 1; i < w.ports; i++ {
			x.Total += received[i]
		}
		w.Samples = append(w.Samples, x)
		if happened && !ending && w.Enough != nil && w.Enough(w, ev) {
			ending = true
			if err := end(); err != nil {
				return err
			}
		}
		if !happened && w.Happens(w) {
			happened, w.event = true, time.Since(start)
			if ev.Loss == 0 {
				if err := w.tap.Cut(0); err != nil {
					return err
				}
			} else { // another process does it: not to wait for
				go func() { broken <- lab.SetLoss(ctx, s, fault.Port, ev.Loss) }()
			}
		}
		select {
		case err := <-broken:
			if err != nil {
				return err
			}
		case err := <-ended:
			exit := (*exec.ExitError)(nil)
			switch {
			case ending && errors.As(err, &exit) && exit.ExitCode() == ranks.Interrupted:
				return nil
			case !happened && err == nil && x.Path-w.Samples[0].Path <= Begun:
				return errors.New("the load has ended, and none of it used the link to break")
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

// rates returns what counters make over windows, in Gbit/s, at the end of each, in ms since the event.
func (w *Watch) rates(of func(Sample) int64) (out plotter.XYs) {
	first := 0
	for i, x := range w.Samples {
		for x.At-w.Samples[first].At > window && first < i-1 {
			first++
		}
		took := x.At - w.Samples[first].At
		if took < window/2 {
			continue
		}
		out = append(out, plotter.XY{X: (x.At - w.event).Seconds() * 1e3,
			Y: float64(of(x)-of(w.Samples[first])) * 8 / took.Seconds() / 1e9})
	}
	return out
}

// mean returns the mean of points between two times, in ms.
func mean(points plotter.XYs, from, to float64) float64 {
	sum, n := 0.0, 0
	for _, p := range points {
		if p.X >= from && p.X < to {
			sum, n = sum+p.Y, n+1
		}
	}
	return sum / float64(max(1, n))
}

// Around is the period before the event, and before the end, for rates, in ms; the load's end is excluded, because
// senders finish one by one.
const (
	Around  = 250.0
	nearEnd = 150.0
)

// Judge computes the time at which traffic had moved.
func (w *Watch) Judge(what string) (*Move, error) {
	m := &Move{Event: what, Moved: -1, Path: w.rates(func(s Sample) int64 { return s.Path }),
		Total: w.rates(func(s Sample) int64 { return s.Total })}
	if len(m.Path) == 0 {
		return nil, errors.New("nothing was measured")
	}
	end := m.Path[len(m.Path)-1].X - nearEnd
	for len(m.Total) > 0 && end > 0 && mean(m.Total, end-20, end) == 0 { // the processes took their leave
		end -= 20
	}
	m.Before, m.Arrived = mean(m.Path, -Around, 0), mean(m.Total, -Around, 0)
	if m.Before < 1e-4 {
		return nil, fmt.Errorf("the link carries no traffic: %.6f Gbit/s before the event", m.Before)
	}
	m.After, m.Arrives = mean(m.Path, end-Around, end), mean(m.Total, end-Around, end)
	last := 0.0 // end of the last window with more than a few simultaneous probes
	for _, p := range m.Path {
		if p.X > 0 && p.X < end && p.Y > gone*m.Before && mean(m.Path, p.X-lasting/2, p.X+lasting/2) > gone*m.Before {
			last = p.X
		}
	}
	if last < end-Around { // quiet for a sufficient time
		m.Moved = last
	}
	return m, nil
}
