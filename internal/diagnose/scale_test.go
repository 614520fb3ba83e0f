package diagnose

import (
	"fmt"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/long"
)

// TestLarge diagnoses 100 or 200 leaves with 64 ports each, up to 12,800 hosts, one of which pauses.
func TestLarge(t *testing.T) {
	leaves := long.N(100, 200)
	l := &lab{before: map[string]*counters.Snapshot{}, after: map[string]*counters.Snapshot{}}
	var ports []string
	for i := 1; i <= 64; i++ {
		ports = append(ports, fmt.Sprintf("Ethernet1/%d", i))
	}
	for i := range leaves {
		leaf := fmt.Sprintf("leaf%d", i+1)
		l.device(leaf, counters.Switch, "nxos-queuing", ports)
		for k, p := range ports {
			host := fmt.Sprintf("host-%d-%d", i+1, k+1)
			l.device(host, counters.Host, "ethtool", []string{"eth0"})
			l.cable(leaf, p, host, "eth0")
		}
	}
	l.pause("host-77-7", "eth0", 5_000)
	r, err := Diagnose(l.input())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Device != "host-77-7" || r.Ports != 2*64*leaves {
		t.Errorf("%d ports, %+v", r.Ports, r.Findings)
	}
}
