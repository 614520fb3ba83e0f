package runner

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"railyard/unit"
)

// Memory returns the bytes that can be used without swapping; 0 if unknown. It is the available memory in Linux, or
// less if a control group or the shell's limits (ulimit -v, -d) require it.
func Memory() unit.Bytes {
	least := procBytes("/proc/meminfo", "MemAvailable:")
	lower := func(left unit.Bytes) {
		if least == 0 || left < least {
			least = max(left, 1)
		}
	}
	if limit := cgroupBytes("memory.max"); limit > 0 {
		lower(limit - cgroupBytes("memory.current"))
	}
	for resource, used := range map[int]string{syscall.RLIMIT_AS: "VmSize:", syscall.RLIMIT_DATA: "VmData:"} {
		var r syscall.Rlimit
		if syscall.Getrlimit(resource, &r) == nil && r.Cur < 1<<60 {
			// The collector keeps address space of returned memory: a fifth is reserved for that.
			lower((unit.Bytes(r.Cur) - procBytes("/proc/self/status", used)) / 5 * 4)
		}
	}
	return least
}

// FreeCores returns the number of idle cores of this host: the process's cores less the load of the last minute,
// and at least 1. Parts of a run wait for one another, so that one on a busy core holds up all.
func FreeCores() int {
	cores := runtime.GOMAXPROCS(0)
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return cores
	}
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return max(1, cores-int(load+0.5))
}

// procBytes parses a line such as "MemAvailable: 123 kB"; 0 if there is none.
func procBytes(file, key string) unit.Bytes {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == key {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return unit.Bytes(kib) * unit.KiB
		}
	}
	return 0
}

// cgroupBytes reads a value of the control group that is a container's root; 0 if there is none.
func cgroupBytes(name string) unit.Bytes {
	b, err := os.ReadFile("/sys/fs/cgroup/" + name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0 // "max"
	}
	return unit.Bytes(n)
}
