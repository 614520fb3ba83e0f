package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	simexec "railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

const incast = `name: incast
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: dcqcn}
workload: {traffic: {incast: {bytes: 400MB, fan_in: 3}}}
`

// runner simulates three senders to one receiver, with a clock that stands still.
func runner(t *testing.T, bytes string) *Runner {
	t.Helper()
	d, err := scenario.Parse("x", []byte(strings.Replace(incast, "400MB", bytes, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &Runner{Plan: p, Run: run, Version: "test", now: func() time.Time { return time.Time{} }}
}

// staged is a run that was simulated before, and whose results come in five parts.
type staged struct {
	fidelity.Run
	parts int // that have come
	ends  bool
}

func inParts(t *testing.T) *Runner {
	t.Helper()
	r := runner(t, "1MB")
	if err := r.Run.Go(nil); err != nil {
		t.Fatal(err)
	}
	r.Run = &staged{Run: r.Run}
	return r
}

func (s *staged) Go(watch simexec.Observer) error {
	for s.parts = 1; watch != nil && s.parts < 5; s.parts++ {
		if !watch(simexec.Progress{Now: unit.Time(s.parts) * unit.Microsecond}) {
			return nil
		}
	}
	s.parts, s.ends = 5, true
	return nil
}

func (s *staged) Interrupted() bool { return !s.ends }

func (s *staged) Outcome(version string) (*result.Summary, *result.Tables, []string) {
	sum, tables, limits := s.Run.Outcome(version)
	sum.StepTime, sum.Complete = sum.StepTime*int64(s.parts)/5, s.ends
	return sum, tables, limits
}

// often makes a runner write its unfinished run whenever it has made progress.
func (r *Runner) often() {
	r.first, r.every = 1, 1
	now := time.Time{}
	r.now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func summary(t *testing.T, dir string) *result.Summary {
	t.Helper()
	s, err := result.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What there is on the way is written whole, as incomplete, and writing it changes
// nothing of what follows.
func TestOnTheWay(t *testing.T) {
	root := t.TempDir()
	plain, often := runner(t, "400MB"), runner(t, "400MB")
	if err := plain.Fresh(root, "run"); err != nil {
		t.Fatal(err)
	}
	if err := often.Fresh(root, "run"); err != nil {
		t.Fatal(err)
	}
	if plain.Dir == often.Dir {
		t.Fatal("two runs in one directory")
	}
	if _, goErr, err := plain.Go(nil); goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
	often.often()
	written, last := 0, int64(0)
	_, goErr, err := often.Go(func(simexec.Progress) bool {
		s, err := result.ReadSummary(often.Dir)
		if err != nil {
			return true // the next one is not due yet
		}
		if s.Complete || s.StepTime <= last {
			t.Errorf("on the way: %+v", s)
		}
		if flows, err := result.ReadTable[result.FlowRow](often.Dir, "flows"); err != nil || len(flows) > 3 {
			t.Errorf("%d flows, %v", len(flows), err)
		}
		written++
		last = s.StepTime
		return true
	})
	if goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
	if written < 2 || often.Written < written || plain.Written > 0 {
		t.Fatalf("written %d times on the way, %d counted; %d without need", written, often.Written,
			plain.Written)
	}
	entries, _ := os.ReadDir(plain.Dir)
	for _, e := range entries {
		a, _ := os.ReadFile(filepath.Join(plain.Dir, e.Name()))
		b, _ := os.ReadFile(filepath.Join(often.Dir, e.Name()))
		if e.Name() == "summary.json" || e.Name() == "run.json" {
			a, b = timeless(t, a), timeless(t, b)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs once the run was written on the way", e.Name())
		}
	}
	plain.Release()
	often.Release()
	if left, _ := filepath.Glob(filepath.Join(root, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// timeless drops what differs between any two runs.
func timeless(t *testing.T, b []byte) []byte {
	m := map[string]any{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"wall_seconds", "sim_seconds", "peak_memory_bytes"} {
		delete(m, k)
	}
	b, _ = json.Marshal(m)
	return b
}

// An earlier run stays until the new one has ended; what holds something else is left
// alone; what was reserved and not used is given back.
func TestReserve(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	r := inParts(t)
	if err := r.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	r.Release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("an unused directory stays: %v", err)
	}
	r = inParts(t)
	if err := r.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	if _, goErr, err := r.Go(nil); goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
	r.Release()
	whole := summary(t, dir)
	if !whole.Complete {
		t.Errorf("%+v", whole)
	}
	if r = inParts(t); r.Reserve(dir, false) == nil {
		t.Error("an earlier run was not noticed")
	}
	if err := r.Reserve(dir, true); err != nil {
		t.Fatal(err)
	}
	r.often()
	n := 0
	if _, _, err := r.Go(func(simexec.Progress) bool {
		if s := summary(t, dir); s.StepTime != whole.StepTime || !s.Complete {
			t.Errorf("the earlier run is gone before the new one has ended: %+v", s)
		}
		n++
		return n < 3
	}); err != nil {
		t.Fatal(err)
	}
	if s := summary(t, dir); !s.Complete || r.Dir != dir+"-001" || r.Moved == "" {
		t.Errorf("the finished run was given up for one that was interrupted: %+v, %s", s, r.Dir)
	}
	if s := summary(t, r.Dir); s.Complete || s.StepTime >= whole.StepTime {
		t.Errorf("%+v", s)
	}
}

// Of two runs that were given one directory one gets it, whether it was there or not, and
// whether or not the other has written already.
func TestSameDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		a, b := inParts(t), inParts(t)
		if err := a.Reserve(dir, false); err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if err := b.Reserve(dir, force); !errors.Is(err, result.ErrBusy) {
				t.Errorf("there before: %v, force: %v: %v", there, force, err)
			}
		}
		a.often()
		if _, goErr, err := a.Go(nil); goErr != nil || err != nil {
			t.Fatal(goErr, err)
		}
		if err := b.Reserve(dir, true); !errors.Is(err, result.ErrBusy) {
			t.Errorf("written, but not released: %v", err)
		}
		a.Release()
		if err := b.Reserve(dir, true); err != nil {
			t.Error(err)
		}
		b.Release()
		os.RemoveAll(dir)
	}
}

// Somebody who knows nothing of locks puts files into the directory meanwhile: they stay,
// and the run is beside them.
func TestTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r := inParts(t)
	if err := r.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(dir, 0o755)
	os.WriteFile(filepath.Join(dir, "notes"), nil, 0o644)
	if _, goErr, err := r.Go(nil); goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
	r.Release()
	if _, err := os.Stat(filepath.Join(dir, "notes")); err != nil || r.Dir != dir+"-001" ||
		!summary(t, r.Dir).Complete {
		t.Errorf("written to %s; %v", r.Dir, err)
	}
}

// An unfinished run is written after 5 s, and then when 15 s have passed since, or twenty times as long as the
// writing took.
func TestWhenUnfinishedRunsAreWritten(t *testing.T) {
	for _, c := range []struct {
		takes   time.Duration // the writing
		at      []int         // seconds at which there is progress, without writing
		written []int         // how often by then
	}{
		{0, []int{4, 6, 20, 22}, []int{0, 1, 1, 2}},
		{2 * time.Second, []int{4, 6, 45, 47}, []int{0, 1, 1, 2}},
	} {
		r := inParts(t)
		if err := r.Fresh(t.TempDir(), "run"); err != nil {
			t.Fatal(err)
		}
		var spent time.Duration
		var written []int
		looks := -1 // at the clock: when there is progress, while the run is written, and behind that
		r.now = func() time.Time {
			if looks++; looks == 3 {
				spent += c.takes
			}
			if looks == 0 {
				return time.Time{}
			}
			at := c.at[min(len(written), len(c.at)-1)]
			return time.Time{}.Add(time.Duration(at)*time.Second + spent)
		}
		if _, goErr, err := r.Go(func(simexec.Progress) bool {
			written = append(written, r.Written)
			looks = 0
			return len(written) < len(c.at)
		}); goErr != nil || err != nil {
			t.Fatal(goErr, err)
		}
		if !slices.Equal(written, c.written) {
			t.Errorf("writing takes %v: written %v times at %v, want %v", c.takes, written, c.at, c.written)
		}
		r.Release()
	}
}

// A run that comes to need more memory than it may use ends with that error; one that has ended does not, where it is
// simulated again to confirm what it says.
func TestGuardedAfterTheEnd(t *testing.T) {
	for _, ends := range []bool{false, true} {
		run := &fidelity.Simulation{Run: &staged{ends: ends}, Limit: 1}
		err := Guarded(run, func(simexec.Progress) bool { return true }, func(watch simexec.Observer) error {
			if watch(simexec.Progress{}) {
				t.Error("more memory than the limit does not stop it")
			}
			return nil
		})
		if stopped := err != nil && strings.Contains(err.Error(), "--memory"); stopped == ends {
			t.Errorf("ended %v: %v", ends, err)
		}
	}
}
