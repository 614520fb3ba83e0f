package fitting

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"railyard/internal/calibrate"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Gap is the difference between measured and simulated times, with the hypotheses that were tried to explain it.
// Errors are root mean squares of ln(simulated/measured), as relative errors.
type Gap struct {
	Shape        string  `json:"shape"`
	Error        float64 `json:"error"`
	Bandwidth    float64 `json:"bandwidth_error"` // mean error of the sizes that the bandwidth decides
	From         int64   `json:"bandwidth_from"`  // the least of them, in bytes
	Points       int     `json:"points"`
	Tried        int     `json:"tried"`
	Inapplicable int     `json:"inapplicable"` // to the scenario
	Flows        bool    `json:"flows"`        // effects on large sizes were simulated as flows
	Best         []Trial `json:"best"`         // explain all sizes, the bandwidth, or a part; the best first
}

// Trial is a hypothesis that was simulated.
type Trial struct {
	Hypothesis
	Pair      bool      `json:"pair"` // a hypothesis together with a latency
	Free      int       `json:"free"` // fitted amounts, and assumptions beyond one
	Error     float64   `json:"error"`
	Bandwidth float64   `json:"bandwidth_error"`
	Simulated []float64 `json:"simulated_us"` // by point of the gap
}

// Limits of the search.
const (
	Expected  = 0.10 // difference between times of repeated measurements, which a hypothesis may leave
	Partly    = 0.70 // a hypothesis that leaves more than this share of the error explains nothing
	mostTried = 4    // points that are simulated with each hypothesis
	mostBest  = 6
	mostPairs = 3    // with each latency
	probe     = 5    // µs of a latency whose effect is measured
	noise     = 0.05 // relative noise of simulated against measured times when fits are compared
	rare      = 2    // penalties of a choice of NCCL
)

// Differ reports whether a point differs from the expected times by more than repeated measurements do. Its size
// must be one for which measurements test the simulator, or its group's largest size must be slow.
func Differ(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool {
		return p.Differs() && (p.Untested() == 0 || !Carried(points, p.Group))
	})
}

// Explain tries hypotheses on points that Compared returned. fixed: the measurement sets the algorithm.
func (c *Question) Explain(points []Point, fixed bool, simulate func(*scenario.Plan) (*result.Summary, error),
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
	x := newSearch(points)
	x.bench = func(h *Hypothesis, flags []string) *byFidelity {
		return &byFidelity{bench: func(flows bool) (*calibrate.Bench, error) {
			s := calibrate.Setup{Files: scenariofile.Beside(c.Fabric), Simulate: simulate, Algorithm: c.Algorithm,
				Largest: c.Largest, Load: func() (*scenario.Document, error) {
					doc, err := scenariofile.Read(c.Fabric, slices.Concat(c.Set, flags))
					if err == nil && flows {
						asFlows(doc)
					}
					if err == nil && h.change != nil {
						h.change(&doc.File)
					}
					return doc, err
				}}
			if flows {
				s.Most = flowsEach
			}
			if h.setup != nil {
				h.setup(&s)
			}
			return calibrate.NewBench(s, set)
		}}
	}
	x.open = asFlows(doc)
	if x.base, err = x.asFlows(&Hypothesis{}); err != nil {
		return nil, err
	}
	kinds := set.Kinds()
	all := hypotheses(plan, c.Algorithm, fixed, kinds)
	if !slices.ContainsFunc(points, func(p Point) bool { return !Carried(points, p.Group) }) && !x.fast() {
		all = slices.DeleteFunc(all, func(h Hypothesis) bool { return h.grows == nil && !h.choice() })
	}
	if err := x.tryAll(all, progress); err != nil {
		return nil, err
	}
	if x.rank(); len(kinds) > 0 && (len(x.Best) == 0 || !x.Explains(&x.Best[0]) && !x.Carries(&x.Best[0]) || x.fast()) {
		for _, a := range assumptions(c.Algorithm, fixed || !set.AllReduces()) {
			with := assuming(all, a)
			if err := x.without(&with[0]); errors.Is(err, context.Canceled) {
				return nil, err
			} else if err != nil { // the scenario's GPUs do not run it
				continue
			}
			if err := x.tryAll(with, progress); err != nil {
				return nil, err
			}
		}
	}
	if x.rank(); len(x.Best) == 0 || !x.Explains(&x.Best[0]) {
		if err := x.pairs(); err != nil {
			return nil, err
		}
	}
	err = x.refine()
	if slow := func(p Point) bool { return p.Before/p.Measured-1 < -Expected }; !slices.ContainsFunc(points, slow) {
		for i := range x.Best {
			x.Best[i].Remedy = ""
		}
	}
	return x.Gap, err
}

