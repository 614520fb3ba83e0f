package web

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/internal/study/sweep"
)

// StudyState is the progress of a study.
type StudyState struct {
	Name     string    `json:"name"`
	Scenario string    `json:"scenario"`
	Command  string    `json:"command,omitempty"` // a command other than sweep, whose simulations are the points
	Seeds    int       `json:"seeds"`
	Points   int       `json:"points"` // without the unchanged scenario
	Trials   int       `json:"trials"`
	Done     int       `json:"done"`
	Failed   int       `json:"failed"` // lost, failed and refused ones
	Open     int       `json:"open"`
	Rung     int       `json:"rung"` // rung of Points
	Rungs    int       `json:"rungs"`
	Error    string    `json:"error,omitempty"` // of the first trial that failed
	At       time.Time `json:"at"`              // of the last record
}

// StudyEntry is a study in the list.
type StudyEntry struct {
	Name  string      `json:"name"`
	Title string      `json:"title"`
	State *StudyState `json:"state,omitempty"`
	Best  []string    `json:"best"` // settings of the best point, in the form of --set
	Tied  int         `json:"tied"` // other points that equal the best one or are within its noise
	Error string      `json:"error,omitempty"`
}

// maxTrials bounds the journal of a study that the page reads.
const maxTrials = 256 << 20

// analysed is a study kept in memory until its journal changes.
type analysed struct {
	size int64
	at   time.Time
	kept time.Time // of the folder of run directories
	many *Many
}

// listStudies answers with the studies of the folder.
func (s *Server) listStudies(w http.ResponseWriter, _ *http.Request) {
	out := []StudyEntry{}
	for _, name := range foldersOf(s.Root) {
		dir := filepath.Join(s.Root, name)
		if !studied(dir) {
			continue
		}
		e := StudyEntry{Name: name, Title: name, Best: []string{}}
		if m, err := s.study(name); err != nil {
			e.Error = err.Error()
		} else {
			e.Title, e.State = m.Title, m.Study
			e.Best = m.settings(0)
			for i := range m.Points[min(1, len(m.Points)):] {
				if m.Points[1+i].Tie {
					e.Tied++
				}
			}
		}
		out = append(out, e)
	}
	send(w, out, nil)
}

// settings returns the settings of a point, in the form of --set.
func (m *Many) settings(point int) []string {
	out := []string{}
	for a := range m.Axes {
		if point < len(m.Points) && m.Points[point].At[a] >= 0 {
			out = append(out, m.Axes[a].Key+"="+m.Axes[a].Typed[m.Points[point].At[a]])
		}
	}
	return out
}

// studied reports whether a folder holds a study.
func studied(dir string) bool {
	st, err := os.Lstat(filepath.Join(dir, sweep.ManifestName))
	return err == nil && st.Mode().IsRegular()
}

// viewStudy answers with a study, also one that runs.
func (s *Server) viewStudy(w http.ResponseWriter, q *http.Request) {
	m, err := s.study(q.PathValue("study"))
	send(w, m, err)
}

// study reads a study, or returns the cached result for the same journal. One is read at a time.
func (s *Server) study(name string) (*Many, error) {
	dir := filepath.Join(s.Root, name)
	if err := local(name); err != nil {
		return nil, err
	}
	if err := plain(dir); err != nil {
		return nil, err
	}
	st, err := os.Stat(filepath.Join(dir, sweep.JournalName))
	if err != nil {
		return nil, &InputError{fmt.Sprintf("%q has no %s: it is not a study, or that of one which has no trial yet", name,
			sweep.JournalName)}
	}
	if st.Size() > maxTrials {
		return nil, &InputError{fmt.Sprintf("%s has %d MB of trials, at most %d MB are read here; use railyard sweep show",
			name, st.Size()>>20, maxTrials>>20)}
	}
	var kept time.Time
	if runs, err := os.Stat(filepath.Join(dir, sweep.RunsName)); err == nil {
		kept = runs.ModTime()
	}
	s.studying.Lock()
	defer s.studying.Unlock()
	if a := s.studies[name]; a != nil && a.size == st.Size() && a.at.Equal(st.ModTime()) &&
		a.kept.Equal(kept) {
		return a.many, nil
	}
	m, err := readStudy(dir, st.ModTime().UTC())
	if err != nil {
		return nil, err
	}
	s.studies[name] = &analysed{st.Size(), st.ModTime(), kept, m}
	return m, nil
}

