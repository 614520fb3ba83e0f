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
	Error     float64   `json:"error"`
	Simulated []float64 `json:"simulated_us"` // by point of the gap
}

// Limits of the search.
const (
	Expected  = 0.10 // difference of times that repeated measurements have, and that a hypothesis may leave
	Partly    = 0.70 // a hypothesis that leaves more of the error explains nothing
	mostTried = 4    // points that are simulated with each hypothesis
	mostBest  = 6
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
	g.Error = math.Expm1(x.off(x.before))
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
		if x.base, err = x.times(&Hypothesis{}, nil, math.Inf(1)); err != nil {
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
	slices.SortStableFunc(g.Best, func(a, b Trial) int { return cmp.Compare(a.Error, b.Error) })
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
	flags := h.set
	if h.grows != nil {
		at := make([]float64, len(x.points))
		for i, before := range x.before {
			at[i] = before + probe
		}
		if !h.adds {
			var err error
			if at, err = x.times(h, h.grows(probe), math.Inf(1)); err != nil {
				return err
			}
		}
		us := x.amount(at, h.most)
		if us < 0.1 {
			return nil
		}
		flags = h.grows(us)
		h.Name += " by " + unit.Time(us*float64(unit.Microsecond)).Show()
		h.Scenario = "--set " + flags[0]
	}
	at, err := x.times(h, flags, Partly*x.Error)
	if err != nil || at == nil {
		return err
	}
	if e := math.Expm1(x.off(at)); e < Partly*x.Error {
		x.Best = append(x.Best, Trial{*h, e, at})
	}
	return nil
}

// times returns the times of all points with a hypothesis; none once the points so far leave more than an error.
func (x *search) times(h *Hypothesis, flags []string, most float64) (out []float64, err error) {
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
		if math.Expm1(x.off(out)) > most {
			return nil, nil
		}
	}
	return out, nil
}

// off is the root mean square of ln(simulated/measured) over all points, of which those without a time are exact.
func (x *search) off(times []float64) float64 {
	sum := 0.0
	for i, t := range times {
		d := math.Log(t / x.points[i].Measured)
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(x.points)))
}

// amount returns the latency, at most so many µs, that leaves the least error, where times are those with probe µs.
func (x *search) amount(times []float64, most float64) (best float64) {
	least, with := x.off(x.before), make([]float64, len(times))
	for us := 0.1; us <= most; us *= 1.05 {
		for i, t := range times {
			with[i] = x.before[i] + (t-x.before[i])/probe*us
			if with[i] <= 0 {
				return best
			}
		}
		if e := x.off(with); e < least {
			least, best = e, us
		}
	}
	return best
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