// search is an explanation under way. Times are in µs.
type search struct {
	*Gap
	faultless
	points    []Point
	large     []bool // points that the bandwidth decides
	order     []int  // order in which points are simulated: the largest and the smallest first
	open      bool   // the scenario does not set its fidelity
	bench     func(h *Hypothesis, flags []string) *byFidelity
	latencies []latency
	alone     float64 // error that the best latency leaves
	rest      []Trial // all other hypotheses with simulated points
}

// faultless has the times without a hypothesis: as compared, and as flows if hypotheses are simulated as flows.
type faultless struct{ before, base []float64 }

// asFlows returns the times of the points whose effects are simulated as flows; 0: flows do not support the
// scenario.
func (x *search) asFlows(h *Hypothesis) ([]float64, error) {
	b, out := x.bench(h, nil), make([]float64, x.Points)
	for i, p := range x.points {
		if x.flows(i, packetsEach) {
			x.Flows = true
			var err error
			if out[i], err = b.time(p.Name, true); errors.Is(err, context.Canceled) {
				return nil, err
			}
		}
	}
	return out, nil
}

// without simulates all points with an assumption alone.
func (x *search) without(a *Hypothesis) (err error) {
	b := x.bench(a, nil)
	a.healthy.before = make([]float64, x.Points)
	if a.healthy.base, err = x.asFlows(a); err != nil {
		return err
	}
	for i, p := range x.points {
		if p.Flows {
			a.healthy.before[i] = a.healthy.base[i]
		} else if a.healthy.before[i], err = b.time(p.Name, false); err != nil {
			return err
		}
	}
	return nil
}

// newSearch returns a search over some of the points.
func newSearch(points []Point) *search {
	x := &search{Gap: &Gap{Shape: shape(points)}, points: chosen(points)}
	x.large = Large(x.points)
	x.Points = len(x.points)
	x.before = make([]float64, x.Points)
	for i, p := range x.points {
		x.before[i] = p.Before
		x.order = append(x.order, i)
		if x.large[i] && (x.From == 0 || p.Bytes < x.From) {
			x.From = p.Bytes
		}
	}
	slices.SortStableFunc(x.order, func(a, b int) int { return cmp.Compare(x.points[a].Bytes, x.points[b].Bytes) })
	last := x.Points - 1
	x.order = slices.Insert(x.order[:last:last], 0, x.order[last])
	x.Error, x.Bandwidth = x.off(x.before), x.offLarge(x.before)
	x.alone = x.Error
	return x
}

// chosen returns at most mostTried of the points: the smallest, one in the middle, and the first and the last that
// the bandwidth determines.
func chosen(points []Point) []Point {
	if len(points) <= mostTried {
		return points
	}
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	last := len(points) - 1
	first := min(max(2, slices.Index(Large(points), true)), last-1)
	return []Point{points[0], points[first/2], points[first], points[last]}
}

// flows reports whether a point is simulated as flows, given the size up to which packets are simulated.
func (x *search) flows(i int, packets unit.Bytes) bool {
	return x.points[i].Flows || x.open && x.points[i].total > packets
}

// fast reports whether a point is measured faster than simulated. No fault explains that, so an assumption is
// wrong.
func (x *search) fast() bool {
	return slices.ContainsFunc(x.points, func(p Point) bool { return p.Before/p.Measured-1 > Expected })
}

