package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"

	"github.com/parquet-go/parquet-go"
)

// Simulations are the trials of another command than sweep, in a study's directory: a study.Trials. Each is addressed
// by its document, with the command's changes, and the files that it names.
type Simulations struct {
	*Study
	trials sync.Map // by ID: *Trial without a record
}

// NewSimulations opens the directory of a command's study: a new one, or one of the same command and scenarios, which
// may contain runs.
func NewSimulations(command, dir string, scenarios []string, force bool) (*Simulations, error) {
	d := &Design{File: File{Scenario: scenarios[0]}, Command: command, Version: runner.Version(),
		Content: map[string]string{}}
	for _, path := range scenarios {
		if result.IsDir(path) {
			continue
		}
		doc, err := scenariofile.Read(path, nil)
		if err != nil {
			return nil, err
		}
		d.Content[path] = fmt.Sprintf("%x", digest(doc.Text))
	}
	s := &Study{Dir: dir, File: d.File, designs: []*Design{d}, options: Options{Force: force}, from: sources{},
		now: time.Now, store: &Store{}, bundles: map[string]*Bundle{}}
	had, err := readDesigns(dir)
	switch {
	case force:
	case err != nil:
		return nil, err
	case had == nil && foreign(dir):
		return nil, input.Fault(fmt.Errorf("%s holds files but no study; choose another --study", dir))
	case had != nil:
		if err := had[0].holds(d); err != nil {
			return nil, input.Fault(fmt.Errorf("%s holds a study of %w; accepted: --force to begin anew, another --study",
				dir, err))
		}
	}
	return &Simulations{Study: s}, s.Open()
}

// holds rejects a study with another command, version or scenarios.
func (d *Design) holds(o *Design) error {
	list := func(d *Design) string { return strings.Join(slices.Sorted(maps.Keys(d.Content)), ", ") }
	switch {
	case d.command() != o.command():
		return fmt.Errorf("railyard %s, found railyard %s", d.command(), o.command())
	case d.Version != o.Version:
		return fmt.Errorf("version %s, found %s", d.Version, o.Version)
	case slices.Equal(slices.Sorted(maps.Values(d.Content)), slices.Sorted(maps.Values(o.Content))):
		return nil
	case list(d) != list(o):
		return fmt.Errorf("%s, found %s", list(d), list(o))
	}
	return fmt.Errorf("%s as it was before a change", list(d))
}

// command returns the name of the command that has made the design.
func (d *Design) command() string {
	if d.Command == "" {
		return "sweep"
	}
	return d.Command
}

// ID implements study.Trials.
func (s *Simulations) ID(label string, plan *scenario.Plan, until unit.Time, flows bool) (string, error) {
	doc, err := plan.Origin().Portable()
	if err != nil {
		return "", err
	}
	t := Task{Version: runner.Version(), Document: doc, Fidelity: plan.Fidelity, Until: until, Flows: flows}
	for i := range plan.Jobs {
		t.Jobs = append(t.Jobs, plan.Jobs[i].Name)
	}
	parts := []string{"railyard simulation 1", t.Version, string(doc), t.Fidelity, fmt.Sprint(until, flows, t.Jobs)}
	b := &Bundle{Path: plan.Origin().Path(), Files: map[string][]byte{}, Absent: map[string]string{}}
	for _, name := range plan.Files() {
		text, err := plan.Read(name)
		if err != nil {
			b.Absent[name] = err.Error()
		} else {
			b.Files[name] = text
		}
		parts = append(parts, name, string(text), b.Absent[name])
	}
	sum := digest(parts...)
	t.Trial = ID(sum[:]).String()
	trial := &Trial{ID: ID(sum[:]), label: label}
	if s.Pool != nil {
		trial.order = slices.Index(s.Pool.Labels, label) + 1
	}
	_, trial.settings = plan.Resolved()
	if s.Engine != nil {
		t.Bundle = b.Digest()
		s.mu.Lock()
		s.bundles[t.Bundle] = b
		s.mu.Unlock()
		trial.task = &t
	}
	s.trials.Store(t.Trial, trial)
	return t.Trial, nil
}

// id parses the result of ID.
func id(text string) (id ID) {
	b, _ := hex.DecodeString(text) // of ID
	copy(id[:], b)
	return id
}

