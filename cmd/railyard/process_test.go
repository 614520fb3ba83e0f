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

// hurriedLines is in the environment of a child whose clock hurries: how many progress lines it prints, below
// 0 without end. It announces each line of standard error on standard output before it writes it.
const hurriedLines = "RAILYARD_TEST_HURRY"

// heldFile is in the environment of a child that says how much memory it holds when it gets SIGUSR1: the file
// into which it writes the bytes, a line.
const heldFile = "RAILYARD_TEST_HELD"

// peakFile is in the environment of a child that writes into a file how much memory it held at most, as Linux says.
const peakFile = "RAILYARD_TEST_PEAK"

// tellPeak writes the peak of the resident memory, as in "VmHWM:   123456 kB".
func tellPeak(file string) {
	status, err := os.ReadFile("/proc/self/status")
	if i := strings.Index(string(status), "VmHWM:"); err == nil && i >= 0 {
		peak, _, _ := strings.Cut(string(status[i:]), "\n")
		_ = os.WriteFile(file, []byte(peak), 0o600)
	}
}

// tellHeld writes what the Go runtime has from the system and has not given back, each time it is asked.
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

// TestMain lets the test binary be the program when it starts itself.
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

// railyard is the command line as a process: TestMain lets the test binary be it, and it
// ends with its standard input.
func railyard(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	_, _ = cmd.StdinPipe()
	return cmd
}

// hurried is a clock on which a minute passes each time that it is read, so that each progress report is
// printed, until there were enough of them; and the standard error where they are seen.
type hurried struct {
	out, errs io.Writer
	tell      func(line string)

	mu   sync.Mutex
	at   time.Time
	left int // progress lines; below 0 without end
}

func newHurried(out, errs io.Writer, lines int, tell func(line string)) *hurried {
	return &hurried{out: out, errs: errs, tell: tell, at: time.Unix(1_800_000_000, 0), left: lines}
}

func (h *hurried) env() *env { return &env{stdout: h.out, stderr: h, now: h.now} }

func (h *hurried) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left == 0 {
		return time.Time{} // nothing is due any more
	}
	h.at = h.at.Add(time.Minute)
	return h.at
}

// Write tells a line before it writes it.
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
