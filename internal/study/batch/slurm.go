package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/study/sweep"
)

// Slurm is a sweep.Engine that submits an array and collects its records from the shared file system.
type Slurm struct {
	Folder
	Program string   // path of this program on all nodes
	Parts   int      // of the array
	Options []string // further options of sbatch
	Say     func(words string)

	job string
}

// jobName is the file of a round with the number of its job.
const jobName = "job"

// Simulate submits the trials that have no record, unless an array of an earlier driver is still there, and takes
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
	return j.follow(ctx, work{
		ended:  func() bool { return !e.waiting() },
		cancel: func() { _ = exec.Command("scancel", e.job).Run() },
		why:    fmt.Errorf("job %s ended without it (see %s)", e.job, filepath.Join(e.Dir, "*", "*.log")),
	})
}

// submit submits an array for trials, or finds the one that works on them.
func (e *Slurm) submit(s *sweep.Study, left []*sweep.Trial) error {
	all, err := e.rounds()
	if err != nil {
		return err
	}
	if n := len(all); n > 0 {
		text, err := input.Text(filepath.Join(e.Dir, fmt.Sprint(all[n-1]), jobName), 1000)
		if e.job = strings.TrimSpace(string(text)); err == nil && e.job != "" && e.waiting() {
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
	script := filepath.Join(round, "array.sh")
	text := fmt.Sprintf("#!/bin/sh\nexec %s worker --tasks %s --part \"$SLURM_ARRAY_TASK_ID/%d\"\n", quoted(e.Program),
		quoted(round), parts)
	if err := output.WriteBytes(script, true, []byte(text)); err != nil {
		return err
	}
	args := append([]string{"--parsable", fmt.Sprintf("--array=1-%d", parts), "--job-name=railyard",
		"--output=" + filepath.Join(round, "%a.log")}, e.Options...)
	cmd := exec.Command("sbatch", append(args, script)...)
	said, err := cmd.Output()
	if err != nil {
		why := err.Error()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			why = strings.TrimSpace(string(exit.Stderr))
		}
		_ = os.RemoveAll(round)
		return fmt.Errorf("sbatch: %s", why)
	}
	e.job, _, _ = strings.Cut(strings.TrimSpace(string(said)), ";")
	e.Say(fmt.Sprintf("job %s: an array of %d", e.job, parts))
	return output.WriteBytes(filepath.Join(round, jobName), true, []byte(e.job+"\n"))
}

// waiting reports whether the job is in the queue.
func (e *Slurm) waiting() bool {
	said, err := exec.Command("squeue", "-h", "-j", e.job).CombinedOutput()
	if err != nil {
		return !strings.Contains(string(said), "Invalid job id")
	}
	return len(strings.TrimSpace(string(said))) > 0
}
