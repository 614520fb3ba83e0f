package web

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/whatif"
	"railyard/unit"
)

// Simulation is a simulation that the page started.
type Simulation struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	State      string  `json:"state"` // running, done, failed, cancelled
	Error      string  `json:"error,omitempty"`
	Run        string  `json:"run,omitempty"` // its directory, once a file is written
	Now        int64   `json:"now_ps"`
	Bytes      int64   `json:"delivered_bytes"`
	Total      int64   `json:"total_bytes"`
	PacketHops int64   `json:"packet_hops"`
	Ops        int     `json:"operations"`
	OpsLeft    int     `json:"operations_left"`
	Seconds    float64 `json:"seconds"`
	Rate       float64 `json:"hops_per_second"`
	Left       float64 `json:"seconds_left"` // estimated from the delivered bytes; 0: unknown
	SoFar      *SoFar  `json:"so_far,omitempty"`
	Of         string  `json:"of,omitempty"` // the run that it is a variant of
	// Sets are the settings by which it differs from that run, or from its scenario.
	Sets     []string `json:"sets,omitempty"`
	dir      string   // reserved
	stopping *atomic.Bool
	began    time.Time
	asked    time.Time // somebody looked
	told     time.Time // when the partial results were computed
}

// SoFar is the partial results of a running simulation.
type SoFar struct {
	Fidelity    string              `json:"fidelity"`
	Marks       int64               `json:"ecn_marks"`
	Pauses      int64               `json:"pfc_pauses"`
	Drops       int64               `json:"drops"`
	QueuePeak   int64               `json:"queue_peak_bytes"`
	Hottest     []result.LinkLoad   `json:"hottest"`
	Collectives []result.Collective `json:"collectives"`
}

// maxRunning is the maximum of concurrent simulations, maxJobs of remembered ones.
const (
	maxRunning = 2
	maxJobs    = 100
)

// maxSoFar is the maximum number of operations of a run that is summarized while it runs, because that takes long.
const maxSoFar = 1_000_000

type jobs struct {
	root, version string
	now           func() time.Time // time.Now, but in tests
	mu            sync.Mutex
	changed       sync.Cond // a simulation has gone on, or ended
	next          int
	building      int // plans of jobs that are about to run
	closed        bool
	byID          map[string]*Simulation
	wait          sync.WaitGroup
}

func newJobs(root, version string) *jobs {
	j := &jobs{root: root, version: version, now: time.Now, byID: map[string]*Simulation{}}
	j.changed.L = &j.mu
	return j
}

// resolve builds the plan of a scenario. Only shipped files that it names are read, because a page must not be able
// to read files next to the runs.
func resolve(r request) (*scenario.Plan, error) {
	d, err := r.document()
	if err != nil {
		return nil, err
	}
	return d.Resolve(r.read)
}

// document parses the scenario.
func (r *request) document() (*scenario.Document, error) {
	if len(r.Text) > scenario.MaxSize {
		return nil, &InputError{fmt.Sprintf("the scenario has %d bytes, at most %d are read", len(r.Text),
			scenario.MaxSize)}
	}
	return scenario.Parse(cmp.Or(r.name, "scenario"), []byte(r.Text), r.Sets)
}

