package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"railyard/internal/lab"
)

// until waits for a condition. Five minutes are for a condition that never holds, not for a busy host.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in five minutes: %s", what)
		}
	}
}

// needsLab skips if no lab can be created.
func needsLab(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, p := range append(programs, "ip", "tc", "nft") {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(p, " is not installed")
		}
	}
	if err := makesNamespaces(); err != nil {
		t.Skip("this machine makes no network namespaces: ", err)
	}
}

// makesNamespaces tries once, after it has removed the remains of killed test processes.
var makesNamespaces = sync.OnceValue(func() error {
	sweepLabs()
	probe := "ry-" + ownName("try")
	if out, err := exec.Command("ip", "netns", "add", probe).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return exec.Command("ip", "netns", "del", probe).Run()
})

// ownPrefix begins the names of tests' labs.
const ownPrefix = "ryt"

// ownName returns a lab's name that no other test process has: the number of this one, and up to four letters and
// digits.
func ownName(suffix string) string {
	pid := strconv.FormatInt(int64(os.Getpid()), 36)
	return ownPrefix + strings.Repeat("0", max(0, 5-len(pid))) + pid + suffix
}

// sweepLabs removes labs and namespaces of test processes that are gone.
func sweepLabs() {
	gone := func(name string) bool {
		rest, ours := strings.CutPrefix(strings.TrimPrefix(name, "ry-"), ownPrefix)
		if !ours || len(rest) < 5 {
			return false
		}
		pid, err := strconv.ParseInt(rest[:5], 36, 64)
		_, there := os.Stat(fmt.Sprint("/proc/", pid))
		return err == nil && os.IsNotExist(there)
	}
	for _, dir := range []string{"/run/railyard-lab", "/run/netns"} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if name := filepath.Base(e.Name()); !gone(name) {
				continue
			} else if dir == "/run/netns" {
				endNetwork(name)
			} else {
				_, _ = lab.Down(context.Background(), name)
			}
		}
	}
}

// network is a separate network namespace for a test, in which every port is free.
type network string

// ownNetwork creates one with a loopback interface and an additional address. Without that address getaddrinfo(3)
// with AI_ADDRCONFIG does not resolve 127.0.0.1 either.
func ownNetwork(t *testing.T, suffix string) network {
	t.Helper()
	n := "ry-" + ownName(suffix)
	for _, args := range [][]string{{"netns", "add", n}, {"-n", n, "link", "set", "lo", "up"},
		{"-n", n, "link", "add", "here", "type", "veth", "peer", "name", "there"},
		{"-n", n, "addr", "add", "192.0.2.1/32", "dev", "here"}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %v: %v: %s", args, err, out)
		}
		if args[1] == "add" {
			t.Cleanup(func() { endNetwork(n) })
		}
	}
	return network(n)
}

// endNetwork removes a namespace and ends processes that still run in it.
func endNetwork(name string) {
	pids, _ := exec.Command("ip", "netns", "pids", name).Output()
	for _, p := range strings.Fields(string(pids)) {
		if pid, err := strconv.Atoi(p); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = exec.Command("ip", "netns", "del", name).Run()
}

// command is a program to run in the namespace; unlike under ip netns exec, /sys does not change.
func (n network) command(name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=/run/netns/" + string(n), name}, args...)...)
}

// daemon starts a program in the namespace that runs until the test ends.
func (n network) daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := n.command(name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
