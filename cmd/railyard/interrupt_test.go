package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
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
		if c.args[0] != "plan" && !strings.Contains(errs.String(), "Ctrl-C again ends at once") {
			t.Errorf("%v: does not say how not to wait:\n%s", c.args, errs.String())
		}
	}
	old, err1 := whole("run")
	part, err2 := whole("run-001")
	if err1 != nil || err2 != nil || !old.Complete || part.Complete {
		t.Errorf("%v %v", err1, err2)
	}
}

// The first Ctrl-C says how not to wait for what is written, and the second does not: it ends
// a run that cannot even say so, because nobody reads what it says. That holds it at that
// line, however busy the machine is.
func TestSecondInterrupt(t *testing.T) {
	smallFile(t)
	os.WriteFile("many.yaml",
		[]byte("fabric: {kind: rail, hosts: 48, spines: 8}\nserver: {gpus: 8, nics: 8}\n"+
			"workload: {traffic: {alltoall: {bytes: 1GB}}}\n"), 0o644)
	for wait := 500 * time.Millisecond; ; wait *= 4 {
		if wait > 20*time.Second {
			t.Fatal("ended each time before it was simulated")
		}
		cmd, ended := mute(t, "run", "many.yaml", "--out", "run")
		time.Sleep(wait)
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended: // while it is still built it just ends
			continue
		case <-time.After(2 * time.Second):
		}
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Error("the second one waits")
			cmd.Process.Kill()
			<-ended
		}
		if st := cmd.ProcessState.Sys().(syscall.WaitStatus); st.Signal() != syscall.SIGINT {
			t.Errorf("%v", cmd.ProcessState)
		}
		break
	}
	if _, err := os.Stat("run"); err == nil {
		t.Error("half a run under its name")
	}
	if code, _, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 || len(hidden(".")) > 0 {
		t.Errorf("exit %d: %s, left %v", code, errs, hidden("."))
	}
}

// mute starts a child that can tell its estimate and nothing more: its standard error is a
// pipe that is full from then on. The channel is closed when it has ended.
func mute(t *testing.T, args ...string) (*exec.Cmd, <-chan struct{}) {
	t.Helper()
	pipe := filepath.Join(t.TempDir(), "said")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(flags int) *os.File {
		f, err := os.OpenFile(pipe, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	said := open(os.O_RDWR)
	said.SetReadDeadline(time.Now().Add(time.Minute))
	cmd := railyard(args...)
	cmd.Stderr = open(os.O_WRONLY)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "estimate") {
	}
	rest := open(os.O_WRONLY | syscall.O_NONBLOCK)
	for full := (error)(nil); full == nil; {
		rest.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, full = rest.Write(make([]byte, 512))
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	return cmd, ended
}