// Explains reports whether a trial explains all sizes.
func (g *Gap) Explains(t *Trial) bool { return t.Error <= Expected }

// Carries reports whether a trial explains the gap of the bandwidth alone, with the other sizes not farther off.
func (g *Gap) Carries(t *Trial) bool {
	return g.Bandwidth > Expected && t.Bandwidth <= Expected && t.Error > Expected && t.Error < g.Error
}

// tryAll tries hypotheses.
func (x *search) tryAll(all []Hypothesis, progress func(share float64, label string)) error {
	for i := range all {
		progress(float64(i)/float64(len(all)), all[i].Name)
		err := x.try(&all[i])
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil: // the scenario has no such component, or its job fails
			x.Inapplicable++
		default:
			x.Tried++
		}
	}
	return nil
}

// rank sorts the best hypotheses: those that explain all sizes, then those that explain the bandwidth, then the
// others. Within each group, hypotheses with more determining sizes than free amounts are first. Then come those
// with the better fit, with a penalty for each amount (Akaike's). A setting of NCCL's choices is rarer than a fault
// of hosts and links: it has rare times that penalty.
func (x *search) rank() {
	class := func(t *Trial) int {
		switch {
		case x.Explains(t):
			return 0
		case x.Carries(t):
			return 1
		}
		return 2
	}
	under := func(t *Trial) int {
		if t.Free < x.Points {
			return 0
		}
		return 1
	}
	score := func(t *Trial) float64 {
		e, n := t.Error, x.Points
		if class(t) == 1 {
			e, n = t.Bandwidth, len(slices.DeleteFunc(slices.Clone(x.large), func(is bool) bool { return !is }))
		}
		d, free := math.Log1p(e)/noise, t.Free
		if t.choice() {
			free += rare
		}
		return float64(n)*d*d + 2*float64(free)
	}
	slices.SortStableFunc(x.Best, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(class(&a), class(&b)), cmp.Compare(under(&a), under(&b)),
			cmp.Compare(score(&a), score(&b)))
	})
}

// refine simulates the best hypotheses by packets if there are not too many packets, and keeps them.
func (x *search) refine() error {
	x.rank()
	if i := slices.IndexFunc(x.Best, func(t Trial) bool { return x.Explains(&t) }); i >= mostBest {
		x.Best[mostBest-1] = x.Best[i]
	}
	x.Best = x.Best[:min(len(x.Best), mostBest)]
	for i := range x.Best {
		t := &x.Best[i]
		at, err := x.times(&t.Hypothesis, t.set, false, packetsBest)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err == nil {
			t.Simulated, t.Error, t.Bandwidth = at, x.off(at), x.offLarge(at)
		}
	}
	x.Best = slices.DeleteFunc(x.Best, func(t Trial) bool { return t.Error >= Partly*x.Error && !x.Carries(&t) })
	x.rank()
	return nil
}

// latency is a hypothesis with its effect on each point, in µs per µs.
type latency struct {
	Hypothesis
	slope []float64
}

// by returns the hypothesis that the latency is larger by the given µs.
func (l *latency) by(us float64) Hypothesis {
	h := l.Hypothesis
	h.Name += " by " + unit.Time(us*float64(unit.Microsecond)).Show()
	h.set = h.grows(us)
	h.Scenario = "--set " + h.set[0]
	return h
}

