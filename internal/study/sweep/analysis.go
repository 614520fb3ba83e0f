package sweep

import (
	"math"
	"slices"

	"railyard/internal/study/space"
)

// Stat is a figure of a point over its seeds.
type Stat struct{ Mean, Min, Max float64 }

// Ranked is a point with its objectives.
type Ranked struct {
	Point int
	Set   []string // its settings
	Stats []Stat   // by objective, over its seeds
	// Seeds are the values of the first objective by seed; all points have the same seeds. Nil unless all ended.
	Seeds []float64
	// Figures are the means of all figures over the seeds.
	Figures Means
	// Causes are the means of the time of the critical path by cause, in picoseconds.
	Causes map[string]float64
}

// Means holds a number for each of Figures, in their order.
type Means []float64

// Of returns the mean of a figure.
func (m Means) Of(f *Figure) float64 {
	for i := range Figures {
		if Figures[i] == f {
			return m[i]
		}
	}
	return 0
}

// Counts sums up the trials of a study.
type Counts struct {
	Trials, Done, Lost, Failed, Refused, Open int
	Seconds                                   float64 // time of all trials together
	FirstError                                string  // first error of a failed trial, else of a rejected one
}

// Analysis is the findings of a study so far.
type Analysis struct {
	Objectives []Objective
	Counts     Counts
	Baseline   *Ranked  // the scenario without changes, nil if it did not end
	Ranking    []Ranked // order of points with all seeds: the front first, then by the first objective
	Partial    bool     // no point's seeds all ended: Ranking has means over the seeds that ended
	Front      int      // number of points on the Pareto front
	Rung       int      // the last one that was reached
	Points     int      // number of points without the unchanged scenario
	Effects    []Influence
	Screening  bool // Effects are elementary effects
	Pairs      []Pair
}

// Influence is a parameter's effect on the first objective.
type Influence struct {
	Key    string
	Share  float64       // share of the variance, epsilon squared (Kelley 1935); NaN where trials are too few
	Morris *space.Effect // elementary effects instead, with the sampler morris
}

// Pair is two parameters that have an effect together: the share of the variance that both explain beyond the sum of
// what each explains.
type Pair struct {
	A, B  string
	Share float64
}

// tally collects the figures of the points of one rung.
type tally struct {
	points []point
	counts Counts
}

// point is the sum of the trials of a point.
type point struct {
	ended  int // trials
	missed int // trials that ended otherwise
	sums   Means
	stats  []Stat
	trials []float64 // the first objective by seed
	causes map[string]float64
}

// tally reads the records up to a rung, and adds up the points of that one.
func (s *Study) tally(rung int, by []Objective) (*tally, error) {
	t := &tally{points: make([]point, len(s.rows))}
	refused := ""
	for trial := range s.upTo(rung) {
		r, err := s.store.Get(trial.ID)
		if err != nil {
			return nil, err
		}
		c := &t.counts
		c.Trials++
		if r == nil {
			c.Open++
			continue
		}
		c.Seconds += r.Seconds
		switch r.Status {
		case Done:
			c.Done++
		case Lost:
			c.Lost++
		case Refused:
			c.Refused++
			if refused == "" {
				refused = r.Error
			}
		default:
			c.Failed++
			if c.FirstError == "" {
				c.FirstError = r.Error
			}
		}
		if trial.Rung != rung {
			continue
		}
		if r.Status == Done {
			t.points[trial.Point].add(r, by)
		} else {
			t.points[trial.Point].missed++
		}
	}
	if t.counts.FirstError == "" {
		t.counts.FirstError = refused
	}
	return t, nil
}

// add adds the record of one seed.
func (p *point) add(r *Record, by []Objective) {
	if p.sums == nil {
		p.sums, p.stats, p.causes = make(Means, len(Figures)), make([]Stat, len(by)), map[string]float64{}
	}
	p.ended++
	for i, f := range Figures {
		p.sums[i] += r.Figures[f.Name]
	}
	for key, ps := range r.Causes {
		p.causes[key] += float64(ps)
	}
	for k, o := range by {
		x, st := r.Figures[o.Name], &p.stats[k]
		if st.Mean += x; p.ended == 1 {
			st.Min, st.Max = x, x
		}
		st.Min, st.Max = min(st.Min, x), max(st.Max, x)
	}
	p.trials = append(p.trials, r.Figures[by[0].Name])
}

// ranked returns the means of a point. It returns false unless all its seeds ended or, with partial, one did and
// none failed.
func (s *Study) ranked(n int, p *point, partial bool) (Ranked, bool) {
	if p.ended == 0 || p.ended < s.Seeds(n) && (!partial || p.missed > 0) {
		return Ranked{}, false
	}
	r := Ranked{Point: n, Set: s.Describe(n), Stats: slices.Clone(p.stats), Seeds: slices.Clone(p.trials),
		Figures: make(Means, len(Figures)), Causes: map[string]float64{}}
	if p.ended < s.Seeds(n) {
		r.Seeds = nil
	}
	for k := range r.Stats {
		r.Stats[k].Mean /= float64(p.ended)
	}
	for i, x := range p.sums {
		r.Figures[i] = x / float64(p.ended)
	}
	for key, ps := range p.causes {
		r.Causes[key] = ps / float64(p.ended)
	}
	return r, true
}

