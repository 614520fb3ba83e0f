package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C tells what is left: with an earlier, finished run in the directory that one stays
// and the new one is beside it.
func TestInterrupted(t *testing.T) {
	smallFile(t)
	if code, _, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "small.yaml", "--out", "run", "--force"}, "is in run-001, marked incomplete"},
		{[]string{"compare", "small.yaml", "--set", "lb=ecmp,spray"}, "nothing was written"},
		{[]string{"plan", "collective", "small.yaml", "--sizes", "1KiB,10GB"},
			"what had been simulated is above"},
	} {
		if c.args[0] != "plan" {
			c.args = append(c.args, "--set", "workload.traffic.incast.bytes=30GB")
		}
		var cmd *exec.Cmd
		var out, errs strings.Builder
		// while it is still built it just ends
		for wait := time.Second; wait < 20*time.Second; wait *= 4 {
			out.Reset()
			errs.Reset()
			cmd = railyard(c.args...)
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
			if strings.Contains(errs.String(), c.want) {
				break
			}
		}
		if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out.String(), errs.String())
		}
	}
	old, err1 := whole("run")
	part, err2 := whole("run-001")
	if err1 != nil || err2 != nil || !old.Complete || part.Complete {
		t.Errorf("%v %v", err1, err2)
	}
}

// The first Ctrl-C writes what there is, and says how not to wait for that.
func TestSecondInterrupt(t *testing.T) {
	smallFile(t)
	os.WriteFile("many.yaml",
		[]byte("fabric: {kind: rail, hosts: 48, spines: 8}\nserver: {gpus: 8, nics: 8}\n"+
			"workload: {traffic: {alltoall: {bytes: 1GB}}}\n"), 0o644)
	var cmd *exec.Cmd
	says := ""
	// while it is still built it just ends
	for wait := 500 * time.Millisecond; wait < 20*time.Second && says == ""; wait *= 4 {
		cmd = railyard("run", "many.yaml", "--out", "run")
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(said)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "estimate") {
		}
		time.Sleep(wait)
		cmd.Process.Signal(os.Interrupt)
		lines.Scan()
		says = lines.Text()
	}
	if !strings.Contains(says, "Ctrl-C again ends at once") {
		t.Errorf("%q", says)
	}
	cmd.Process.Signal(os.Interrupt)
	began := time.Now()
	cmd.Wait()
	if st := cmd.ProcessState.Sys().(syscall.WaitStatus); !st.Signaled() ||
		time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", cmd.ProcessState, time.Since(began))
	}
	if _, err := os.Stat("run"); err == nil {
		t.Error("half a run under its name")
	}
	if code, _, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 || len(hidden(".")) > 0 {
		t.Errorf("exit %d: %s, left %v", code, errs, hidden("."))
	}
}
