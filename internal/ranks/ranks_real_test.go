package ranks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"railyard/internal/input"
	"railyard/internal/runner"
)

// TestMain lets the test binary be the program that Command starts again.
func TestMain(m *testing.M) {
	if os.Getenv(marker) == "" {
		os.Exit(m.Run())
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	FollowParent()
	switch os.Args[1] {
	case "print": // a variable of the environment, and a remark
		fmt.Println(os.Getenv(os.Args[2]))
		fmt.Fprintln(os.Stderr, "note of", os.Getenv(os.Args[2]))
	case "wait": // until it is interrupted
		fmt.Println("waits")
		<-interrupt
		fmt.Fprintln(os.Stderr, "error:", runner.ErrInterrupted)
		os.Exit(Interrupted)
	case "copy":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "fail":
		fmt.Fprintln(os.Stderr, "error: cannot")
		os.Exit(1)
	case "refuse":
		fmt.Fprintln(os.Stderr, "error: no such flag")
		os.Exit(Refused)
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(0)
}

// Start returns the first line of a child that runs on; of one that ends before, what it said on standard error.
func TestRealStart(t *testing.T) {
	t.Parallel()
	cmd, line, err := Start(t.Context(), nil, "wait")
	if err != nil || line != "waits" {
		t.Fatal(line, err)
	}
	Stop(cmd)
	if s := cmd.ProcessState; s == nil || s.Success() {
		t.Errorf("stopped: %v", s)
	}
	cmd, line, err = Start(t.Context(), []string{"env", "COLOUR=red"}, "print", "COLOUR")
	if err != nil || line != "red" {
		t.Fatal(line, err)
	}
	Stop(cmd)
	if _, _, err = Start(t.Context(), nil, "fail", "twice"); err == nil ||
		err.Error() != "fail twice did not start: error: cannot" {
		t.Error(err)
	}
	if _, _, err = Start(t.Context(), []string{"/dev/null"}, "print"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("under what is not a program: %v", err)
	}
}

// A child ends with its standard input, which its parent holds, unless that is its own.
func TestRealFollowParent(t *testing.T) {
	t.Parallel()
	for mark, want := range map[string]int{"1": Interrupted, "stdin": 0} {
		cmd := exec.Command(os.Args[0], "copy")
		if mark == "1" {
			cmd.Args[1] = "wait"
		}
		cmd.Env = append(os.Environ(), marker+"="+mark)
		lines := strings.Repeat("a line\n", 1<<18) // and then their end
		cmd.Stdin = strings.NewReader(lines)
		out, err := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != want || mark == "stdin" && string(out) != lines {
			t.Errorf("%s: exit %d, %v, %d bytes of %d", mark, code, err, len(out), len(lines))
		}
	}
}

// Ranks that end well: their output, environment, and what they said.
func TestRealCrewEnds(t *testing.T) {
	t.Parallel()
	crew := NewCrew(t.Context(), 3)
	defer crew.Cancel()
	var outs [3]bytes.Buffer
	for r := range outs {
		if err := crew.Start(r, &outs[r], []string{fmt.Sprint("NAME=rank-", r)}, nil, "print", "NAME"); err != nil {
			t.Fatal(err)
		}
	}
	var errs bytes.Buffer
	if err := crew.Wait(&errs); err != nil || crew.Ctx.Err() != nil {
		t.Errorf("%v, %v", err, crew.Ctx.Err())
	}
	said := strings.Split(strings.TrimSpace(errs.String()), "\n")
	slices.Sort(said)
	if !slices.Equal(said, []string{"note of rank-0", "note of rank-1", "note of rank-2"}) {
		t.Errorf("%q", said)
	}
	for r := range outs {
		if got := outs[r].String(); got != fmt.Sprintf("rank-%d\n", r) {
			t.Errorf("rank %d printed %q", r, got)
		}
	}
}

// When one rank fails, the others are interrupted, and the error is that of the rank that failed.
func TestRealCrewFails(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{"fail": "rank 1: cannot", "refuse": "rank 1: no such flag",
		"die": "rank 1: signal: killed"} {
		crew := NewCrew(t.Context(), 3)
		waits(t, crew, 0)
		waits(t, crew, 2)
		if err := crew.Start(1, nil, nil, nil, what); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		err := crew.Wait(&errs)
		if err == nil || err.Error() != want || input.IsFault(err) != (what == "refuse") || errs.Len() > 0 {
			t.Errorf("%s: %v, %q", what, err, errs.String())
		}
		if crew.Ctx.Err() == nil {
			t.Errorf("%s: the crew's context goes on", what)
		}
	}
}

// Ranks that were interrupted have no error of their own.
func TestRealCrewInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	crew := NewCrew(ctx, 2)
	waits(t, crew, 0)
	waits(t, crew, 1)
	cancel()
	if err := crew.Wait(io.Discard); err != nil {
		t.Error(err)
	}
}

// waits starts a rank that waits, and returns when it does.
func waits(t *testing.T, crew *Crew, rank int) {
	t.Helper()
	from, to := io.Pipe()
	if err := crew.Start(rank, to, nil, nil, "wait"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(from).ReadString('\n'); line != "waits\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// Addresses are of networks of their own until they are released.
func TestRealClaim(t *testing.T) {
	t.Parallel()
	a, release, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	b, other, err := Claim()
	if err != nil {
		t.Fatal(err)
	}
	defer other()
	if x, y := a.As4(), b.As4(); a == b || x[0] != 127 || x[1] < 64 || x[1] > 191 || x[3] != 1 || y[3] != 1 {
		t.Errorf("%v and %v", a, b)
	}
}