// objectives parses the objectives of the study.
func (s *Study) objectives() (by []Objective, err error) {
	for _, text := range s.File.Objectives {
		o, err := ParseObjective(text)
		if err != nil {
			return nil, err
		}
		by = append(by, o)
	}
	return by, nil
}

// best ranks the points of a rung, at most n of them.
func (t *tally) best(s *Study, by []Objective, n int, partial bool) []Ranked {
	var all []Ranked
	var of [][]float64
	for i := range t.points {
		r, ok := s.ranked(i, &t.points[i], partial)
		if !ok || i == 0 {
			continue
		}
		all = append(all, r)
		means := make([]float64, len(by))
		for k := range by {
			means[k] = r.Stats[k].Mean
		}
		of = append(of, means)
	}
	out := make([]Ranked, 0, min(n, len(all)))
	for _, i := range layers(of, by, n) {
		out = append(out, all[i])
	}
	return out
}

// promote returns the points that a rung passes on: the unchanged scenario, and the best. It returns nil unless the
// rung has been simulated.
func (s *Study) promote(rung int) []int {
	by, err := s.objectives()
	if err != nil {
		return nil
	}
	for t := range s.upTo(rung) {
		if t.Rung == rung && !s.store.Has(t.ID) {
			return nil
		}
	}
	t, err := s.tally(rung, by)
	if err != nil {
		return nil
	}
	points := []int{0}
	for _, r := range t.best(s, by, s.passed(len(s.alive[rung]))-1, false) {
		points = append(points, r.Point)
	}
	slices.Sort(points)
	return points
}

// Analyse ranks the points whose seeds all ended. If no point has all seeds yet, partial ranks all points by the
// available ones.
func (s *Study) Analyse(partial bool) (*Analysis, error) {
	by, err := s.objectives()
	if err != nil {
		return nil, err
	}
	a := &Analysis{Objectives: by, Points: len(s.rows) - 1}
	for t := range s.planned() {
		a.Rung = max(a.Rung, t.Rung)
	}
	t, err := s.tally(a.Rung, by)
	if err != nil {
		return nil, err
	}
	a.Counts = t.counts
	a.Ranking = t.best(s, by, len(s.rows), false)
	if partial && len(a.Ranking) == 0 && t.counts.Open > 0 {
		a.Ranking = t.best(s, by, len(s.rows), true)
		a.Partial = len(a.Ranking) > 0
	}
	if r, ok := s.ranked(0, &t.points[0], a.Partial); ok {
		a.Baseline = &r
	}
	var of [][]float64
	for _, r := range a.Ranking {
		means := make([]float64, len(by))
		for k := range by {
			means[k] = r.Stats[k].Mean
		}
		of = append(of, means)
	}
	a.Front = len(Front(of, by))
	s.influences(a, t)
	return a, nil
}

// influences finds the effect of each parameter on the first objective.
func (s *Study) influences(a *Analysis, t *tally) {
	d := s.designs[len(s.designs)-1]
	if d.Sampler == "morris" && len(s.designs) == 1 {
		a.Screening = true
		var y []float64
		for i := range d.points[1:] {
			x := math.NaN()
			if r, ok := s.ranked(s.byID[d.id(i+1, 0, 0)], s.tallied(t, d, i+1), false); ok {
				x = r.Stats[0].Mean
			}
			y = append(y, x)
		}
		for axis, e := range space.Effects(d.coords[1:], y) {
			a.Effects = append(a.Effects, Influence{Key: d.space.Axes()[axis], Morris: &e})
		}
	} else {
		for _, c := range s.Columns() {
			a.Effects = append(a.Effects, Influence{Key: c.Key, Share: s.share(t, c.Key)})
		}
		a.Pairs = s.pairs(t, a.Effects)
	}
	slices.SortStableFunc(a.Effects, func(x, y Influence) int {
		if x.weight() > y.weight() {
			return -1
		}
		if x.weight() < y.weight() {
			return 1
		}
		return 0
	})
}

// weight orders influences.
func (i *Influence) weight() float64 {
	if i.Morris != nil {
		return i.Morris.MeanAbs
	}
	if math.IsNaN(i.Share) {
		return -1
	}
	return i.Share
}

// tallied returns the sums of a design's point, possibly the sums of an equal earlier point.
func (s *Study) tallied(t *tally, d *Design, local int) *point {
	return &t.points[s.byID[d.id(local, 0, 0)]]
}
