package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/fidelity"
	"railyard/internal/runner"
	"railyard/internal/scenariofile"
	"railyard/internal/sim"
	"railyard/unit"
)

// A run that would need more memory than permitted is rejected with one line and exit 1, and leaves no files.
func TestMemory(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	code, out, errs := call(t, "run", s, "--memory", "10MB", "--out", "x")
	if code != 1 || out != "" || strings.Count(errs, "\n") != 1 ||
		!strings.Contains(errs, "10 MB are available") || !strings.Contains(errs, "--memory") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if found, _ := filepath.Glob("*"); len(found) != 0 {
		t.Errorf("left behind: %v", found)
	}
	for _, bad := range []string{"10", "0B", "-1GB", "all"} {
		if code, _, errs := call(t, "run", s, "--memory="+bad); code != 2 ||
			!strings.Contains(errs, "--memory") {
			t.Errorf("--memory %s: exit %d, %s", bad, code, errs)
		}
	}
	if code, _, errs := call(t, "run", s, "--memory", "4GB", "--out", "x"); code != 0 ||
		strings.Contains(errs, "estimate") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A run that exceeds its estimated memory is stopped, and reports that.
func TestMemoryExceeded(t *testing.T) {
	plan, err := scenariofile.Plan(filepath.Join(scenarios(t), "fattree128-permutation.yaml"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	packets, err := sim.New(plan)
	if err != nil {
		t.Fatal(err)
	}
	run := &fidelity.Simulation{Run: packets, Limit: unit.MB}
	var out strings.Builder
	err = watched(run, &env{stdout: &out, stderr: &out}, run.Go)
	if err == nil || errors.Is(err, runner.ErrInterrupted) || !strings.Contains(err.Error(), "--memory") ||
		packets.Exec.Done() {
		t.Errorf("%v", err)
	}
}

// The host reports its available memory.
func TestMachineMemory(t *testing.T) {
	if m := runner.Memory(); m != 0 && (m < 50*unit.MB || m > 1e15) {
		t.Errorf("%v", m)
	}
}

// Under a shell's limit it is also one line, without a Go stack trace: exit 1.
func TestMemoryOfShell(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("a2a.yaml",
		[]byte("name: a2a\nfabric: {kind: fat-tree, k: 16, host_link: {rate: 400Gbps, delay: 1us}}\n"+
			"workload: {traffic: {alltoall: {bytes: 1MB}}}\n"), 0o644)
	cmd := railyard("run", "a2a.yaml", "--out", "x")
	cmd.Path, cmd.Args = "/bin/bash",
		append([]string{"bash", "-c", `ulimit -v 2500000; exec "$0" "$@"`}, cmd.Args...)
	out, _ := cmd.CombinedOutput()
	if strings.Contains(string(out), "ThreadSanitizer failed to allocate") {
		t.Skip("the race detector's shadow takes more addresses than the limit leaves")
	}
	if code := cmd.ProcessState.ExitCode(); code != 1 || strings.Count(string(out), "\n") != 1 ||
		!strings.Contains(string(out), "of memory") {
		t.Errorf("exit %d: %.400s", code, out)
	}
}

// check accepts a scenario whose run exceeds this host's memory, and reports that: exit 0.
func TestCheckWithoutRoomForTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("large.yaml",
		[]byte("name: large\nfabric: {kind: fat-tree, k: 40, host_link: {rate: 400Gbps, delay: 1us}}\n"+
			"switch: {buffer: 512MiB}\nworkload: {traffic: {permutation: {bytes: 256KiB}}}\n"), 0o644)
	for _, c := range []struct {
		command string
		code    int
		want    string
	}{{"run", 1, "of memory"}, {"check", 0, "it was not built"}} {
		cmd := railyard(c.command, "large.yaml")
		cmd.Path, cmd.Args = "/bin/bash",
			append([]string{"bash", "-c", `ulimit -v 2500000; exec "$0" "$@"`}, cmd.Args...)
		out, _ := cmd.CombinedOutput()
		plain := strings.Join(strings.Fields(string(out)), " ")
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(plain, c.want) ||
			c.code == 0 && !strings.Contains(plain, "16,000 GPUs, 48,000 links") {
			t.Errorf("%s: exit %d: %.600s", c.command, code, out)
		}
	}
}
