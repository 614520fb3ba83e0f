package fitting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"railyard/internal/calibrate"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Gap is the difference between measured and simulated times, with the hypotheses that were tried to explain it.
// Errors are root mean squares of ln(simulated/measured), as relative errors.
type Gap struct {
	Shape        string  `json:"shape"`
	Error        float64 `json:"error"`
	Points       int     `json:"points"`
	Tried        int     `json:"tried"`
	Inapplicable int     `json:"inapplicable"` // to the scenario
	Flows        bool    `json:"flows"`        // effects were simulated as flows
	Best         []Trial `json:"best"`         // that leave at most Partly of the error, the best first
}

// Trial is a hypothesis that was simulated.
type Trial struct {
	Hypothesis
	Pair      bool      `json:"pair"` // of a hypothesis and a latency
	Error     float64   `json:"error"`
	Simulated []float64 `json:"simulated_us"` // by point of the gap
}

// Limits of the search.
const (
	Expected  = 0.10 // difference of times that repeated measurements have, and that a hypothesis may leave
	Partly    = 0.70 // a hypothesis that leaves more of the error explains nothing
	mostTried = 4    // points that are simulated with each hypothesis
	mostBest  = 6
	mostPairs = 3 // with each latency
	// packets is the number of bytes of all ranks and points above which hypotheses are simulated as flows.
	packets = 4 * unit.GiB
	probe   = 5 // µs of a latency whose effect is measured
)

// Differ reports whether a point differs by more than repeated measurements do.
func Differ(points []Point) bool { return shape(points) != "" }

// Explain tries hypotheses on points that Compared returned. fixed: the measurement sets its algorithm.
func (c *Question) Explain(points []Point, fixed bool, simulate func(*scenario.Plan) (float64, error),
	progress func(share float64, label string)) (*Gap, error) {
	set, err := c.read()
	if err != nil {
		return nil, err
	}
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return nil, err
	}
	plan, err := doc.Servers(scenariofile.Beside(c.Fabric))
	if err != nil {
		return nil, err
	}
	g := &Gap{}
	x := &search{Question: c, Gap: g, points: chosen(points)}
	g.Points, g.Shape = len(x.points), shape(points)
	x.before = make([]float64, g.Points)
	var bytes int64
	for i, p := range x.points {
		x.before[i] = p.Before
		bytes += p.Bytes * int64(plan.Graph.TotalGPUs())
	}
	g.Error = x.off(x.before)
	x.alone = g.Error
	x.bench = func(h *Hypothesis, flags []string) (*calibrate.Bench, error) {
		s := calibrate.Setup{Files: scenariofile.Beside(c.Fabric), Simulate: simulate, Algorithm: c.Algorithm,
			Largest: c.Largest, Load: func() (*scenario.Document, error) {
				doc, err := scenariofile.Read(c.Fabric, slices.Concat(c.Set, flags))
				if err == nil && g.Flows {
					doc.Prefer("flow")
				}
				if err == nil && h.change != nil {
					h.change(&doc.File)
				}
				return doc, err
			}}
		if h.setup != nil {
			h.setup(&s)
		}
		return calibrate.NewBench(s, set)
	}
	x.base = x.before
	if g.Flows = bytes > int64(packets) && doc.Prefer("flow"); g.Flows {
		if x.base, err = x.times(&Hypothesis{}, nil, false); err != nil {
			return nil, err
		}
	}
	all := hypotheses(plan, c.Algorithm, fixed)
	for i := range all {
		progress(float64(i)/float64(len(all)), all[i].Name)
		err := x.try(&all[i])
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil: // the scenario has no such component, or its job fails
			g.Inapplicable++
		default:
			g.Tried++
		}
	}
	least := func(a, b Trial) int { return cmp.Compare(a.Error, b.Error) }
	if slices.SortStableFunc(g.Best, least); len(g.Best) == 0 || g.Best[0].Error > Expected {
		if err := x.pairs(); err != nil {
			return nil, err
		}
		slices.SortStableFunc(g.Best, least)
	}
	g.Best = g.Best[:min(len(g.Best), mostBest)]
	return g, nil
}

// search is an explanation under way. Times are in µs.
type search struct {
	*Question
	*Gap
	points       []Point
	before, base []float64 // without a hypothesis: as compared, and in the fidelity of the search
	bench        func(h *Hypothesis, flags []string) (*calibrate.Bench, error)
	latencies    []latency
	alone        float64 // error that the best latency leaves
	rest         []Trial // all others whose points were simulated
}

// latency is a hypothesis with its effect on each point, in µs per µs.
type latency struct {
	Hypothesis
	slope []float64
}

// by returns the hypothesis that the latency has so many µs.
func (l *latency) by(us float64) Hypothesis {
	h := l.Hypothesis
	h.Name += " by " + unit.Time(us*float64(unit.Microsecond)).Show()
	h.set = h.grows(us)
	h.Scenario = "--set " + h.set[0]
	return h
}

// chosen returns at most mostTried of the points, evenly spread.
func chosen(points []Point) (some []Point) {
	n := min(len(points), mostTried)
	for i := range n {
		some = append(some, points[i*(len(points)-1)/max(1, n-1)])
	}
	return some
}

