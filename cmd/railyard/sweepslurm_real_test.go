package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real Slurm runs a study as an array, to the bytes of this process. A driver that is killed while the array
// waits leaves it to the next driver, which submits nothing, or to the job after the array.
func TestRealSlurmSweep(t *testing.T) {
	t.Parallel()
	c := startSlurm(t, "slsw")
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(c.dir, "small.yaml")
	if err := os.WriteFile(scenario, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	study := func(out string, more ...string) []string {
		return append([]string{"sweep", scenario, "--grid", "lb=ecmp,spray", "--seeds", "10", "--out",
			filepath.Join(c.dir, out)}, more...)
	}
	if code, out, errs := call(t, study("alone")...); code != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	cmd := c.command(executable, study("array", "--engine", "slurm", "--parts", "3", "--sbatch=--cpus-per-task=1 --mem=0")...)
	cmd.Env = append(cmd.Env, "RAILYARD_CHILD=stdin")
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "an array of 3") || !strings.Contains(string(said), "30 done") {
		logs, _ := filepath.Glob(filepath.Join(c.dir, "array", "slurm", "1", "*.log"))
		for _, l := range logs {
			b, _ := os.ReadFile(l)
			said = append(said, b...)
		}
		t.Fatalf("%v: %s", err, said)
	}
	driver := func(out, log string) *exec.Cmd {
		t.Helper()
		cmd := c.command(executable, study(out, "--engine", "slurm", "--parts", "3", "--sbatch=--mem=0 --hold")...)
		cmd.Env = append(cmd.Env, "RAILYARD_CHILD=stdin")
		said, err := os.Create(filepath.Join(c.dir, log))
		if err == nil {
			defer said.Close()
			cmd.Stdout, cmd.Stderr = said, said
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	killed := func(out string) (array, join string) { // the jobs of a driver that was killed
		t.Helper()
		first := driver(out, "first.log")
		until(t, "the array is submitted", func() bool {
			jobs, _ := os.ReadFile(filepath.Join(c.dir, out, "slurm", "1", "job"))
			array, join, _ = strings.Cut(strings.TrimSpace(string(jobs)), "\n")
			return len(jobs) > 0
		})
		first.Process.Kill()
		first.Wait()
		return array, join
	}
	release := func(job string) {
		t.Helper()
		if out, err := c.command("scontrol", "release", job).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	waits := func(job string) bool {
		out, _ := c.command("squeue", "-h", "-o", "%i", "-j", job).CombinedOutput()
		return strings.Contains(string(out), job)
	}
	array, join := killed("held")
	second := driver("held", "second.log")
	until(t, "the next driver finds the array", func() bool {
		said, _ := os.ReadFile(filepath.Join(c.dir, "second.log"))
		return strings.Contains(string(said), "job "+array+" still runs")
	})
	release(array)
	if err := second.Wait(); err != nil {
		said, _ := os.ReadFile(filepath.Join(c.dir, "second.log"))
		t.Fatalf("%v: %s", err, said)
	}
	if rounds, _ := os.ReadDir(filepath.Join(c.dir, "held", "slurm")); len(rounds) != 1 {
		t.Errorf("%d submissions", len(rounds))
	}
	until(t, "the collecting job is cancelled", func() bool { return !waits(join) })
	array, join = killed("left")
	release(array)
	release(join)
	until(t, "the collecting job ends", func() bool { return !waits(join) })
	var results [4][]byte
	for i, name := range []string{"alone", "array", "held", "left"} {
		if results[i], err = os.ReadFile(filepath.Join(c.dir, name, "results.parquet")); err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range results[1:] {
		if !bytes.Equal(results[0], other) {
			t.Error("an array's results differ from those of one process")
		}
	}
}
