package topo

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/unit"
)

// Parameters that are possible individually but together make more cables than fit any memory (15 GB and more) are
// rejected during the build, not after it.
func TestFabricsThatAreTooLarge(t *testing.T) {
	c := Cable{Rate: unit.Gbps}
	server := Server{GPUs: 1, NICs: 1, Ports: 1}
	for name, p := range map[string]struct {
		kind string
		p    Params
	}{
		"pods": {"rail", Params{Hosts: 1, Segments: 1, Spines: 1024, Uplinks: 256, Pods: 1024,
			Supers: 4096, SuperUp: 256, Planes: 1}},
		"super-spines": {"rail", Params{Hosts: 1, Segments: 1, Spines: 64, Uplinks: 1, Pods: 64, Supers: 4096,
			SuperUp: 256, Planes: 1}},
		"segments": {"rail", Params{Hosts: 1, Segments: 10_000, Spines: 1024, Uplinks: 1, Pods: 1,
			SuperUp: 1, Planes: 1}},
		"a dragonfly": {"dragonfly", Params{K: 1, GroupSize: 512, Groups: 2, Local: 512, Global: 512}},
	} {
		p.p.Server, p.p.HostCable, p.p.Fabric = server, c, c
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := spent()
		_, err := Build(p.kind, p.p)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 200000 nodes or 2200000 cables") {
			t.Errorf("%s: %v", name, err)
		}
		if took, mb := spent()-began, (after.TotalAlloc-before.TotalAlloc)>>20; took > 20*time.Second ||
			mb > 2000 {
			t.Errorf("%s: took %v of a processor and %d MB", name, took, mb)
		}
	}
}

// spent returns the processor time of this process. Unlike elapsed time it does not grow with other load on the
// host.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
