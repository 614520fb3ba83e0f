package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/study/space"
)

// Listed is a scenario with overrides: a point of a study that another command than sweep has listed.
type Listed struct {
	Path string   `json:"path"`
	Set  []string `json:"set,omitempty"`
}

// NewListed makes a study of the variants that a command lists, each with seeds from its scenario's on. Its records
// have summaries. The directory is new, or has the same study: nothing is written before Open.
func NewListed(command, dir string, list []Listed, seeds int) (*Study, error) {
	d := &Design{File: File{Scenario: list[0].Path, Seeds: seeds, Sampler: "grid"}, Command: command, List: list,
		Version: runner.Version(), Content: map[string]string{}, Reads: map[string]string{}}
	s := &Study{Dir: dir, File: d.File, from: sources{}, now: time.Now, store: &Store{}}
	for _, x := range list {
		if err := d.listed(x, s.from); err != nil {
			return nil, err
		}
	}
	d.points = make([]space.Point, len(list))
	had, err := readDesigns(dir)
	switch {
	case err != nil:
		return nil, err
	case had == nil && foreign(dir):
		return nil, input.Fault(fmt.Errorf("%s holds files but no study; choose another --study", dir))
	case had != nil && had[0].Command != command:
		return nil, input.Fault(fmt.Errorf("%s holds a study of railyard %s, found railyard %s; accepted: another --study", dir,
			had[0].command(), command))
	case had != nil && !had[0].same(d):
		return nil, input.Fault(fmt.Errorf("%s holds a study of other scenarios, values, seeds or version; accepted: another --study",
			dir))
	}
	s.designs = []*Design{d}
	s.enumerate()
	return s, nil
}

// listed reads the scenario of a point and notes the files that its overrides name.
func (d *Design) listed(x Listed, from sources) (err error) {
	src := from[x.Path]
	if src == nil {
		if src, err = readSource(x.Path); err != nil {
			return err
		}
		from[x.Path] = src
	}
	doc, err := src.document(x.Set)
	if err != nil {
		return input.Fault(err)
	}
	names := src.files.during(func() { _, _ = doc.Resolve(src.files.read) }) // a trial that is refused says why
	d.Content[x.Path] = src.digest(nil)
	if len(names) > 0 {
		d.Reads[strings.Join(append([]string{x.Path}, x.Set...), " ")] = src.digest(names)
	}
	return nil
}

// command returns the name of the command that has made the design.
func (d *Design) command() string {
	if d.Command == "" {
		return "sweep"
	}
	return d.Command
}

// Simulate opens the directory, simulates the trials that have no record, and returns the summaries by point and seed.
// failed has an error for each trial without a summary; stopped is runner.ErrInterrupted, or why the study cannot go
// on.
func (s *Study) Simulate(ctx context.Context) (runs []*result.Summary, failed []error, stopped error) {
	stopped = s.Run(ctx)
	d := s.designs[0]
	for local := range d.points {
		for seed := range d.Seeds {
			r, err := s.store.Get(d.id(local, seed, 0))
			switch {
			case err != nil:
				return runs, failed, errors.Join(stopped, fmt.Errorf("%s: %w", filepath.Join(s.Dir, JournalName), err))
			case r == nil && s.ShortWhy != nil && stopped == nil:
				runs, failed = append(runs, nil), append(failed, s.ShortWhy)
			case r == nil:
				runs, failed = append(runs, nil), append(failed, nil)
			case r.Summary == nil || r.Status != Done:
				runs, failed = append(runs, nil), append(failed, errors.New(r.Error))
			default:
				runs, failed = append(runs, r.Summary), append(failed, nil)
			}
		}
	}
	return runs, failed, stopped
}
