package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/long"

	"golang.org/x/sys/unix"
)

// fullAt runs a child on a disk that is full from its n-th request for space on, from 1; 0: never. It returns the
// number of requests, the exit status and standard error.
func fullAt(t *testing.T, n int, args ...string) (requests, code int, errs string) {
	t.Helper()
	cmd := railyard(args...)
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.Stderr = f
	refused := map[int]bool{} // threads in a system call that fails
	code = traced(t, cmd, func(thread int, call *syscallStop) {
		var regs unix.PtraceRegs
		switch {
		case refused[thread] && !call.enters():
			delete(refused, thread)
			if unix.PtraceGetRegs(thread, &regs) == nil {
				regs.Rax = ^uint64(unix.ENOSPC) + 1
				_ = unix.PtraceSetRegs(thread, &regs) // fails once the thread has ended
			}
		case call.takesSpace(cmd.Process.Pid):
			if requests++; n > 0 && requests >= n && unix.PtraceGetRegs(thread, &regs) == nil {
				regs.Orig_rax = ^uint64(0) // no system call
				refused[thread] = unix.PtraceSetRegs(thread, &regs) == nil
			}
		}
	})
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return requests, code, string(text)
}

// takesSpace reports whether the system call begins and needs disk space. It does not if the file is a socket.
func (c *syscallStop) takesSpace(pid int) bool {
	switch {
	case !c.changes():
		return false
	case c.number == unix.SYS_WRITE || c.number == unix.SYS_PWRITE64:
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, c.args[0]))
		return err == nil && strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/dev/")
	}
	return c.number == unix.SYS_OPENAT || c.number == unix.SYS_MKDIRAT || c.number == unix.SYS_LINKAT
}

// A study on a disk that becomes full at any request ends with one error that names a file or folder and the
// reason. With space again the same command continues to equal bytes. RAILYARD_LONG=1 tries all requests, otherwise
// every eighth of the first 32, which are those of the study's own files, and every 32nd. With a server it tries
// every 12th, otherwise every 192nd.
func TestFullDiskSweep(t *testing.T) {
	fullDisk(t, 30, func(n int) bool { return long.On() || n%8 == 3 && n <= 32 || n%32 == 3 })
}

// The same for a study with a NATS server, whose files are in its directory.
func TestFullDiskServer(t *testing.T) {
	fullDisk(t, 90, func(n int) bool { return n%192 == 35 || long.On() && n%12 == 11 }, "--listen", "127.0.0.1:0")
}

// fullDisk tries some requests of a study that requests space at least as often as given.
func fullDisk(t *testing.T, least int, some func(n int) bool, flags ...string) {
	smallFile(t)
	study := append([]string{"sweep", "small.yaml", "--grid", "lb=ecmp,spray", "--seeds", "4", "--jobs", "2", "--keep",
		"best:1", "--out", "full"}, flags...)
	read := func() (all []byte) {
		for _, name := range []string{"results.csv", "results.parquet"} {
			b, err := os.ReadFile("full/" + name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	requests, code, errs := fullAt(t, 0, study...)
	want := read()
	if requests < least || code != 0 {
		t.Fatalf("%d requests for space, exit %d: %s", requests, code, errs)
	}
	for n := 1; n <= requests; n++ {
		if !some(n) {
			continue
		}
		if err := os.RemoveAll("full"); err != nil {
			t.Fatal(err)
		}
		made, code, errs := fullAt(t, n, study...)
		if made < n {
			continue // two workers do not request the same number each time
		}
		notes, errs, _ := strings.Cut("\n"+errs, "\nerror: ")
		if code == 0 || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "full") ||
			!strings.HasSuffix(errs, ": no space left on device\n") || strings.Count(errs, "full") != 1 ||
			strings.Count(notes, "\n") > len(flags)/2 {
			t.Errorf("full from request %d of %d on: exit %d, %s%s", n, requests, code, notes, errs)
		}
		if code, out, errs := call(t, study...); code != 0 || !bytes.Equal(read(), want) {
			t.Fatalf("full from request %d of %d on, resumed: exit %d, %s%s", n, requests, code, out, errs)
		}
	}
}