// Find implements study.Trials.
func (s *Simulations) Find(trial string) (*study.Outcome, error) {
	r, err := s.store.Get(id(trial))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(s.Dir, JournalName), err)
	}
	if r == nil {
		return nil, nil
	}
	return r.outcome()
}

// Keep implements study.Trials.
func (s *Simulations) Keep(trial string, o *study.Outcome) error {
	r, err := newRecord(o, s.Pool.Flows)
	if err != nil {
		return err
	}
	t, known := s.trials.LoadAndDelete(trial)
	if !known {
		return nil // the same simulation has been kept
	}
	return s.Take(t.(*Trial), r)
}

// Remote implements study.Trials.
func (s *Simulations) Remote() bool { return s.Engine != nil }

// Elsewhere implements study.Trials.
func (s *Simulations) Elsewhere(ctx context.Context, ids []string, ended func(id string, err error)) error {
	var list []*Trial
	for _, x := range ids {
		if t, ok := s.trials.LoadAndDelete(x); ok { // otherwise the previous round has simulated it
			list = append(list, t.(*Trial))
		}
	}
	s.taken = func(t *Trial) { ended(t.ID.String(), nil) }
	if err := s.Engine.Simulate(ctx, s.Study, list); err != nil {
		return err
	}
	for _, x := range ids { // those without a record remain
		ended(x, s.ShortWhy)
	}
	return nil
}

// newRecord returns the record of a simulation, with its messages if flows.
func newRecord(o *study.Outcome, flows bool) (*Record, error) {
	r := &Record{Status: Done, Late: o.Late, Summary: o.Summary}
	switch {
	case o.Err != nil:
		r.Status, r.Error = Failed, o.Err.Error()
	case o.Failed != nil:
		r.Status, r.Error = Lost, o.Failed.Error()
	}
	if !flows || o.Tables == nil {
		return r, nil
	}
	var b bytes.Buffer
	err := parquet.Write(&b, o.Tables.Flows, parquet.Compression(&parquet.Zstd))
	r.Flows = b.Bytes()
	return r, err
}

// outcome returns the value passed to newRecord; the error is that of a refused trial.
func (r *Record) outcome() (o *study.Outcome, err error) {
	o = &study.Outcome{Summary: r.Summary, Late: r.Late, Tables: &result.Tables{}}
	switch r.Status {
	case Refused:
		return nil, input.Fault(errors.New(r.Error))
	case Failed:
		o.Err = errors.New(r.Error)
	case Lost:
		o.Failed = errors.New(r.Error)
	}
	if r.Flows != nil {
		o.Tables.Flows, err = parquet.Read[result.FlowRow](bytes.NewReader(r.Flows), int64(len(r.Flows)))
	}
	return o, err
}

// plan resolves the document of a task.
func (t *Task) plan(path string, read scenario.ReadFile) (*scenario.Plan, error) {
	doc, err := scenario.UnpackDocument(path, t.Document)
	if err != nil {
		return nil, err
	}
	plan, err := doc.Resolve(read)
	if err != nil {
		return nil, err
	}
	plan.Fidelity = t.Fidelity
	all := plan.Jobs
	plan.Jobs = nil
	for _, j := range all {
		if slices.Contains(t.Jobs, j.Name) {
			plan.Jobs = append(plan.Jobs, j)
		}
	}
	return plan, nil
}

// ViewSimulations reads the study of another command than sweep in a directory, also while it runs. It returns the
// command ("" for a study of sweep or none), its scenario, and the records without tables, in the order of variants.
func ViewSimulations(dir string) (command, path string, all []*Record, err error) {
	designs, err := readDesigns(dir)
	if err != nil || designs == nil || designs[0].Command == "" {
		return "", "", nil, err
	}
	s, err := viewStore(dir)
	if err != nil {
		return "", "", nil, err
	}
	defer s.Close()
	ids := slices.SortedFunc(maps.Keys(s.places), func(a, b ID) int {
		return cmp.Compare(s.places[a].at, s.places[b].at)
	})
	for _, id := range ids {
		r, err := s.Get(id)
		if err != nil {
			return "", "", nil, err
		}
		r.Flows = nil
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *Record) int { return cmp.Compare(a.Order, b.Order) })
	return designs[0].Command, designs[0].Scenario, all, nil
}
