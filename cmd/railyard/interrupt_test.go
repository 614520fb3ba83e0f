package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// endless makes the small scenario run for so long that a test ends it first.
const endless = "workload.traffic.incast.bytes=30GB"

// simulating starts a child and returns when it reports progress of a simulation whose name has a prefix. said is
// its output from there on.
func simulating(t *testing.T, name string, args ...string) (cmd *exec.Cmd, said *bufio.Scanner) {
	t.Helper()
	cmd = railyard(args...)
	cmd.Env = append(cmd.Env, hurriedLines+"=-1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said = bufio.NewScanner(out)
	var before strings.Builder
	for said.Scan() {
		line := said.Text()
		if strings.HasPrefix(line, "next: "+name) && isProgress(line) {
			return cmd, said
		}
		before.WriteString(line + "\n")
	}
	t.Fatalf("%v: ended without a progress report: %v\n%s", args, cmd.Wait(), before.String())
	return nil, nil
}

// Ctrl-C reports what is left: an earlier, finished run in the directory stays, and the new one is next to it.
func TestInterrupted(t *testing.T) {
	smallFile(t)
	if code, _, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		args []string
		name string // of the interrupted simulation
		want string
	}{
		{[]string{"run", "small.yaml", "--out", "run", "--force", "--set", endless}, "",
			"is in run-001, marked incomplete"},
		{[]string{"compare", "small.yaml", "--set", "lb=ecmp,spray", "--set", endless}, "",
			"nothing was written"},
		{[]string{"plan", "collective", "small.yaml", "--sizes", "1KiB,10GB"}, "10GB",
			"what had been simulated is above"},
	} {
		cmd, said := simulating(t, c.name, c.args...)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		var rest strings.Builder
		for said.Scan() {
			rest.WriteString(said.Text() + "\n")
		}
		_ = cmd.Wait()
		errs := rest.String()
		if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, errs)
		}
		if c.args[0] != "plan" && !strings.Contains(errs, "Ctrl-C again ends immediately") {
			t.Errorf("%v: does not say how not to wait:\n%s", c.args, errs)
		}
	}
	old, err1 := whole("run")
	part, err2 := whole("run-001")
	if err1 != nil || err2 != nil || !old.Complete || part.Complete {
		t.Errorf("%v %v", err1, err2)
	}
}

// The first Ctrl-C explains how not to wait for the writing, and the second ends the run. It works even for a run
// that cannot print, because its output is not read. The run is blocked at that line, for any load on the host.
func TestSecondInterrupt(t *testing.T) {
	smallFile(t)
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
	written, end := open(os.O_RDONLY|syscall.O_NONBLOCK), open(os.O_WRONLY)
	cmd := railyard("run", "small.yaml", "--out", "run", "--set", endless)
	cmd.Env = append(cmd.Env, hurriedLines+"=1")
	cmd.Stderr = end
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end.Close()
	until := func(from io.Reader, is func(line string) bool) {
		t.Helper()
		for lines := bufio.NewScanner(from); lines.Scan(); {
			if is(lines.Text()) {
				return
			}
		}
		t.Fatalf("ended too soon: %v", cmd.Wait())
	}
	until(written, isProgress)
	fill(t, pipe)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	until(out, func(line string) bool { return strings.HasPrefix(line, "next: interrupted") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // for ever, if the second one waits
	if st := cmd.ProcessState.Sys().(syscall.WaitStatus); st.Signal() != syscall.SIGINT {
		t.Errorf("%v", cmd.ProcessState)
	}
	if _, err := os.Stat("run"); err == nil {
		t.Error("half a run under its name")
	}
	if code, _, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 || len(hidden(".")) > 0 {
		t.Errorf("exit %d: %s, left %v", code, errs, hidden("."))
	}
}

// fill writes to a pipe until it is full.
func fill(t *testing.T, pipe string) {
	t.Helper()
	fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for n := 4096; n > 0; n /= 64 {
		var err error
		for err == nil {
			_, err = unix.Write(fd, make([]byte, n))
		}
		if !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
	}
}
