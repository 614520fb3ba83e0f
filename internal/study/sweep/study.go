package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
	"railyard/unit"
)

// Study is a study in its directory.
type Study struct {
	Dir  string
	File File // file of the last design
	Pool *study.Pool
	// Engine simulates trials elsewhere; nil: the pool does.
	Engine Engine

	Simulated int // trials that Run has simulated
	Kept      int // trials that the directory had before Run
	Taken     int // of these, taken from other studies
	Short     int // trials omitted because they need more memory than available
	ShortWhy  error

	options Options
	made    bool // Open has made the directory
	designs []*Design
	rows    []row
	from    sources
	store   *Store
	alive   [][]int    // points by rung; nil: not reached
	byID    map[ID]int // points by their first trial

	bundles map[string]*Bundle // of Simulations
	taken   func(*Trial)       // unless nil, called for each record

	mu   sync.Mutex
	next time.Time // time of the next partial results
	now  func() time.Time
}

// Engine simulates trials of a study somewhere. It passes each record to Study.Take and calls Study.Leave for an
// abandoned trial. It returns when no trial is left, ctx has ended or the study cannot continue.
type Engine interface {
	Simulate(ctx context.Context, s *Study, trials []*Trial) error
}

// Options are the settings for opening a study.
type Options struct {
	Dir   string   // sweep-NAME if empty
	Add   bool     // adds the points to the points of the existing study
	Force bool     // begins anew in a directory that has a study
	Reuse []string // directories of studies whose trials are reused
	Shard Shard
}

