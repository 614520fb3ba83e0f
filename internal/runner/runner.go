// Package runner takes a run from its plan to its directory, and writes what there is
// on the way, so that a run that is killed leaves something to look at.
package runner

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"railyard/internal/capture"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// Runner is one run.
type Runner struct {
	Plan    *scenario.Plan
	Run     *sim.Run
	Dir     string // reserved: see Reserve
	Version string
	Began   time.Time
	// Kept says that an earlier run lies in Dir: it stays there until this one has ended.
	Kept    bool
	Capture *sim.Capture // written as capture.pcapng; nil for none

	// Written says how often the unfinished run was written so far.
	Written int

	wrote        bool
	first, every time.Duration // when an unfinished run is written
	rest         time.Duration // how much longer it is left alone than the writing took
}

// An unfinished run is written after firstWrite for the first time and then every
// nextWrite, or more seldom: writing takes a twentieth of the time at most.
const (
	firstWrite = 5 * time.Second
	nextWrite  = 15 * time.Second
	nextRest   = 20
)

// Reserve makes dir this run's: it is created, so that no other run takes it. With
// force an earlier run may lie there, which stays until the new one has ended.
func (r *Runner) Reserve(dir string, force bool) error {
	if err := result.Prepare(dir, force); err != nil {
		return err
	}
	r.Dir = dir
	entries, err := os.ReadDir(dir)
	if r.Kept = err == nil && len(entries) > 0; r.Kept {
		return nil
	}
	return os.MkdirAll(dir, 0o755)
}

// Fresh reserves a directory in root whose name starts with name and no run has.
func (r *Runner) Fresh(root, name string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	for i := 1; i < 1_000_000; i++ {
		dir := filepath.Join(root, fmt.Sprintf("%s-%03d", name, i))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			r.Dir = dir
			return nil
		}
		if !os.IsExist(err) {
			return err
		}
	}
	return fmt.Errorf("%s is full of runs called %s", root, name)
}

// Release gives a reserved directory back if nothing was written.
func (r *Runner) Release() {
	if !r.Kept {
		os.Remove(r.Dir) // refused unless it is empty
	}
}

// Go simulates and writes the directory, also of a run that watch stopped or that
// can never finish: goErr says why it cannot, err that the writing failed.
func (r *Runner) Go(watch sim.Observer) (s *result.Summary, goErr, err error) {
	if r.every == 0 {
		r.first, r.every, r.rest = firstWrite, nextWrite, nextRest
	}
	began := time.Now()
	due := began.Add(r.first)
	goErr = r.Run.Go(func(p sim.Progress) bool {
		if now := time.Now(); !r.Kept && err == nil && now.After(due) {
			_, err = r.write(false, now.Sub(began), fmt.Sprintf("written after %v of simulated time; the run went on, or was killed", p.Now))
			if err == nil {
				r.Written++
			}
			due = time.Now().Add(max(r.every, r.rest*time.Since(now)))
		}
		return watch == nil || watch(p)
	})
	last, writeErr := r.write(goErr == nil, time.Since(began))
	if writeErr == nil {
		err = nil // what went wrong on the way no longer matters
	} else {
		err = writeErr
	}
	if f := r.Run.Failed(); f != nil && goErr == nil {
		goErr = fmt.Errorf("queue pair %d failed: %v; the step did not finish", f.Conn, f.Status)
	}
	return last, goErr, err
}

// claim makes sure that no other run is overwritten that was given the same directory
// while it was empty: the later one takes a name of its own.
func (r *Runner) claim() error {
	if r.Kept || r.wrote {
		return nil
	}
	if entries, err := os.ReadDir(r.Dir); err != nil || len(entries) == 0 {
		return nil
	}
	return r.Fresh(filepath.Dir(filepath.Clean(r.Dir)), filepath.Base(r.Dir))
}

// write puts what there is into the directory.
func (r *Runner) write(ended bool, took time.Duration, notes ...string) (*result.Summary, error) {
	if err := r.claim(); err != nil {
		return nil, err
	}
	s, t, limits := r.Run.Outcome(r.Version)
	s.Complete = s.Complete && ended
	s.SimSeconds, s.WallSeconds, s.PeakMemory = took.Seconds(), time.Since(r.Began).Seconds(), peakMemory()
	files := []result.File{{Name: "trace.json", Write: func(w io.Writer) error { return result.Trace(w, t) }}}
	if r.Capture != nil {
		files = append(files, result.File{Name: "capture.pcapng", Write: r.pcapng})
		if missed := r.Capture.Missed; missed > 0 {
			limits = append(limits, fmt.Sprintf("the capture holds %d packets; %d more were not recorded", r.Capture.Len(), missed))
		}
	}
	_, values := r.Plan.File.Values()
	m := &result.Manifest{Name: s.Name, Version: s.Version, Seed: s.Seed, Scenario: r.Plan.Text, Configs: r.Plan.Texts, Resolved: values,
		Complete: s.Complete, WallSeconds: s.WallSeconds, Limits: append(limits, notes...)}
	err := result.Write(r.Dir, m, s, t, files...)
	r.wrote = r.wrote || err == nil
	return s, err
}

// pcapng writes the capture, an interface per port, with the simulated time since 1970.
func (r *Runner) pcapng(w io.Writer) error {
	cw, err := capture.NewWriter(w, "railyard "+r.Version, r.Capture.Ports...)
	if err != nil {
		return err
	}
	r.Capture.Frames(func(at unit.Time, iface int, out bool, frame []byte, comment string) {
		cw.Frame(time.Unix(0, int64(at/unit.Nanosecond)), iface, out, frame, comment)
	})
	_, err = cw.Close()
	return err
}

// peakMemory returns the process's largest resident size in bytes, zero where the
// system does not say.
func peakMemory() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss * 1024
}
