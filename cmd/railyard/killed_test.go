package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"railyard/internal/long"

	"golang.org/x/sys/unix"
)

// changes are the system calls by which files and folders change, or are locked.
var changes = []uint64{unix.SYS_OPENAT, unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE,
	unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT, unix.SYS_FCHMOD,
	unix.SYS_FCHMODAT, unix.SYS_LINKAT, unix.SYS_FLOCK}

// killedAt runs a child under ptrace(2) and kills it when it is about to make the n-th change to a file, from
// 1. It returns the system calls of all changes until then: fewer than n where the child had ended before.
func killedAt(t *testing.T, n int, cmd *exec.Cmd) (seen []uint64) {
	t.Helper()
	traced(t, cmd, func(thread int, call *syscallStop) {
		if call.changes() {
			if seen = append(seen, call.number); len(seen) == n {
				_ = unix.Kill(cmd.Process.Pid, unix.SIGKILL)
			}
		}
	})
	return seen
}

// traced runs a child under ptrace(2) and calls each when a thread enters or leaves a system call. It returns the
// exit status.
func traced(t *testing.T, cmd *exec.Cmd, each func(thread int, call *syscallStop)) (code int) {
	t.Helper()
	runtime.LockOSThread() // one thread controls a traced process
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}
	if err := cmd.Start(); errors.Is(err, unix.EPERM) {
		t.Skip("needs root or leave to trace processes: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	defer cmd.Process.Release() // wait4 below has waited for it
	const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	var st unix.WaitStatus
	if _, err := wait4(pid, &st); err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		t.Fatal(err)
	}
	for thread := pid; ; {
		signal := 0
		switch trap := st.TrapCause(); {
		case st.Exited() && thread == pid:
			code = st.ExitStatus()
		case !st.Stopped():
		case st.StopSignal() == unix.SIGTRAP|0x80:
			var call syscallStop
			if _, _, failed := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(thread),
				unsafe.Sizeof(call), uintptr(unsafe.Pointer(&call)), 0, 0); failed == 0 {
				each(thread, &call)
			}
		case st.StopSignal() == unix.SIGTRAP && trap >= 0, st.StopSignal() == unix.SIGSTOP: // of ptrace itself
		default:
			signal = int(st.StopSignal())
		}
		if st.Stopped() {
			_ = unix.PtraceSyscall(thread, signal) // fails once it was killed
		}
		var err error
		if thread, err = wait4(-pid, &st); errors.Is(err, unix.ECHILD) {
			return code
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// wait4 waits for threads and processes, and retries when interrupted.
func wait4(pid int, st *unix.WaitStatus) (int, error) {
	for {
		if n, err := unix.Wait4(pid, st, unix.WALL, nil); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// syscallStop is ptrace_syscall_info (linux/ptrace.h): the system call that a stopped thread enters or leaves.
type syscallStop struct {
	op     uint8
	_      [7]uint8
	_      [2]uint64
	number uint64
	args   [6]uint64
}

// enters reports whether the system call begins, so that number and args are set.
func (c *syscallStop) enters() bool { return c.op == 1 }

// changes reports whether the system call begins and changes a file other than standard output and error.
func (c *syscallStop) changes() bool {
	switch {
	case !c.enters() || !slices.Contains(changes, c.number):
		return false
	case c.number == unix.SYS_OPENAT:
		return c.args[2]&unix.O_CREAT != 0
	case c.number == unix.SYS_WRITE:
		return c.args[0] > 2
	}
	return true
}

// Killed before any change to a file, a run leaves its directory complete or not at all. The previous run is
// unchanged until then, and at most one hidden folder is left, which the next run removes. RAILYARD_LONG=1 tries
// all 167 of them, otherwise those at which one run replaces another, and every 24th.
func TestKilledAtAnyMoment(t *testing.T) {
	smallFile(t)
	os.Mkdir("in", 0o755)
	os.WriteFile("in/notes.txt", nil, 0o644) // files are moved one by one here
	outs := []string{"new", "run", "in/run"}
	for _, out := range outs {
		if code, _, errs := call(t, "run", "small.yaml", "--out", out); code != 0 {
			t.Fatal(errs)
		}
	}
	os.WriteFile("in/run/notes.txt", nil, 0o644)
	moments := 0
	for _, out := range outs {
		os.RemoveAll("new")
		all := killedAt(t, 0, railyard("run", "small.yaml", "--out", out, "--force"))
		if len(all) < 40 {
			t.Fatalf("%s: %d changes to files", out, len(all))
		}
		for n := 1; n <= len(all); n++ {
			if !long.On() && n%24 != 1 && !turning(all, n) {
				continue
			}
			os.RemoveAll("new")
			killedAt(t, n, railyard("run", "small.yaml", "--out", out, "--force"))
			afterKill(t, out, n)
			moments++
		}
	}
	t.Logf("killed at %d moments", moments)
}

// turning reports whether one run replaces another there: the first two or the last of renamed files, or the calls
// after those.
func turning(all []uint64, n int) bool {
	renamed := func(n int) bool {
		return n >= 1 && n <= len(all) && (all[n-1] == unix.SYS_RENAMEAT || all[n-1] == unix.SYS_RENAMEAT2)
	}
	if renamed(n) {
		return !renamed(n-1) || !renamed(n-2) || !renamed(n+1)
	}
	return renamed(n - 1)
}

// afterKill checks what a killed run has left, and runs it again.
func afterKill(t *testing.T, out string, n int) {
	t.Helper()
	for _, dir := range []string{"run", "in/run", "new"} {
		_, err := whole(dir)
		entries, _ := os.ReadDir(dir)
		half := dir == "in/run" && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			return e.Name() == ".railyard"
		})
		if err != nil && !half && (dir != "new" || len(entries) > 0) {
			t.Errorf("%s, change %d: %s: %v", out, n, dir, err)
		}
	}
	if left := hidden(".", "in", "in/run"); len(left) > 1 {
		t.Errorf("%s, change %d: left behind: %v", out, n, left)
	}
	if code, _, errs := call(t, "run", "small.yaml", "--out", out, "--force"); code != 0 {
		t.Fatalf("%s, change %d: %s", out, n, errs)
	}
	if left := hidden(".", "in", "in/run"); len(left) > 0 {
		t.Fatalf("%s, change %d: the next run left %v", out, n, left)
	}
}
