package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"railyard/internal/ranks"
)

// hurriedLines is the environment variable of a child with a fast clock: how many progress lines it prints,
// negative for endless. It announces each line of standard error on standard output before it writes it.
const hurriedLines = "RAILYARD_TEST_HURRY"

// heldFile is the environment variable of a child that reports its memory on SIGUSR1: the file into which it writes
// the bytes, one line.
const heldFile = "RAILYARD_TEST_HELD"

// peakFile is the environment variable of a child that writes its maximum memory, as reported by Linux, into a
// file.
const peakFile = "RAILYARD_TEST_PEAK"

// tellPeak writes the peak of the resident memory, as in "VmHWM:   123456 kB".
func tellPeak(file string) {
	status, err := os.ReadFile("/proc/self/status")
	if i := strings.Index(string(status), "VmHWM:"); err == nil && i >= 0 {
		peak, _, _ := strings.Cut(string(status[i:]), "\n")
		_ = os.WriteFile(file, []byte(peak), 0o600)
	}
}

// tellHeld writes the memory that the Go runtime has from the system and has not returned, on each request.
func tellHeld(file string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			s := []metrics.Sample{{Name: "/memory/classes/total:bytes"},
				{Name: "/memory/classes/heap/released:bytes"}}
			metrics.Read(s)
			text := fmt.Sprintln(s[0].Value.Uint64() - s[1].Value.Uint64())
			if err := os.WriteFile(file+".new", []byte(text), 0o600); err == nil {
				_ = os.Rename(file+".new", file)
			}
		}
	}()
}

// TestMain lets the test binary run as the program when it starts itself.
func TestMain(m *testing.M) {
	if os.Getenv("RAILYARD_CHILD") == "" {
		os.Setenv("COLUMNS", "80") // transcripts are of a terminal's width
		os.Exit(m.Run())
	}
	ranks.FollowParent()
	if file := os.Getenv(heldFile); file != "" {
		tellHeld(file)
	}
	e := &env{stdout: os.Stdout, stderr: os.Stderr}
	if n, err := strconv.Atoi(os.Getenv(hurriedLines)); err == nil {
		e = newHurried(os.Stdout, os.Stderr, n, func(line string) { fmt.Printf("next: %s\n", line) }).env()
	}
	code := e.main(os.Args[1:])
	if file := os.Getenv(peakFile); file != "" {
		tellPeak(file)
	}
	os.Exit(code)
}

// railyard is the command line as a process, which TestMain runs in the test binary. It ends with its standard
// input.
func railyard(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	_, _ = cmd.StdinPipe()
	return cmd
}

// hurried is a clock that advances a minute at each reading, so that each progress report is printed, until there
// were enough of them. It is also the standard error to which they are written.
type hurried struct {
	out, errs io.Writer
	tell      func(line string)

	mu   sync.Mutex
	at   time.Time
	left int // progress lines; negative for endless
}

func newHurried(out, errs io.Writer, lines int, tell func(line string)) *hurried {
	return &hurried{out: out, errs: errs, tell: tell, at: time.Unix(1_800_000_000, 0), left: lines}
}

func (h *hurried) env() *env { return &env{stdout: h.out, stderr: h, now: h.now} }

func (h *hurried) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left == 0 {
		return time.Time{} // no report is due any more
	}
	h.at = h.at.Add(time.Minute)
	return h.at
}

// Write announces a line before it writes it.
func (h *hurried) Write(b []byte) (int, error) {
	if isProgress(string(b)) {
		h.mu.Lock()
		h.left--
		h.mu.Unlock()
	}
	h.tell(strings.TrimSuffix(string(b), "\n"))
	return h.errs.Write(b)
}

// isProgress reports whether a line of standard error is a progress report.
func isProgress(line string) bool { return strings.Contains(line, " %  ETA ") }
