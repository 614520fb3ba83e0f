package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A real Slurm runs a study as an array, to the bytes of this process.
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
	var results [2][]byte
	for i, name := range []string{"alone", "array"} {
		if results[i], err = os.ReadFile(filepath.Join(c.dir, name, "results.parquet")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(results[0], results[1]) {
		t.Error("the array's results differ from those of one process")
	}
}
