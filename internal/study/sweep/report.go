package sweep

import "math"

// Report is a study's findings as JSON.
type Report struct {
	Dir        string   `json:"study"`
	Scenario   string   `json:"scenario"`
	Objectives []string `json:"objectives"`
	Points     int      `json:"points"`
	Trials     int      `json:"trials"`
	Done       int      `json:"done"`
	Lost       int      `json:"lost"`
	Failed     int      `json:"failed"`
	Refused    int      `json:"refused"`
	Open       int      `json:"open"`
	// no point has all seeds: means over the seeds that ended
	Partial   bool               `json:"partial,omitempty"`
	Simulated int                `json:"simulated_now"`
	Seconds   float64            `json:"core_seconds"`
	Baseline  map[string]float64 `json:"scenario_figures"`
	Near      bool               `json:"scenario_within_noise,omitempty"`
	Front     []PointReport      `json:"front"`
	Best      []PointReport      `json:"best"`
	Effects   []EffectReport     `json:"parameters"`
	Files     []string           `json:"files"`
}

// PointReport is a point with its figures, means over its seeds.
type PointReport struct {
	Point   int                `json:"point"`
	Set     []string           `json:"set"`
	Figures map[string]float64 `json:"figures"`
	Seeds   int                `json:"seeds"`
	// the first objective does not differ significantly from the best's
	Noise bool `json:"within_noise,omitempty"`
}

// EffectReport is a parameter's effect on the first objective.
type EffectReport struct {
	Key    string   `json:"key"`
	Share  *float64 `json:"share_of_variance,omitempty"`
	MuStar *float64 `json:"mu_star,omitempty"`
	Mu     *float64 `json:"mu,omitempty"`
	Sigma  *float64 `json:"sigma,omitempty"`
}

// Report returns the findings, with the given number of best points.
func (s *Study) Report(a *Analysis, files []string, top int) *Report {
	c := a.Counts
	r := &Report{Dir: s.Dir, Scenario: s.File.Scenario, Objectives: s.File.Objectives, Points: a.Points,
		Trials: c.Trials, Done: c.Done, Lost: c.Lost, Failed: c.Failed, Refused: c.Refused, Open: c.Open,
		Partial:   a.Partial,
		Simulated: s.Simulated, Seconds: c.Seconds, Files: files}
	if a.Baseline != nil {
		r.Baseline, r.Near = columned(a.Baseline.Figures), a.Near(a.Baseline)
	}
	for i, p := range a.Ranking {
		x := PointReport{p.Point, p.Set, columned(p.Figures), len(p.Seeds), a.Near(&p)}
		if i < a.Front {
			r.Front = append(r.Front, x)
		}
		if i < top {
			r.Best = append(r.Best, x)
		}
	}
	for _, e := range a.Effects {
		x := EffectReport{Key: e.Key}
		if m := e.Morris; m != nil {
			x.MuStar, x.Mu, x.Sigma = &m.MeanAbs, &m.Mean, &m.Spread
		} else if !math.IsNaN(e.Share) {
			x.Share = &e.Share
		}
		r.Effects = append(r.Effects, x)
	}
	return r
}

// columned names figures as the columns of the results.
func columned(figures Means) map[string]float64 {
	out := map[string]float64{}
	for _, f := range Figures {
		out[f.Column()] = figures.Of(f)
	}
	return out
}