// readStudy reads the findings of a study so far.
func readStudy(dir string, at time.Time) (*Many, error) {
	if command, path, all, err := sweep.ViewSimulations(dir); err != nil || command != "" {
		return otherStudy(filepath.Base(dir), command, path, all, at), err
	}
	x, err := sweep.View(dir)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	a, err := x.Analyse(false)
	if err != nil {
		return nil, err
	}
	c := a.Counts
	m := &Many{Title: x.File.Name, Of: len(a.Ranking), LeftOut: []string{}, Axes: []ManyAxis{}, Points: []ManyPoint{},
		Study: &StudyState{Name: filepath.Base(dir), Scenario: x.File.Scenario, Seeds: x.File.Seeds, Points: a.Points,
			Trials: c.Trials, Done: c.Done, Failed: c.Lost + c.Failed + c.Refused, Open: c.Open, Rung: a.Rung,
			Rungs: x.Rungs(), Error: c.FirstError, At: at}}
	if m.Title == "" {
		m.Title = filepath.Base(dir)
	}
	all := part(a.Ranking)
	if a.Baseline != nil { // placed like a point, and removed again
		all = append(slices.Clip(all), *a.Baseline)
	}
	var keys []string
	for _, c := range x.Columns() {
		values := make([]string, len(a.Ranking))
		for i := range a.Ranking {
			values[i] = x.Value(a.Ranking[i].Point, c.Key)
		}
		if !differ(values) {
			continue
		}
		keys = append(keys, c.Key)
		share := -1.0
		if i := slices.IndexFunc(a.Effects, func(e sweep.Influence) bool { return e.Key == c.Key }); i >= 0 &&
			!a.Screening {
			share = a.Effects[i].Share
		}
		m.axis(c.Key, values, share)
	}
	m.Unlike = works(keys)
	of := make([]sweep.Means, len(all))
	for i := range all {
		p := ManyPoint{Name: fmt.Sprintf("point %d", all[i].Point), Low: all[i].Stats[0].Min, High: all[i].Stats[0].Max,
			Tie: a.Tie(&all[i]), Causes: []CauseTime{}}
		if len(all[i].Seeds) > 1 {
			p.Seeds = all[i].Seeds
			if mean, half, ok := result.Difference(all[i].Seeds, a.Ranking[0].Seeds); ok {
				p.Over, p.Noise = &[2]float64{mean, half}, result.Noisy(all[i].Seeds, a.Ranking[0].Seeds)
			}
		}
		for _, c := range cause.All() {
			if ps := int64(all[i].Causes[c.Key]); ps > 0 {
				p.Causes = append(p.Causes, CauseTime{c.Key, ps})
			}
		}
		of[i], m.Points = all[i].Figures, append(m.Points, p)
	}
	for i, names := range keptOf(x, all) {
		m.Points[i].Runs = names
	}
	var by []string
	better := map[string]bool{}
	for _, o := range a.Objectives {
		by, better[o.Name] = append(by, o.Name), o.Max
	}
	m.settle(keys, func(i int, key string) string { return x.Value(all[i].Point, key) }, of, by, better)
	if n := len(m.Points) - 1; a.Baseline != nil {
		m.Base, m.Points = &m.Points[n], m.Points[:n:n]
		m.Base.Name = "scenario"
		m.against()
	}
	return m, nil
}

