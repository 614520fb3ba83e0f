package web

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/cause"
	sweeptable "railyard/internal/report/table"
	"railyard/internal/result"
	"railyard/internal/study/space"
	"railyard/internal/study/sweep"
)

// Many is any number of runs, or the points of a study, by the settings in which they differ and by their figures.
type Many struct {
	Title string     `json:"title"`
	Axes  []ManyAxis `json:"axes"` // differing settings, those that explain most first
	More  int        `json:"more"` // settings that differ beyond Axes
	// Together is the share of the variance that settings explain together only, of variants that cross all values.
	Together float64      `json:"together"`
	Figures  []ManyFigure `json:"figures"` // figures that some point has
	By       []int        `json:"by"`      // numbers of the figures that rank: the objectives
	Points   []ManyPoint  `json:"points"`  // the best first
	Of       int          `json:"of"`      // points that have results, of which Points may be a part
	Base     *ManyPoint   `json:"base,omitempty"`
	Unlike   []string     `json:"unlike"`   // reasons why step times compare the work instead of the fabric
	LeftOut  []string     `json:"left_out"` // runs that cannot be read, with the reason
	Study    *StudyState  `json:"study,omitempty"`
}

// ManyAxis is a setting that differs, with its values in order.
type ManyAxis struct {
	Key   string   `json:"key"`
	Short string   `json:"short"`
	Typed []string `json:"typed"` // in the form of --set
	Shown []string `json:"shown"`
	// Share is that of the variance of the first objective; −1 if there are too few points. Of variants that cross all
	// values it is the setting's main effect, else epsilon squared.
	Share float64 `json:"share"`
}

// ManyFigure is a figure of a point.
type ManyFigure struct {
	Key    string `json:"key"`
	Words  string `json:"words"`
	Kind   string `json:"kind"` // time (ps), size (bytes), number
	Higher bool   `json:"higher"`
}

// ManyPoint is a run or a point of a study.
type ManyPoint struct {
	Name    string    `json:"name"`    // of the run; point N of a study
	At      []int     `json:"at"`      // by axis: the index of its value, -1 without one
	Figures []float64 `json:"figures"` // means over the seeds
	Low     float64   `json:"low"`     // of the first objective over the seeds
	High    float64   `json:"high"`
	Seeds   []float64 `json:"seeds,omitempty"` // the first objective by seed, of several
	Tie     bool      `json:"tie"`             // it equals the best point's, or the seeds do not distinguish them
	// Over is the difference of the first objective from the best point's and half of its 95 % confidence interval,
	// paired by seed; absent with one seed.
	Over  *[2]float64 `json:"over,omitempty"`
	Noise bool        `json:"noise,omitempty"` // that difference is not significant
	// Against is the same difference from the base's.
	Against      *[2]float64 `json:"against,omitempty"`
	AgainstNoise bool        `json:"against_noise,omitempty"`
	Causes       []CauseTime `json:"causes"` // of the step along its critical path, in the order of bars
	// Runs has the run directories that a study keeps of the point, as STUDY/NAME.
	Runs []string `json:"runs,omitempty"`
}

// Limits of the page's data at a time. A part of more points is the best half and others spread over the remaining
// ones.
const (
	maxMany     = 2000
	maxManyRuns = 500
	maxManyAxes = 24
)

// many responds with compared runs.
func (s *Server) many(w http.ResponseWriter, q *http.Request) {
	names := strings.Split(q.URL.Query().Get("runs"), ",")
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	if len(names) > maxManyRuns {
		send(w, nil, &InputError{fmt.Sprintf("%d runs are too many to compare; accepted: up to %d", len(names), maxManyRuns)})
		return
	}
	m, err := compared(s.Root, names)
	send(w, m, err)
}

