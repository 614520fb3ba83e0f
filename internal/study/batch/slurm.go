package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/study/sweep"
)

// Slurm is a sweep.Engine that submits an array and collects its records from the shared file system. A second job,
// which depends on the array, does so if the driver has ended.
type Slurm struct {
	Folder
	Program string   // path of this program on all nodes
	Parts   int      // of the array
	Options []string // further options of sbatch
	Say     func(words string)

	job, join string // numbers of the array and of the job after it
}

// jobName is the file of a round with the numbers of its jobs.
const jobName = "job"

// Simulate submits the trials without a record, unless an array of an earlier driver still exists, and collects
// records until the array has ended.
func (e *Slurm) Simulate(ctx context.Context, s *sweep.Study, trials []*sweep.Trial) error {
	for _, program := range []string{"sbatch", "squeue", "scancel"} {
		if err := needs("slurm", program, exec.LookPath); err != nil {
			return err
		}
	}
	j, err := e.begin(s, trials)
	if err != nil || len(j.open) == 0 {
		return err
	}
	if err := e.submit(s, j.left(trials)); err != nil {
		return err
	}
	if e.join != "" {
		defer func() { _ = exec.Command("scancel", e.join).Run() }() // no tasks are left for the array
	}
	return j.follow(ctx, work{
		ended:  func() bool { return !e.waiting() },
		cancel: func() { _ = exec.Command("scancel", e.job).Run() },
		why:    fmt.Errorf("job %s ended without it (see %s)", e.job, filepath.Join(e.Dir, "*", "*.log")),
	})
}

// submit submits an array for trials, or finds the running one.
func (e *Slurm) submit(s *sweep.Study, left []*sweep.Trial) error {
	all, err := e.rounds()
	if err != nil {
		return err
	}
	if n := len(all); n > 0 {
		text, err := input.Text(filepath.Join(e.Dir, fmt.Sprint(all[n-1]), jobName), 1000)
		e.job, e.join, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
		if err == nil && e.job != "" && e.waiting() {
			e.Say(fmt.Sprintf("job %s still runs", e.job))
			return nil
		}
	}
	round, err := e.Put(s, left)
	if err != nil {
		return err
	}
	if round, err = filepath.Abs(round); err != nil {
		return err
	}
	parts := min(e.Parts, len(left))
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return err
	}
	e.job, err = e.sbatch(filepath.Join(round, "array.sh"), fmt.Sprintf("%s worker --tasks %s --part \"$SLURM_ARRAY_TASK_ID/%d\"",
		quoted(e.Program), quoted(round), parts), fmt.Sprintf("--array=1-%d", parts), "--output="+filepath.Join(round, "%a.log"))
	if err != nil {
		_ = os.RemoveAll(round)
		return err
	}
	e.join, err = e.sbatch(filepath.Join(round, "join.sh"), fmt.Sprintf("%s sweep merge %[2]s --out %[2]s", quoted(e.Program),
		quoted(dir)), "--dependency=afterany:"+e.job, "--output="+filepath.Join(round, "join.log"))
	if err != nil {
		_ = exec.Command("scancel", e.job).Run()
		return err
	}
	e.Say(fmt.Sprintf("job %s: an array of %d; job %s collects its results if this process ends before it", e.job, parts, e.join))
	return output.WriteBytes(filepath.Join(round, jobName), true, []byte(e.job+"\n"+e.join+"\n"))
}

// sbatch submits a script with a command and returns the number of the job.
func (e *Slurm) sbatch(script, command string, options ...string) (job string, err error) {
	if err := output.WriteBytes(script, true, []byte("#!/bin/sh\nexec "+command+"\n")); err != nil {
		return "", err
	}
	args := slices.Concat([]string{"--parsable", "--job-name=railyard"}, options, e.Options, []string{script})
	said, err := exec.Command("sbatch", args...).Output()
	if err != nil {
		why := err.Error()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			why = strings.TrimSpace(string(exit.Stderr))
		}
		return "", fmt.Errorf("sbatch: %s", why)
	}
	job, _, _ = strings.Cut(strings.TrimSpace(string(said)), ";")
	return job, nil
}

// waiting reports whether the job is in the queue.
func (e *Slurm) waiting() bool {
	said, err := exec.Command("squeue", "-h", "-j", e.job).CombinedOutput()
	if err != nil {
		return !strings.Contains(string(said), "Invalid job id")
	}
	return len(strings.TrimSpace(string(said))) > 0
}
