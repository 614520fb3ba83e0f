package sim

import (
	"testing"

	"railyard/internal/result"
	"railyard/scenarios"
	"railyard/tcp"
	"railyard/unit"
)

// ranOnCores runs the example's all-reduce on hosts with n cores.
func ranOnCores(t *testing.T, sets ...string) (step unit.Time, s *result.Summary) {
	t.Helper()
	r := load(t, scenarios.Texts()["tcp-or-rdma.yaml"], append([]string{"transport=tcp",
		"workload.traffic.collective.bytes=2MiB"}, sets...)...)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, _, _ = r.Outcome("")
	return unit.Time(s.StepTime), s
}

// TestConnectionsShareCores checks that a host's connections have a core each while there are enough, and share
// them otherwise. Fewer cores take longer, and no host does more work than its cores have time.
func TestConnectionsShareCores(t *testing.T) {
	const hosts = 8
	enough, _ := ranOnCores(t, "transport.qps=4")
	for _, cores := range []int{8, 4, 2, 1} {
		step, s := ranOnCores(t, "transport.qps=4", "transport.tcp.cores="+string(rune('0'+cores)))
		busy := unit.Time(0)
		for i := range s.Control {
			busy += unit.Time(s.Control[i].Counted(tcp.CounterCPU)) * unit.Nanosecond
		}
		switch {
		case cores == 8 && step != enough:
			t.Errorf("a core for each end: %v, without limit %v", step, enough)
		case cores < 8 && step <= enough:
			t.Errorf("%d cores for 8 ends: %v, not above %v", cores, step, enough)
		case busy > hosts*unit.Time(cores)*step:
			t.Errorf("%d cores: %v of work on %d hosts in %v", cores, busy, hosts, step)
		case cores == 1 && busy < hosts*step/2:
			t.Errorf("one core: idle for %v of %v, with work waiting", step-busy/hosts, step)
		}
	}
}