// compared reads runs of a folder and ranks them by step time.
func compared(root string, names []string) (*Many, error) {
	m := &Many{LeftOut: []string{}}
	var all []one
	for _, name := range names {
		x, err := readOne(root, name)
		if err != nil {
			m.LeftOut = append(m.LeftOut, err.Error())
			continue
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, &InputError{strings.Join(append([]string{"no run can be compared"}, m.LeftOut...), "\n")}
	}
	first := all[0].name
	m.rank(all)
	m.base(first)
	return m, nil
}

// base selects a point by its name as the base of comparisons.
func (m *Many) base(name string) {
	if i := slices.IndexFunc(m.Points, func(p ManyPoint) bool { return p.Name == name }); i >= 0 {
		m.Base = &m.Points[i]
	}
	m.against()
}

// against compares points with the base, where both have the seeds of the best point.
func (m *Many) against() {
	for i := range m.Points {
		if p := &m.Points[i]; m.Base != nil && m.Base.Over != nil && p.Over != nil {
			if mean, half, ok := result.Difference(p.Seeds, m.Base.Seeds); ok {
				p.Against, p.AgainstNoise = &[2]float64{mean, half}, result.Noisy(p.Seeds, m.Base.Seeds)
			}
		}
	}
}

// readOne reads what comparing needs of a run.
func readOne(root, name string) (x one, err error) {
	x.name = name
	var m result.Manifest
	dir, err := runDir(root, name)
	if err != nil {
		return x, err
	}
	for file, into := range map[string]any{"run.json": &m, "summary.json": &x.summary} {
		if err := readJSON(filepath.Join(dir, file), into); err != nil {
			return x, (&Directory{Name: name}).broken(file, err)
		}
	}
	x.settings, x.seeds = m.Resolved, []*result.Summary{&x.summary}
	return x, result.CheckSummary(&m, &x.summary, dir)
}

// unlike names differences in the work of runs, whose step times then compare the work instead of the fabric.
func unlike(all []one) []string {
	out := []string{}
	for _, k := range []struct {
		name string
		of   func(*result.Summary) int64
	}{{"the model", func(s *result.Summary) int64 { return s.Params }},
		{"the batch", func(s *result.Summary) int64 { return s.Tokens }},
		{"the number of GPUs", func(s *result.Summary) int64 { return int64(s.GPUs) }}} {
		if slices.ContainsFunc(all, func(x one) bool { return k.of(&x.summary) != k.of(&all[0].summary) }) {
			out = append(out, k.name)
		}
	}
	if slices.ContainsFunc(all, func(x one) bool { return x.summary.Fidelity != all[0].summary.Fidelity }) {
		out = append(out, "the fidelity") // an estimate's error is no gain
	}
	return out
}

// causesOf returns the parts of a step by cause.
func causesOf(chain *cause.Account) (out []CauseTime) {
	out = []CauseTime{}
	if chain == nil {
		return out
	}
	for _, c := range cause.All() {
		if ps := chain.Costs(c.ID); ps > 0 {
			out = append(out, CauseTime{c.Key, ps})
		}
	}
	return out
}

// axis adds a setting with the values of all points; share is NaN if they are too few.
func (m *Many) axis(key string, values []string, share float64) {
	if math.IsNaN(share) {
		share = -1
	}
	a := ManyAxis{Key: key, Share: share}
	for _, v := range values {
		if v != "" {
			a.Typed = append(a.Typed, v)
		}
	}
	slices.SortFunc(a.Typed, space.Compare)
	a.Typed = slices.Compact(a.Typed)
	m.Axes = append(m.Axes, a)
}

// settle orders axes, places points on them, and keeps the figures that some point has. by are objectives by name.
func (m *Many) settle(keys []string, value func(point int, key string) string, figures []sweep.Means, by []string,
	better map[string]bool) {
	for i, short := range sweeptable.Short(keys) {
		m.Axes[i].Short = short
	}
	slices.SortStableFunc(m.Axes, func(a, b ManyAxis) int { return cmp.Compare(b.Share, a.Share) })
	m.Axes, m.More = m.Axes[:min(len(m.Axes), maxManyAxes)], max(0, len(m.Axes)-maxManyAxes)
	for a := range m.Axes {
		x := &m.Axes[a]
		at := map[string]int{}
		for i, v := range x.Typed {
			at[v], x.Shown = i, append(x.Shown, sweeptable.Setting(v))
		}
		for i := range m.Points {
			n, ok := at[value(i, x.Key)]
			if !ok {
				n = -1
			}
			m.Points[i].At = append(m.Points[i].At, n)
		}
	}
	for k, f := range sweep.Figures {
		ranks := slices.Index(by, f.Name)
		if ranks < 0 && !slices.ContainsFunc(figures, func(x sweep.Means) bool { return x[k] != 0 }) {
			continue
		}
		higher, set := better[f.Name]
		m.Figures = append(m.Figures, ManyFigure{f.Name, f.Words, kinds[f.Kind], higher || !set && f.Higher})
		for i := range m.Points {
			m.Points[i].Figures = append(m.Points[i].Figures, figures[i][k])
		}
	}
	for _, name := range by {
		m.By = append(m.By, slices.IndexFunc(m.Figures, func(f ManyFigure) bool { return f.Key == name }))
	}
}

// kinds names kinds of figures.
var kinds = map[space.Kind]string{space.Time: "time", space.Size: "size", space.Number: "number"}

// foldersOf returns the names of the plain directories of a root, sorted.
func foldersOf(root string) (names []string) {
	dirs, _ := os.ReadDir(root) // List reports what cannot be read
	for _, d := range dirs {
		if d.IsDir() && d.Name()[0] != '.' {
			names = append(names, d.Name())
		}
	}
	return names
}