// try simulates a hypothesis, and keeps it if it explains a part of the gap.
func (x *search) try(h *Hypothesis) error {
	if h.grows != nil {
		l := latency{*h, make([]float64, len(x.points))}
		for i := range l.slope {
			l.slope[i] = 1
		}
		if !h.adds {
			at, err := x.times(h, h.grows(probe), false)
			if err != nil {
				return err
			}
			for i, t := range at {
				l.slope[i] = (t - x.before[i]) / probe
			}
		}
		x.latencies = append(x.latencies, l)
		us, _ := x.amount(x.before, &l)
		if us < 0.1 {
			return nil
		}
		*h = l.by(us)
	}
	at, err := x.times(h, h.set, true)
	if err != nil || at == nil {
		return err
	}
	t := Trial{*h, false, x.off(at), at}
	if h.grows != nil {
		x.alone = min(x.alone, t.Error)
	} else {
		x.rest = append(x.rest, t)
	}
	if t.Error < Partly*x.Error {
		x.Best = append(x.Best, t)
	}
	return nil
}

// pairs adds each latency to the hypotheses that it leaves least of, and keeps pairs that explain more than both do
// alone. What adds to every time is not simulated again.
func (x *search) pairs() error {
	for _, l := range x.latencies {
		var with []Trial
		for _, t := range x.rest {
			us, at := x.amount(t.Simulated, &l)
			if e := x.off(at); us >= 0.1 && e < Partly*min(x.alone, t.Error) {
				b := l.by(us)
				join := "; "
				if len(t.set) > 0 {
					join = " "
				}
				t.Name += ", and " + b.Name
				t.Scenario += join + b.Scenario
				t.Confirm += "; " + b.Confirm
				t.Remedy += "; " + b.Remedy
				t.set = slices.Concat(t.set, b.set)
				with = append(with, Trial{t.Hypothesis, true, e, at})
			}
		}
		slices.SortStableFunc(with, func(a, b Trial) int { return cmp.Compare(a.Error, b.Error) })
		for _, t := range with[:min(len(with), mostPairs)] {
			if !l.adds {
				at, err := x.times(&t.Hypothesis, t.set, false)
				if err != nil {
					return err
				}
				t.Simulated, t.Error = at, x.off(at)
			}
			if t.Error < Partly*x.alone {
				x.Best = append(x.Best, t)
			}
		}
	}
	return nil
}

// times returns the times of all points with a hypothesis; where stop is set, none once the points so far leave too
// much of the error, alone and with a latency.
func (x *search) times(h *Hypothesis, flags []string, stop bool) (out []float64, err error) {
	b, err := x.bench(h, flags)
	if err != nil {
		return nil, err
	}
	for i, p := range x.points {
		n := slices.IndexFunc(b.Points, func(m calibrate.Measurement) bool { return m.Name == p.Name })
		if n < 0 {
			return nil, fmt.Errorf("%s is not measured on this scenario", p.Name)
		}
		t, err := b.Time(n)
		if err != nil {
			return nil, err
		}
		if out = append(out, t*1e6); len(x.base) > 0 && x.Flows {
			out[i] *= x.before[i] / x.base[i]
		}
		if stop && x.off(out) > Partly*x.Error && (x.alone <= Expected || !slices.ContainsFunc(x.latencies,
			func(l latency) bool { _, with := x.amount(out, &l); return x.off(with) <= Partly*x.alone })) {
			return nil, nil
		}
	}
	return out, nil
}

// off is the root mean square of ln(simulated/measured) over all points, of which those without a time are exact, as a
// relative error.
func (x *search) off(times []float64) float64 {
	sum := 0.0
	for i, t := range times {
		d := math.Log(t / x.points[i].Measured)
		sum += d * d
	}
	return math.Expm1(math.Sqrt(sum / float64(len(x.points))))
}

// amount returns how much of a latency, in µs, added to times leaves the least error, and the times with it.
func (x *search) amount(times []float64, l *latency) (best float64, with []float64) {
	least, with := x.off(times), slices.Clone(times)
	for us := 0.1; us <= l.most; us *= 1.05 {
		at := slices.Clone(times)
		for i := range at {
			if at[i] += l.slope[i] * us; at[i] <= 0 {
				return best, with
			}
		}
		if e := x.off(at); e < least {
			least, best, with = e, us, at
		}
	}
	return best, with
}

// shape describes which of the points differ.
func shape(points []Point) string {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	least, most, last := math.Inf(1), 0.0, len(points)-1
	var off []int
	for i, p := range points {
		r := p.Measured / p.Before
		least, most = min(least, r), max(most, r)
		if math.Abs(p.Before/p.Measured-1) > Expected {
			off = append(off, i)
		}
	}
	size := func(i int) string { return unit.Bytes(points[i].Bytes).ShowSet() }
	switch {
	case len(off) == 0:
		return ""
	case len(points) > 2 && len(off) == 1 && off[0] > 0 && off[0] < last:
		return fmt.Sprintf("one size, %s: repeat the measurement", size(off[0]))
	case len(off) == len(points) && len(points) > 1 && most < 1.25*least:
		return fmt.Sprintf("all sizes take about %.2g × as long as simulated", math.Sqrt(least*most))
	case off[0] > 0 && off[len(off)-1] == last:
		return fmt.Sprintf("sizes from %s on", size(off[0]))
	case off[0] == 0 && off[len(off)-1] < last:
		return fmt.Sprintf("sizes up to %s", size(off[len(off)-1]))
	}
	at := func(i int) string { return fmt.Sprintf("%.2g × at %s", points[i].Measured/points[i].Before, size(i)) }
	return fmt.Sprintf("measured over simulated time is %s and %s, at most %.2g ×", at(0), at(last), most)
}
