package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needsChildren skips where the system does not list a process's children.
func needsChildren(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("no /proc: ", err)
	}
}

// childRank finds the process of a rank among this process's children, by an argument that no other test uses.
func childRank(t *testing.T, rank, argument string) (child int) {
	t.Helper()
	until(t, "rank "+rank+" is started", func() bool {
		lists, _ := filepath.Glob("/proc/self/task/*/children")
		for _, l := range lists {
			b, _ := os.ReadFile(l)
			for _, pid := range strings.Fields(string(b)) {
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				if n, err := strconv.Atoi(pid); err == nil && strings.Contains(string(line),
					"\x00--rank\x00"+rank+"\x00") && strings.Contains(string(line), argument) {
					child = n
				}
			}
		}
		return child != 0
	})
	return child
}

// A killed rank ends all others, and its name is reported.
func TestRealAllreduceRankDies(t *testing.T) {
	needsChildren(t)
	t.Parallel()
	killed := make(chan bool)
	go func() {
		defer close(killed)
		_ = syscall.Kill(childRank(t, "2", "--iters\x00987654"), syscall.SIGKILL) // as soon as it exists
	}()
	code, _, errs := call(t, "rdma", "allreduce", "--ranks", "3", "--bytes", "1MiB", "--iters", "987654")
	<-killed
	// Rank 0 may notice first that the connection is gone.
	if code != 1 || !strings.Contains(errs, "rank 2: signal: killed") &&
		!strings.Contains(errs, "rank 2 is gone") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A stopped rank ends the run within the patience, by its name, even if the transport itself would retry for hours
// (the review: 147 s, or for ever).
func TestRealAllreduceRankStops(t *testing.T) {
	needsChildren(t)
	t.Parallel()
	for patience := 2 * time.Second; ; patience *= 4 { // live ranks may be silent on a busy host
		dir := t.TempDir()
		stopped := make(chan bool)
		go func() {
			defer close(stopped)
			pid := childRank(t, "2", "--iters\x00987653")
			until(t, "rank 2 is in the middle of it", func() bool { return inCapture(dir) > 4<<20 })
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}()
		code, _, errs := call(t, "rdma", "allreduce", "--ranks", "3", "--bytes", "1MiB", "--iters", "987653",
			"--patience", patience.String(), "--timeout", "31", "--pcap", filepath.Join(dir, "a.pcapng"))
		if <-stopped; code == 1 && strings.Contains(errs, "rank 2 sent nothing for") {
			return
		} else if patience > 2*time.Minute {
			t.Fatalf("exit %d: %s", code, errs)
		}
		t.Logf("patience %v: exit %d: %s", patience, code, errs)
	}
}

// inCapture returns how much rank 2 has written of its capture, which has another name until it is complete.
func inCapture(dir string) (bytes int64) {
	files, _ := filepath.Glob(filepath.Join(dir, ".a-rank2.pcapng-*"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			bytes += st.Size()
		}
	}
	return bytes
}
