package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	simexec "railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
)

const incast = `name: incast
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: dcqcn}
workload: {traffic: {incast: {bytes: 400MB, fan_in: 3}}}
`

func runner(t *testing.T) *Runner {
	t.Helper()
	d, err := scenario.Parse("x", []byte(incast), nil)
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
	return &Runner{Plan: p, Run: run, Version: "test", Began: time.Now()}
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
	plain, often := runner(t), runner(t)
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
	often.first, often.every = 1, 1
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
	r := runner(t)
	if err := r.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	r.Release()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("an unused directory stays: %v", err)
	}
	r = runner(t)
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
	if r = runner(t); r.Reserve(dir, false) == nil {
		t.Error("an earlier run was not noticed")
	}
	if err := r.Reserve(dir, true); err != nil {
		t.Fatal(err)
	}
	r.first, r.every = 1, 1
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
		a, b := runner(t), runner(t)
		if err := a.Reserve(dir, false); err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			if err := b.Reserve(dir, force); !errors.Is(err, result.ErrBusy) {
				t.Errorf("there before: %v, force: %v: %v", there, force, err)
			}
		}
		a.first, a.every = 1, 1
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
	r := runner(t)
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

// A run that is killed with SIGKILL leaves whole tables, marked incomplete.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("RAILYARD_RUN"); dir != "" { // the run itself
		r := runner(t)
		if err := r.Reserve(dir, false); err != nil {
			t.Fatal(err)
		}
		r.first, r.every = 1, 1
		r.Go(func(simexec.Progress) bool {
			if r.Written > 1 && os.Getenv("RAILYARD_GO_ON") == "" {
				time.Sleep(time.Minute) // until it is killed
			}
			return true
		})
		return
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	cmd.Env = append(os.Environ(), "RAILYARD_RUN="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		if _, err := result.ReadSummary(dir); err == nil {
			break
		}
		if i > 30_000 {
			cmd.Process.Kill()
			t.Fatal("nothing was written")
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if s := summary(t, dir); s.Complete || s.StepTime == 0 {
		t.Errorf("%+v", s)
	}
	if ports, err := result.ReadTable[result.PortRow](dir, "ports"); err != nil || len(ports) == 0 {
		t.Errorf("%d ports, %v", len(ports), err)
	}
}

// A run that writes itself all the time is killed at random moments: what is there is
// whole, and what is hidden is one folder, which the next run removes.
func TestKilledWriting(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	seen, most := 0, 400*time.Millisecond
	for i := 0; i < 12 || seen == 0 && i < 20; i++ {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "RAILYARD_RUN="+dir, "RAILYARD_GO_ON=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(most))
		cmd.Process.Kill()
		cmd.Wait()
		if _, err := os.Stat(dir); err != nil {
			most *= 2 // it may have no time yet to write anything
		} else {
			seen++
			if s := summary(t, dir); s.StepTime == 0 {
				t.Errorf("kill %d: %+v", i, s)
			}
			for _, name := range []string{"flows", "links", "ports", "critical"} {
				if _, err := result.TableRows(dir, name); err != nil {
					t.Errorf("kill %d: %s: %v", i, name, err)
				}
			}
		}
		if left, _ := filepath.Glob(filepath.Join(root, ".*")); len(left) > 1 {
			t.Errorf("kill %d: left behind: %v", i, left)
		}
		r := runner(t)
		if err := r.Reserve(filepath.Join(root, "next"), false); err != nil {
			t.Fatal(err)
		}
		r.Release()
		if left, _ := filepath.Glob(filepath.Join(root, ".*")); len(left) > 0 {
			t.Errorf("kill %d: the next run left %v", i, left)
		}
		os.RemoveAll(dir)
	}
	if seen == 0 {
		t.Error("nothing was ever written")
	}
}
