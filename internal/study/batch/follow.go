package batch

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"railyard/internal/runner"
	"railyard/internal/study/sweep"
)

// Times between looks at the folder, and at the batch system's queue.
const (
	look     = time.Second
	lookJobs = 5 * time.Second
)

// journey is a study whose trials the parts of a folder simulate.
type journey struct {
	folder *Folder
	study  *sweep.Study
	open   map[string]*sweep.Trial
}

// begin reads the records that an earlier driver has left in the folder.
func (f *Folder) begin(s *sweep.Study, trials []*sweep.Trial) (*journey, error) {
	j := &journey{f, s, map[string]*sweep.Trial{}}
	for _, t := range trials {
		j.open[t.ID.String()] = t
	}
	return j, j.collect()
}

// Join collects the records that arrays of Slurm and Jobs of Kubernetes have written for a study without its
// driver, from the study's directory or a copy.
func Join(s *sweep.Study, dir string) error {
	for _, engine := range []string{"slurm", "kubernetes"} {
		f := &Folder{Dir: filepath.Join(dir, engine)}
		if _, err := f.begin(s, slices.Collect(s.Missing())); err != nil {
			return err
		}
	}
	return nil
}

// left returns the trials without a record.
func (j *journey) left(trials []*sweep.Trial) (left []*sweep.Trial) {
	for _, t := range trials {
		if j.open[t.ID.String()] != nil {
			left = append(left, t)
		}
	}
	return left
}

// collect takes the records of open trials.
func (j *journey) collect() error {
	return j.folder.Collect(func(r *sweep.Record) error {
		t := j.open[r.Trial]
		if t == nil {
			return nil
		}
		delete(j.open, r.Trial)
		j.study.Pool.Finished()
		return j.study.Take(t, r)
	})
}

// work is a job of a batch system.
type work struct {
	ended  func() bool // reports that it has ended
	cancel func()
	why    error // reason of trials that have no record
}

// follow collects records until none is missing, the job has ended, or ctx has, which cancels the job.
func (j *journey) follow(ctx context.Context, w work) error {
	for asked := time.Now(); ; {
		select {
		case <-ctx.Done():
			w.cancel()
			return errors.Join(runner.ErrInterrupted, j.collect())
		case <-time.After(look):
		}
		ended := false
		if time.Since(asked) >= lookJobs {
			ended, asked = w.ended(), time.Now()
		}
		if err := j.collect(); err != nil || len(j.open) == 0 {
			return err
		}
		if ended {
			for range j.open {
				j.study.Leave(w.why)
			}
			return nil
		}
	}
}
