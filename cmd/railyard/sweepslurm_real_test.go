package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A real Slurm runs a study as an array, to the bytes of this process. A driver that is killed while the array waits
// leaves it to the next, which submits nothing.
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
	driver := func(log string) *exec.Cmd {
		t.Helper()
		cmd := c.command(executable, study("held", "--engine", "slurm", "--parts", "3", "--sbatch=--mem=0 --hold")...)
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
	var job []byte
	first := driver("first.log")
	until(t, "the array is submitted", func() bool {
		job, _ = os.ReadFile(filepath.Join(c.dir, "held", "slurm", "1", "job"))
		return len(job) > 0
	})
	first.Process.Kill()
	first.Wait()
	second := driver("second.log")
	until(t, "the next driver finds the array", func() bool {
		said, _ := os.ReadFile(filepath.Join(c.dir, "second.log"))
		return strings.Contains(string(said), "job "+strings.TrimSpace(string(job))+" still runs")
	})
	if out, err := c.command("scontrol", "release", strings.TrimSpace(string(job))).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := second.Wait(); err != nil {
		said, _ := os.ReadFile(filepath.Join(c.dir, "second.log"))
		t.Fatalf("%v: %s", err, said)
	}
	if rounds, _ := os.ReadDir(filepath.Join(c.dir, "held", "slurm")); len(rounds) != 1 {
		t.Errorf("%d submissions", len(rounds))
	}
	var results [3][]byte
	for i, name := range []string{"alone", "array", "held"} {
		if results[i], err = os.ReadFile(filepath.Join(c.dir, name, "results.parquet")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(results[0], results[1]) || !bytes.Equal(results[0], results[2]) {
		t.Error("an array's results differ from those of one process")
	}
}
