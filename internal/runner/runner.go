package runner

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"railyard/internal/capture"
	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Runner is one run.
type Runner struct {
	Plan    *scenario.Plan
	Run     fidelity.Run
	Dir     string // the run's directory: see Reserve; empty: none
	Version string
	Began   time.Time          // [when Go is called]
	Capture *fidelity.Capture  // written as capture.pcapng; nil for none
	Follow  *fidelity.Follower // written as followed.json; nil for none
	// Confirm simulates the estimated parts of a finished run's summary, and returns whether that changed it; nil:
	// estimates remain.
	Confirm func(*result.Summary) bool

	// Written is the number of times that the unfinished run was written.
	Written int
	// Moved is the reason why Dir differs from the reserved one.
	Moved string

	place        *result.Place
	first, every time.Duration    // time of the first report of an unfinished run, and its interval
	rest         time.Duration    // minimum pause between writes, relative to the writing time
	now          func() time.Time // time.Now, but in tests
}

// An unfinished run is written after firstWrite for the first time and then every
// nextWrite, or more seldom: writing takes a twentieth of the time at most.
const (
	firstWrite = 5 * time.Second
	nextWrite  = 15 * time.Second
	nextRest   = 20
)

// Reserve makes dir this run's, locked against others, and tries whether it can be
// written. With force an earlier run may lie there, which stays until the new one has ended.
func (r *Runner) Reserve(dir string, force bool) error {
	p, err := result.Reserve(dir, force)
	return r.take(p, err)
}

// Fresh reserves a directory in root whose name starts with name and no run has.
func (r *Runner) Fresh(root, name string) error {
	p, err := result.Fresh(root, name)
	return r.take(p, err)
}

// take continues in another place.
func (r *Runner) take(p *result.Place, err error) error {
	if err != nil {
		return err
	}
	r.place.Release()
	r.place, r.Dir = p, p.Dir
	return nil
}

// Release gives up an unwritten reservation.
func (r *Runner) Release() { r.place.Release() }

// Go simulates and writes the directory, also of a run that watch stopped or that can never finish: goErr is the
// reason for the latter. err reports that the run is not in its intended directory; Dir is the actual one.
func (r *Runner) Go(watch exec.Observer) (s *result.Summary, goErr, err error) {
	if r.every == 0 {
		r.first, r.every, r.rest = firstWrite, nextWrite, nextRest
	}
	if r.now == nil {
		r.now = time.Now
	}
	began := r.now()
	if r.Began.IsZero() {
		r.Began = began
	}
	due := began.Add(r.first)
	goErr = r.Run.Go(func(p exec.Progress) bool {
		if now := r.now(); !r.place.Earlier && err == nil && now.After(due) {
			_, err = r.write(false, now.Sub(began),
				fmt.Sprintf("written after %v of simulated time; the run went on, or was killed", p.Now))
			if err == nil {
				r.Written++
			}
			end := r.now()
			due = end.Add(max(r.every, r.rest*end.Sub(now)))
		}
		return watch == nil || watch(p)
	})
	s, err = r.write(goErr == nil, r.now().Sub(began))
	if err != nil {
		err = r.elsewhere(err, goErr == nil, r.now().Sub(began))
	}
	if f := r.Run.Failed(); f != nil && goErr == nil && s.Outcome == nil {
		goErr = fmt.Errorf("%w; the step did not finish", f)
	}
	return s, goErr, err
}

// claim prevents overwriting another run: one created in the directory since, or a finished one by an unfinished one.
func (r *Runner) claim(complete bool) error {
	switch {
	case r.place.Taken():
		r.Moved = fmt.Sprintf("files of another program have come into %s meanwhile", r.Dir)
	case r.place.Whole && !complete:
		r.Moved = fmt.Sprintf("the finished run in %s stays", r.Dir)
	default:
		return nil
	}
	p, err := r.place.Aside()
	return r.take(p, err)
}

// elsewhere writes a run to another directory if its own cannot be written.
func (r *Runner) elsewhere(why error, ended bool, took time.Duration) error {
	dir := r.Dir
	for _, root := range fallbacks() {
		if r.Fresh(root, "railyard-"+r.name()) != nil {
			continue
		}
		if _, err := r.write(ended, took, "written here because "+why.Error()); err == nil {
			r.Moved = fmt.Sprintf("%s cannot be written", dir)
			return fmt.Errorf("%w; the run is in %s instead of %s", why, r.Dir, dir)
		}
	}
	r.Dir = ""
	return fmt.Errorf("%w; nor could the run be written to any of %v: only its report is left", why, fallbacks())
}

// fallbacks are folders for a run whose own folder cannot be written.
func fallbacks() []string {
	list := []string{os.TempDir()}
	if dir, err := os.UserCacheDir(); err == nil {
		list = append(list, filepath.Join(dir, "railyard"))
	}
	return list
}

// name is the run's, as a file's.
func (r *Runner) name() string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, r.Plan.Name)
	return name[:min(len(name), 80)]
}

// write writes the results so far into the directory; the summary is returned in any case.
func (r *Runner) write(ended bool, took time.Duration, notes ...string) (*result.Summary, error) {
	s, t, limits := r.Run.Outcome(r.Version)
	s.Complete = s.Complete && ended
	if !ended || r.Run.Interrupted() {
		s.Outcome = nil // the outcome is not reached yet
	}
	whole := s.Complete || s.Outcome != nil
	if ended && r.Confirm != nil && r.Confirm(s) {
		t.Saves(s.Chain)
	}
	s.SimSeconds, s.WallSeconds, s.PeakMemory = took.Seconds(), r.now().Sub(r.Began).Seconds(), peakMemory()
	if err := r.claim(whole); err != nil {
		return s, err
	}
	files := []result.File{{Name: "trace.json", Write: func(w io.Writer) error { return result.Trace(w, t) }}}
	if r.Capture != nil {
		files = append(files, result.File{Name: "capture.pcapng", Write: r.pcapng})
		if missed := r.Capture.Missed; missed > 0 {
			limits = append(limits, fmt.Sprintf("the capture holds %s; %d more were not recorded",
				unit.Plural(r.Capture.Len(), "packet"), missed))
		}
	}
	if r.Follow != nil {
		files = append(files, result.Following(r.Follow.Packets()))
	}
	_, values := r.Plan.Resolved()
	m := &result.Manifest{Name: s.Name, Version: s.Version, Seed: s.Seed, Scenario: r.Plan.Text(), Set: r.Plan.Sets(),
		Configs: texts(r.Plan), Resolved: values,
		Complete: whole, WallSeconds: s.WallSeconds, Limits: append(limits, notes...)}
	return s, r.place.Write(m, s, t, files...)
}

// texts are the input files of a plan besides its scenario.
func texts(p *scenario.Plan) map[string]string {
	all := map[string]string{}
	for _, some := range []map[string]string{p.Inputs(), p.Machines, p.Texts} {
		maps.Copy(all, some)
	}
	return all
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

// peakMemory returns the process's maximum resident size in bytes, zero if unknown.
func peakMemory() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss * 1024
}
