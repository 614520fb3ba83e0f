package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"railyard/internal/fidelity"
	"railyard/internal/input"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/unit"
)

// Task is a trial for another process.
type Task struct {
	Trial   string   `json:"trial"`
	Version string   `json:"version"`
	Bundle  string   `json:"bundle"` // digest of the scenario with its files
	Set     []string `json:"set"`
	Seed    int      `json:"seed"` // offset from the scenario's seed

	// For Simulations: a document instead of the settings, its jobs and fidelity, the simulated time after which
	// the run is abandoned (0: none), and whether the record has its messages.
	Document []byte    `json:"document,omitempty"`
	Jobs     []string  `json:"jobs,omitempty"`
	Fidelity string    `json:"fidelity,omitempty"`
	Until    unit.Time `json:"until_ps,omitempty"`
	Flows    bool      `json:"flows,omitempty"`
}

// Bundle is a scenario with the files that it and the settings of a study name.
type Bundle struct {
	Path  string            `json:"path"`
	Text  []byte            `json:"text"`
	Files map[string][]byte `json:"files"`
	// Absent are files that cannot be read, and why.
	Absent map[string]string `json:"absent,omitempty"`
}

// Task returns a trial for another process.
func (s *Study) Task(t *Trial) Task {
	if t.task != nil {
		return *t.task
	}
	path, sets := t.design.settings(t.local, t.Rung)
	return Task{Trial: t.ID.String(), Version: t.design.Version, Bundle: s.from[path].bundle().Digest(), Set: sets,
		Seed: t.Seed}
}

// Bundles returns the scenarios that tasks of the study need, by digest.
func (s *Study) Bundles() map[string]*Bundle {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]*Bundle{}
	maps.Copy(all, s.bundles)
	for _, src := range s.from {
		b := src.bundle()
		all[b.Digest()] = b
	}
	return all
}

// bundle returns the scenario with its files.
func (s *source) bundle() *Bundle {
	s.once.Do(func() {
		s.whole = &Bundle{Path: s.path, Text: s.text}
		s.whole.Files, s.whole.Absent = s.files.texts()
	})
	return s.whole
}

// Digest addresses a bundle by its content.
func (b *Bundle) Digest() string {
	parts := []string{b.Path, string(b.Text)}
	for _, name := range slices.Sorted(maps.Keys(b.Files)) {
		parts = append(parts, name, string(b.Files[name]))
	}
	return fmt.Sprintf("%x", digest(parts...))
}

// Performer simulates tasks of bundles.
type Performer struct {
	Pool *study.Pool

	built built
}

// Perform simulates a task. The error reports that it has no record: it was interrupted, or memory is insufficient.
func (p *Performer) Perform(ctx context.Context, b *Bundle, t *Task) (*Record, error) {
	if v := runner.Version(); t.Version != v {
		return nil, &ErrVersion{t.Version, v}
	}
	f := &files{from: func(name string) ([]byte, error) { return nil, fmt.Errorf("%s was not sent", name) },
		held: map[string]*held{}}
	for name, text := range b.Files {
		f.held[name] = &held{text: text}
	}
	for name, why := range b.Absent {
		f.held[name] = &held{err: errors.New(why)}
	}
	began := time.Now()
	var r *Record
	var err error
	if src := (&source{path: b.Path, text: b.Text, files: f, built: &p.built}); t.Document != nil {
		r, err = perform(ctx, p.Pool, func() (*scenario.Plan, error) { return t.plan(b.Path, f.read) }, t.Until, "",
			func(o *study.Outcome) (*Record, error) { return newRecord(o, t.Flows) })
	} else {
		r, err = perform(ctx, p.Pool, func() (*scenario.Plan, error) { return src.plan(t.Set, t.Seed) }, 0, "", nil)
	}
	if err == nil {
		r.Trial, r.Seconds = t.Trial, time.Since(began).Seconds()
	}
	return r, err
}

// ErrVersion is returned for a task of another version of the program.
type ErrVersion struct{ Study, Worker string }

func (e *ErrVersion) Error() string {
	return fmt.Sprintf("the study is of version %s, this worker of %s: their results may differ", e.Study, e.Worker)
}

// plan resolves the scenario with overrides.
func (s *source) plan(sets []string, seed int) (*scenario.Plan, error) {
	doc, err := s.document(sets)
	if err != nil {
		return nil, err
	}
	doc.File.Seed += uint64(seed)
	doc.BuildBy = s.built.build
	plan, err := doc.Resolve(s.files.read)
	if err == nil {
		plan.Ahead = s.built.ahead
	}
	return plan, err
}

// perform simulates a plan until a time, and writes the run into a directory unless that is empty. Without record it is
// a sweep's trial, whose tables are not needed.
func perform(ctx context.Context, pool *study.Pool, resolve func() (*scenario.Plan, error), until unit.Time, dir string,
	record func(*study.Outcome) (*Record, error)) (r *Record, err error) {
	defer func() {
		if p := recover(); p != nil { // a panic of one trial must not end thousands
			r, err = &Record{Status: Failed, Error: fmt.Sprintf("internal error: %v", p)}, nil
		}
	}()
	plan, err := resolve()
	if err != nil {
		return &Record{Status: Refused, Error: err.Error()}, nil
	}
	if record == nil {
		record, plan.Totals = measured, dir == ""
	}
	var o *study.Outcome
	if dir != "" {
		o, err = pool.Write(ctx, "", plan, dir)
	} else {
		o, err = pool.Simulate(ctx, "", plan, until)
	}
	memory := (*fidelity.ErrMemory)(nil)
	switch {
	case errors.Is(err, context.Canceled) || errors.As(err, &memory):
		return nil, err
	case err != nil && input.IsFault(err):
		return &Record{Status: Refused, Error: err.Error()}, nil
	case err != nil:
		return nil, err
	case errors.Is(o.Err, runner.ErrOutgrown):
		return nil, o.Err
	}
	return record(o)
}

// measured returns the record of a sweep's trial.
func measured(o *study.Outcome) (*Record, error) {
	if o.Err != nil {
		return &Record{Status: Failed, Error: o.Err.Error()}, nil
	}
	r := &Record{Status: Done, Figures: figures(o.Summary), Causes: causes(o.Summary)}
	if o.Failed != nil || o.Summary.Outcome != nil {
		r.Status = Lost
		if o.Failed != nil {
			r.Error = o.Failed.Error()
		}
	}
	return r, nil
}