// New makes a study of a file, for a directory that has none, the same or, with Add, another one. Nothing is written
// before Open.
func New(f *File, o Options) (*Study, error) {
	if err := f.Settle(); err != nil {
		return nil, input.Fault(f.blame(err))
	}
	if o.Shard.Of > 0 && len(f.Rungs) > 0 {
		return nil, input.Fault(field.New("--shard", "is not accepted with rungs: a rung needs the results of all shards"))
	}
	s := &Study{Dir: o.Dir, File: *f, options: o, from: sources{}, now: time.Now, store: &Store{}}
	d, err := newDesign(f, s.from)
	if err != nil {
		return nil, input.Fault(f.blame(err))
	}
	if s.Dir == "" {
		s.Dir = "sweep-" + scenariofile.Slug(f.Name, f.Scenario) + o.Shard.suffix()
	}
	if err := s.fits(d, o); err != nil {
		return nil, err
	}
	for _, dir := range o.Reuse {
		if _, err := os.Stat(filepath.Join(dir, JournalName)); err != nil {
			return nil, input.Fault(field.New("--reuse", "%s holds no study (%s)", dir, ManifestName))
		}
	}
	s.enumerate()
	if _, err := os.Stat(filepath.Join(s.Dir, JournalName)); err == nil && !o.Force {
		if s.store, err = viewStore(s.Dir); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Open locks the directory for this process, writes the designs, and takes over trials of other studies.
func (s *Study) Open() error {
	err := s.store.Close()
	if err != nil {
		return err
	}
	_, missing := os.Stat(s.Dir)
	s.made = errors.Is(missing, fs.ErrNotExist)
	if s.store, err = openStore(s.Dir, s.options.Force); err != nil {
		s.store = &Store{}
		return err
	}
	tidy(s.Dir)
	for _, dir := range s.options.Reuse {
		wanted := map[ID]bool{}
		for t := range s.planned() {
			wanted[t.ID] = true
		}
		n, err := s.store.take(dir, func(id ID) bool { return wanted[id] })
		if err != nil {
			return err
		}
		s.Taken += n
	}
	return writeDesigns(s.Dir, s.designs)
}

// fits decides which designs the study has.
func (s *Study) fits(d *Design, o Options) error {
	had, err := readDesigns(s.Dir)
	switch {
	case o.Force:
		had = nil
	case err != nil:
		return err
	case had != nil && had[0].Command != "":
		return input.Fault(fmt.Errorf("%s holds a study of railyard %s; choose another --out", s.Dir, had[0].Command))
	case had == nil && foreign(s.Dir):
		return input.Fault(fmt.Errorf("%s holds files but no study; choose another --out", s.Dir))
	case had == nil && o.Add:
		return input.Fault(field.New("--add", "%s holds no study (%s)", s.Dir, ManifestName))
	}
	if n := len(had); n > 0 {
		same := slices.IndexFunc(had, d.same)
		switch {
		case same >= 0:
			had[same] = d // including its points
			s.designs = had
			return nil
		case o.Add:
			err = d.adds(had[0])
		case slices.Equal(d.Set, had[0].Set):
			err = had[0].holds(d)
		}
		for _, h := range had {
			err = cmp.Or(err, h.reads(d))
		}
		switch {
		case err != nil:
			return input.Fault(fmt.Errorf("%s holds a study of %w; accepted: --force to begin anew, another --out", s.Dir, err))
		case !o.Add:
			return input.Fault(fmt.Errorf("%s holds another study (other values); accepted: --add, --force, another --out",
				s.Dir))
		}
	}
	s.designs = append(had, d)
	return nil
}

// adds rejects points of another scenario, version or --set, or with other seeds, because results could not
// distinguish them.
func (d *Design) adds(to *Design) error {
	switch {
	case !slices.Equal(d.scenarios(), to.scenarios()):
		return fmt.Errorf("%s, found %s", strings.Join(to.scenarios(), ", "), strings.Join(d.scenarios(), ", "))
	case !slices.Equal(d.Set, to.Set):
		sets := func(d *Design) string { return cmp.Or(strings.Join(d.Set, " "), "none") }
		return fmt.Errorf("--set %s, found %s", sets(to), sets(d))
	case d.Seeds != to.Seeds:
		return fmt.Errorf("%s per point, found %d", unit.Plural(to.Seeds, "seed"), d.Seeds)
	}
	return to.holds(d)
}

// reads refuses a file of a value that has changed.
func (d *Design) reads(o *Design) error {
	for _, set := range slices.Sorted(maps.Keys(d.Reads)) {
		if now, ok := o.Reads[set]; ok && now != d.Reads[set] {
			return fmt.Errorf("the file of %s as it was before a change", set)
		}
	}
	return nil
}

// foreign reports whether a directory without a study contains files other than those of a killed study.
func foreign(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.Name() != JournalName && !unnamed(e.Name())
	})
}

// unnamed reports whether a file of a study had not yet its final name when its process was killed (package
// output).
func unnamed(name string) bool {
	name, hidden := strings.CutPrefix(name, ".")
	of, pid, ok := strings.Cut(name, "-")
	_, err := strconv.Atoi(pid)
	return hidden && ok && err == nil && slices.Contains([]string{".json", ".csv", ".parquet", ".png"}, filepath.Ext(of))
}