// read reads a file that the scenario names if it is a shipped one.
func (r *request) read(name string) ([]byte, error) {
	if r.files != nil {
		if text, err := r.files(name); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("the page reads no files: run a scenario that names %s from the shell", name)
}

// start begins a simulation. It is counted as running before the fabric is built: of a hundred concurrent requests two
// build.
func (j *jobs) start(r request) (Simulation, error) {
	if err := j.enter(); err != nil {
		return Simulation{}, err
	}
	defer j.leave()
	plan, run, err := build(r)
	if err != nil {
		return Simulation{}, err
	}
	tap, follow, err := r.Trace.attach(run.Run)
	if err != nil {
		return Simulation{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed { // while it was built; close waits for those that have begun
		return Simulation{}, &InputError{"the server is stopping"}
	}
	if len(j.byID) >= maxJobs {
		j.forget()
	}
	j.next++
	x := &Simulation{ID: strconv.Itoa(j.next), Title: plan.Name, State: "running", stopping: &atomic.Bool{},
		began: j.now(), Ops: plan.Ops(), OpsLeft: plan.Ops(), Of: r.Of, Sets: r.changed()}
	if x.Title == "" {
		x.Title = "run"
	}
	j.byID[x.ID] = x
	j.wait.Add(1)
	go j.run(x, r.Trace, &runner.Runner{Plan: plan, Run: run, Version: j.version, Began: x.began, Capture: tap,
		Follow: follow}, run)
	return *x, nil
}

// leave frees the slot of a job that runs by now, or never will.
func (j *jobs) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.building--
}

// memory is a simulation's share of the available memory; a test sets it.
var memory = func() unit.Bytes { return runner.Memory() / maxRunning }

// build prepares the simulation that a request describes.
func build(r request) (*scenario.Plan, *fidelity.Simulation, error) {
	plan, err := resolve(r)
	if err != nil {
		return nil, nil, err
	}
	run, err := fidelity.New(plan.Fidelity, plan, memory())
	if err != nil {
		return nil, nil, &InputError{err.Error()}
	}
	return plan, run, nil
}

// enter takes a place among the simulations that run.
func (j *jobs) enter() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := j.building
	for _, x := range j.byID {
		if x.State == "running" {
			running++
		}
	}
	if running >= maxRunning {
		return &InputError{fmt.Sprintf("%s are running already; wait for one or cancel it",
			unit.Plural(running, "simulation"))}
	}
	j.building++
	return nil
}

// forget drops the oldest job that has ended.
func (j *jobs) forget() {
	var oldest *Simulation
	for _, x := range j.byID {
		if x.State != "running" && (oldest == nil || x.began.Before(oldest.began)) {
			oldest = x
		}
	}
	if oldest != nil {
		delete(j.byID, oldest.ID)
	}
}

// run simulates, and writes the run's directory also when it was cancelled.
func (j *jobs) run(x *Simulation, trace *Trace, r *runner.Runner, run *fidelity.Simulation) {
	defer j.wait.Done()
	dir, err := j.simulate(x, trace, r, run)
	j.mu.Lock()
	defer j.mu.Unlock()
	defer j.changed.Broadcast()
	switch {
	case err != nil:
		x.State, x.Error = "failed", err.Error()
	case run.Interrupted() && x.stopping.Load():
		x.State = "cancelled"
	default:
		x.State = "done"
	}
	if dir != "" {
		x.Run = filepath.Base(dir)
	}
}

func (j *jobs) simulate(x *Simulation, trace *Trace, r *runner.Runner, run *fidelity.Simulation) (dir string,
	err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this is a fault of Railyard: %v\n%s", p, debug.Stack())
		}
	}()
	plan := r.Plan
	name := safe.ReplaceAllString(x.Title, "-")
	if err := r.Fresh(j.root, name[:min(len(name), 80)]); err != nil {
		return "", err
	}
	defer r.Release()
	j.mu.Lock()
	x.dir = filepath.Base(r.Dir)
	j.mu.Unlock()
	r.Confirm = func(s *result.Summary) bool {
		limits, small := whatif.Small(s)
		limits.Watch = func(exec.Progress) bool { return !x.stopping.Load() }
		return small && whatif.Confirm(plan, s, limits)
	}
	_, goErr, err := r.Go(func(p exec.Progress) bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		x.Now, x.Bytes, x.Total, x.PacketHops, x.Ops, x.OpsLeft = int64(p.Now), int64(p.Delivered),
			int64(p.Total), p.PacketHops, p.Ops, p.OpsLeft
		now := j.now()
		x.Seconds = now.Sub(x.began).Seconds()
		if r.Written > 0 {
			x.Run = x.dir
		}
		x.Rate = float64(p.PacketHops) / x.Seconds
		if p.Delivered > 0 && p.Total > p.Delivered {
			x.Left = x.Seconds * float64(p.Total-p.Delivered) / float64(p.Delivered)
		}
		if now.Sub(x.asked) < 3*time.Second && now.Sub(x.told) > time.Second && plan.Ops() < maxSoFar {
			s, _, _ := run.Outcome(j.version) // between two events; it reads only
			x.SoFar = &SoFar{s.Fidelity, s.ECNMarks, s.PFCPauses, s.Drops, s.QueuePeak, s.Links.Hottest, s.Collectives}
			x.told = j.now()
		}
		j.changed.Broadcast()
		return !x.stopping.Load() && !trace.ends(p.Now)
	})
	if filepath.Dir(r.Dir) != filepath.Clean(j.root) { // err has its actual directory
		return "", errors.Join(goErr, err)
	}
	return r.Dir, errors.Join(goErr, err)
}

// safe matches invalid characters of a run directory's name.
var safe = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

func (j *jobs) list() []Simulation {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := []Simulation{}
	for _, x := range j.byID {
		x.asked = j.now()
		out = append(out, *x)
	}
	sort.Slice(out, func(a, b int) bool { return out[a].began.After(out[b].began) })
	return out
}

// reserved reports whether a directory belongs to a running job.
func (j *jobs) reserved(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, x := range j.byID {
		if x.State == "running" && x.dir == name {
			return true
		}
	}
	return false
}

func (j *jobs) stop(id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := j.byID[id]
	if x == nil {
		return &InputError{fmt.Sprintf("unknown job %q", id)}
	}
	x.stopping.Store(true)
	return nil
}

func (j *jobs) close() {
	j.mu.Lock()
	j.closed = true
	for _, x := range j.byID {
		x.stopping.Store(true)
	}
	j.mu.Unlock()
	j.wait.Wait()
}
