package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// process is one program that is run within limits.
type process struct {
	dir    string
	args   []string
	env    []string      // besides the environment
	limit  time.Duration // of processor time
	memory int64         // limit of address space, in bytes
}

// ended is the end of a process.
type ended struct {
	ok     bool
	cpu    time.Duration // user and system, with children
	ranOut bool          // the limit of processor time, or the guard against endless waits, ended it
	output []byte        // the end of it
}

// guard is the wall time after which a process that uses no processor time counts as blocked.
const guard = 10 * time.Minute

// run runs a process. Its time is processor time: on a busy host a test takes longer, not more.
func (p process) run(ctx context.Context) (ended, error) {
	ctx, cancel := context.WithTimeout(ctx, guard)
	defer cancel()
	bounds := "ulimit -v " + strconv.FormatInt(p.memory>>10, 10) + "; ulimit -t " +
		strconv.Itoa(int((p.limit+time.Second-1)/time.Second)) + `; exec "$0" "$@"`
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", bounds}, p.args...)...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its children
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, context.DeadlineExceeded) {
		return ended{}, err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ended{}, ctx.Err()
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	ranOut := ctx.Err() != nil || err != nil && cpu > p.limit-time.Second/2
	return ended{ok: err == nil, cpu: cpu, ranOut: ranOut, output: out.bytes()}, nil
}

// tail keeps the first and the last bytes of an output: where a test failed, and how a process died.
type tail struct{ first, last bytes.Buffer }

const kept = 64 << 10

// Write keeps b.
func (t *tail) Write(b []byte) (int, error) {
	if t.first.Len() < kept {
		return t.first.Write(b)
	}
	t.last.Write(b)
	if t.last.Len() > 2*kept {
		t.last.Next(t.last.Len() - kept)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte { return append(t.first.Bytes(), t.last.Bytes()...) }