// tidy removes such files.
func tidy(dir string) {
	entries, _ := os.ReadDir(dir) // an unreadable entry is reported by the commands that need it
	for _, e := range entries {
		if unnamed(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// View opens a study's directory for reading, also while a process writes it.
func View(dir string) (*Study, error) {
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return nil, input.Fault(fmt.Errorf("%s is a file, expected the directory of a study", dir))
	}
	designs, err := readDesigns(dir)
	if err == nil && designs == nil {
		err = input.Fault(fmt.Errorf("%s holds no study (%s)", dir, ManifestName))
	}
	if err == nil && designs[0].Command != "" {
		err = input.Fault(fmt.Errorf("%s holds a study of railyard %s; the same command with --study resumes it and prints its results", dir,
			designs[0].Command))
	}
	if err != nil {
		return nil, err
	}
	s := &Study{Dir: dir, File: designs[len(designs)-1].File, designs: designs, from: sources{}, now: time.Now}
	if s.store, err = viewStore(dir); err != nil {
		return nil, err
	}
	s.enumerate()
	return s, nil
}

// Close gives the directory up to others.
func (s *Study) Close() error { return s.store.Close() }

// Abandon closes a study, and removes its directory if Open created it and nothing was written there.
func (s *Study) Abandon() (removed bool) {
	entries, _ := os.ReadDir(s.Dir)
	made := s.made && s.store.Len() == 0
	var names []string
	for _, e := range entries {
		path := filepath.Join(s.Dir, e.Name())
		within, err := os.ReadDir(path)
		own := e.Name() == JournalName || e.Name() == ManifestName || err == nil && len(within) == 0
		made = made && own
		names = append(names, path)
	}
	if made {
		for _, path := range append(names, s.Dir) {
			_ = os.Remove(path)
		}
	}
	_ = s.Close() // without a record nothing is lost
	s.store = &Store{}
	return made
}

// enumerate lists the points of all designs, each once.
func (s *Study) enumerate() {
	s.byID = map[ID]int{}
	for _, d := range s.designs {
		for local := range d.points {
			id := d.id(local, 0, 0)
			if _, ok := s.byID[id]; !ok {
				s.byID[id] = len(s.rows)
				s.rows = append(s.rows, row{d, local})
			}
		}
	}
}

// Points returns the number of points, including the unchanged scenario.
func (s *Study) Points() int { return len(s.rows) }

// Repeated returns the number of requested samples of the last design and the number of different points, if that
// is smaller. Equal samples are simulated once, and samples that miss a requirement are not simulated.
func (s *Study) Repeated() (samples, points int, fewer bool) {
	d := s.designs[len(s.designs)-1]
	if d.Sampler == "morris" || d.Samples == 0 {
		return 0, 0, false
	}
	different := map[ID]bool{}
	for local := range d.points[1:] {
		different[d.id(local+1, 0, 0)] = true
	}
	return d.Samples, len(different), len(different) < d.Samples
}

// Rungs returns the number of rungs, 1 without halving.
func (s *Study) Rungs() int { return max(1, len(s.File.Rungs)) }

// Seeds returns the seeds of a point.
func (s *Study) Seeds(point int) int { return s.rows[point].design.Seeds }

// Planned returns the number of trials if all rungs are reached.
func (s *Study) Planned() (n int) {
	for rung := range s.Rungs() {
		points := len(s.rows)
		for range rung {
			points = s.passed(points)
		}
		n += points * s.File.Seeds
	}
	if s.Rungs() > 1 {
		return n
	}
	n = 0
	for p := range s.rows {
		n += s.Seeds(p)
	}
	return n
}

// passed returns how many points a rung of n passes on, besides the unchanged scenario.
func (s *Study) passed(n int) int { return 1 + max(1, (n-1+s.File.Reduce-1)/max(1, s.File.Reduce)) }

// planned lists the trials of the reached rungs.
func (s *Study) planned() iter.Seq[*Trial] { return s.upTo(s.Rungs() - 1) }

// Missing lists the trials without a record, of the reached rungs.
func (s *Study) Missing() iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		for t := range s.planned() {
			if !s.store.Has(t.ID) && !yield(t) {
				return
			}
		}
	}
}