// otherStudy compares the simulations of another command than sweep. Labels are an axis if settings do not
// distinguish them, as for a failing component.
func otherStudy(name, command, path string, records []*sweep.Record, at time.Time) *Many {
	m := &Many{Title: name, LeftOut: []string{}, Axes: []ManyAxis{}, Points: []ManyPoint{}, Unlike: []string{},
		Figures: []ManyFigure{}, By: []int{},
		Study: &StudyState{Name: name, Command: command, Scenario: path, Seeds: 1, Trials: len(records), Rungs: 1,
			At: at}}
	var all []one
	var labels []string
	for i, r := range records {
		if r.Status != sweep.Done || r.Late || r.Summary == nil {
			m.Study.Failed++
			m.Study.Error = cmp.Or(m.Study.Error, r.Error)
			continue
		}
		if r.Settings == nil { // of an earlier version
			r.Settings = map[string]string{}
		}
		all = append(all, one{fmt.Sprintf("simulation %d", i+1), *r.Summary, r.Settings, []*result.Summary{r.Summary}})
		labels = append(labels, r.Label)
	}
	m.Study.Done = len(all)
	all, labels = bySeed(all, labels)
	if len(all) > 0 {
		m.Study.Seeds = len(all[0].seeds)
	}
	different := map[[sha256.Size]byte]bool{}
	for i := range all {
		different[sha256.Sum256([]byte(fmt.Sprint(all[i].settings)))] = true // by key
	}
	for i := 0; i < len(all) && len(different) < len(all); i++ {
		all[i].settings["simulation"] = labels[i]
	}
	names := slices.Sorted(slices.Values(labels))
	for i := range all {
		at, _ := slices.BinarySearch(names, labels[i])
		if labels[i] != "" && (at+1 == len(names) || names[at+1] != labels[i]) { // a name of its own
			all[i].name = labels[i]
		}
	}
	if m.Study.Points = len(all); len(all) > 0 {
		first := all[0].name
		m.rank(all)
		m.base(first)
		m.Title = cmp.Or(m.Title, name)
	}
	return m
}

// keptOf returns the stored run directories of a study's points, as STUDY/NAME.
func keptOf(x *sweep.Study, points []sweep.Ranked) [][]string {
	out := make([][]string, len(points))
	at := map[int]int{}
	for i := range points {
		at[points[i].Point] = i
	}
	for point, name := range x.RunDirs() {
		if i, ok := at[point]; ok {
			out[i] = append(out[i], filepath.Base(x.Dir)+"/"+name)
		}
	}
	return out
}

// runDir returns the directory of a run. NAME is in the folder of runs; STUDY/NAME is stored by a study of that
// folder. It rejects names that point elsewhere and directories that are or contain links.
func runDir(root, name string) (string, error) {
	dir, trial, kept := root, name, false
	if study, within, ok := strings.Cut(name, "/"); ok {
		trial, kept = within, true
		for _, sub := range []string{study, sweep.RunsName} {
			dir = filepath.Join(dir, sub)
			if err := cmp.Or(local(sub), plain(dir)); err != nil {
				return "", err
			}
		}
	}
	if err := local(trial); err != nil {
		return "", err
	}
	dir = filepath.Join(dir, trial)
	if kept && !studied(filepath.Dir(filepath.Dir(dir))) {
		return "", &InputError{fmt.Sprintf("%q is not the name of a run", name)}
	}
	return dir, plain(dir)
}

// part returns the ranked points for the page: all, or the best half of maxMany and others spread over the
// remaining ones.
func part(all []sweep.Ranked) (out []sweep.Ranked) {
	const best = maxMany / 2
	every := 1 + (len(all)-best)/(maxMany-best)
	for i := range all {
		if i < best || len(all) <= maxMany || (i-best)%every == 0 {
			out = append(out, all[i])
		}
	}
	return out
}

// differ reports whether values, of which "" is none, are not all equal.
func differ(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
}

// works names the varying keys that change the work itself, so that step times do not compare the fabric.
func works(keys []string) []string {
	out := []string{}
	for _, key := range keys {
		what := ""
		switch {
		case key == sweep.ScenarioKey:
			what = "the scenario"
		case strings.HasSuffix(key, "training.model"):
			what = "the model"
		case strings.HasSuffix(key, "_batch") || strings.HasSuffix(key, ".sequence"):
			what = "the batch"
		}
		if what != "" && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	return out
}