// try simulates a hypothesis and keeps it if it explains a part of the gap.
func (x *search) try(h *Hypothesis) error {
	if h.grows != nil {
		l := latency{*h, make([]float64, len(x.points))}
		for i := range l.slope {
			l.slope[i] = 1
		}
		if !h.adds {
			at, err := x.times(h, h.grows(probe), false, packetsEach)
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
	at, err := x.times(h, h.set, true, packetsEach)
	if err != nil || at == nil {
		return err
	}
	t := Trial{*h, false, h.assumed, x.off(at), x.offLarge(at), at}
	if h.grows != nil {
		t.Free++
		x.alone = min(x.alone, t.Error)
	} else {
		x.rest = append(x.rest, t)
	}
	if t.Error < Partly*x.Error || x.Carries(&t) {
		x.Best = append(x.Best, t)
	}
	return nil
}

// pairs adds each latency to the hypotheses that are best with it, and keeps pairs that explain more than both do
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
				with = append(with, Trial{t.Hypothesis, true, t.Free + 2, e, x.offLarge(at), at})
			}
		}
		slices.SortStableFunc(with, func(a, b Trial) int { return cmp.Compare(a.Error, b.Error) })
		for _, t := range with[:min(len(with), mostPairs)] {
			if !l.adds {
				at, err := x.times(&t.Hypothesis, t.set, false, packetsEach)
				if err != nil {
					return err
				}
				t.Simulated, t.Error, t.Bandwidth = at, x.off(at), x.offLarge(at)
			}
			if t.Error < Partly*x.alone {
				x.Best = append(x.Best, t)
			}
		}
	}
	return nil
}

// times returns the times of all points with a hypothesis, by packets up to a size. With stop it returns none once
// the points so far leave too much of the error, alone and with a latency, and too much of the bandwidth's error.
func (x *search) times(h *Hypothesis, flags []string, stop bool, packets unit.Bytes) ([]float64, error) {
	b, out := x.bench(h, flags), make([]float64, x.Points)
	for _, i := range x.order {
		t, err := x.time(b, h, i, packets)
		if err != nil {
			return nil, err
		}
		out[i] = t
		if stop && x.off(out) > Partly*x.Error && !(x.Bandwidth > Expected && x.offLarge(out) <= Expected) &&
			(x.alone <= Expected || !slices.ContainsFunc(x.latencies, func(l latency) bool {
				_, with := x.amount(out, &l)
				return x.off(with) <= Partly*x.alone
			})) {
			return nil, nil
		}
	}
	return out, nil
}

// time returns the time of a point with a hypothesis. For a queue, and for effects that flows do not support, the
// effect on a large size is that on the largest size simulated by packets.
func (x *search) time(b *byFidelity, h *Hypothesis, i int, packets unit.Bytes) (float64, error) {
	p, healthy := &x.points[i], cmp.Or(h.healthy, &x.faultless)
	if !x.flows(i, packets) {
		return b.time(p.Name, false)
	}
	var err error
	if !h.queues && healthy.base[i] > 0 {
		var t float64
		if t, err = b.time(p.Name, true); err == nil {
			return t * healthy.before[i] / healthy.base[i], nil
		}
	}
	ref := -1
	for k := range x.points {
		q := &x.points[k]
		if !x.flows(k, packets) && q.Group == p.Group && (ref < 0 || q.Bytes > x.points[ref].Bytes) {
			ref = k
		}
	}
	if ref < 0 || errors.Is(err, context.Canceled) {
		return 0, cmp.Or(err, errors.New("only packets simulate it, and all sizes are larger"))
	}
	t, err := b.time(x.points[ref].Name, false)
	return healthy.before[i] * t / healthy.before[ref], err
}

// off is the root mean square of ln(simulated/measured) over all points, as a relative error. Points without a time
// count as exact.
func (x *search) off(times []float64) float64 { return x.rms(times, func(int) bool { return true }) }

// offLarge returns the error of the points that the bandwidth decides.
func (x *search) offLarge(times []float64) float64 {
	return x.rms(times, func(i int) bool { return x.large[i] })
}

func (x *search) rms(times []float64, of func(int) bool) float64 {
	sum, n := 0.0, 0
	for i, t := range times {
		if !of(i) {
			continue
		}
		if n++; t > 0 {
			d := math.Log(t / x.points[i].Measured)
			sum += d * d
		}
	}
	return math.Expm1(math.Sqrt(sum / float64(max(1, n))))
}

// amount returns the latency in µs that leaves the least error when it is added to times, and the resulting times.
func (x *search) amount(times []float64, l *latency) (best float64, with []float64) {
	least, with := x.off(times), slices.Clone(times)
	for us := 0.1; us <= l.most; us *= 1.05 {
		at := slices.Clone(times)
		for i := range at {
			if at[i] == 0 { // not simulated
				continue
			}
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