// upTo lists the trials of the reached rungs, up to the given one.
func (s *Study) upTo(last int) iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		number := 0
		for rung := range last + 1 {
			for _, p := range s.reached(rung) {
				r := s.rows[p]
				for seed := range r.design.Seeds {
					t := &Trial{ID: r.design.id(r.local, seed, rung), Number: number, Point: p, Seed: seed, Rung: rung,
						design: r.design, local: r.local}
					number++
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// reached returns the points of a rung: all on the first, the best of the previous rung on others. It returns none
// until that has been simulated.
func (s *Study) reached(rung int) []int {
	for len(s.alive) <= rung {
		var points []int
		if at := len(s.alive); at == 0 {
			for p := range s.rows {
				if len(s.rows[p].design.Rungs) == s.Rungs() || s.Rungs() == 1 && len(s.rows[p].design.Rungs) == 0 {
					points = append(points, p)
				}
			}
		} else if points = s.promote(at - 1); points == nil {
			return nil
		}
		s.alive = append(s.alive, points)
	}
	return s.alive[rung]
}

// Run simulates the trials that have no record, rung after rung, until ctx ends.
func (s *Study) Run(ctx context.Context) error {
	s.Pool.Expect(s.options.Shard.size(s.Planned()))
	s.next = s.now().Add(firstPartial)
	s.Kept = -1
	for rung := range s.Rungs() {
		var todo []*Trial
		all := 0
		for t := range s.planned() {
			if t.Rung != rung || !s.options.Shard.Has(t.Number) {
				continue
			}
			if all++; !s.store.Has(t.ID) {
				todo = append(todo, t)
			}
		}
		s.Kept = max(s.Kept, 0) + all - len(todo)
		s.Pool.Expect(len(todo) - all)
		if err := s.simulateAll(ctx, todo); err != nil {
			return err
		}
	}
	return s.store.journal.Sync()
}

// simulateAll simulates trials by the engine, or on the pool.
func (s *Study) simulateAll(ctx context.Context, todo []*Trial) error {
	if s.Engine != nil {
		return s.Engine.Simulate(ctx, s, todo)
	}
	return s.Pool.Each(ctx, len(todo), func(i int) error {
		began := s.now()
		r, err := s.simulate(ctx, todo[i])
		if Unfinished(err) {
			s.Leave(err)
			return nil
		}
		if err != nil {
			return err
		}
		r.Seconds = s.now().Sub(began).Seconds()
		return s.Take(todo[i], r)
	})
}

// Unfinished reports whether an error means that a trial needs more memory than this host has.
func Unfinished(err error) bool {
	memory := (*fidelity.ErrMemory)(nil)
	return errors.As(err, &memory) || errors.Is(err, runner.ErrOutgrown)
}

// Leave counts a trial that has no record because of an error.
func (s *Study) Leave(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Short++
	if s.ShortWhy == nil {
		s.ShortWhy = why
	}
}

// Take stores the record of a trial. It may be called by several goroutines.
func (s *Study) Take(t *Trial, r *Record) error {
	r.Label, r.Order, r.Settings = t.label, t.order, t.settings
	if err := s.store.Add(t.ID, r); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(s.Dir, JournalName), input.Reason(err))
	}
	if s.taken != nil {
		s.taken(t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Simulated++
	return s.partial()
}

// simulate returns the record of a trial. The error reports that it has none: it was interrupted, or memory is
// insufficient.
func (s *Study) simulate(ctx context.Context, t *Trial) (r *Record, err error) {
	path, sets := t.design.settings(t.local, t.Rung)
	dir := ""
	if _, all, _ := parseKeep(s.File.Keep); all {
		dir = s.runDir(t)
	}
	resolve := func() (*scenario.Plan, error) { return s.from[path].plan(sets, t.Seed) }
	return perform(ctx, s.Pool, resolve, 0, dir, nil)
}

// Results are written while trials run after firstPartial, then every nextPartial, or more seldom: writing takes a
// twentieth of the time at most.
const (
	firstPartial = 10 * time.Second
	nextPartial  = 30 * time.Second
	partialRest  = 20
)

// partial writes the results so far, at intervals. It is called with mu held.
func (s *Study) partial() error {
	began := s.now()
	if began.Before(s.next) {
		return nil
	}
	err := s.store.journal.Sync()
	if s.designs[0].Command == "" {
		err = cmp.Or(err, s.Write())
	}
	end := s.now()
	s.next = end.Add(max(nextPartial, partialRest*end.Sub(began)))
	return err
}
