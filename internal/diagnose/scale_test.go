package diagnose

import (
	"fmt"
	"testing"

	"railyard/internal/counters"
)

// TestLarge diagnoses 200 leaves with 64 ports each, 12,800 hosts, one of which pauses, in
// seconds: nothing in it is quadratic in ports.
func TestLarge(t *testing.T) {
	l := &lab{before: map[string]*counters.Snapshot{}, after: map[string]*counters.Snapshot{}}
	var ports []string
	for i := 1; i <= 64; i++ {
		ports = append(ports, fmt.Sprintf("Ethernet1/%d", i))
	}
	for i := range 200 {
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
	if len(r.Findings) != 1 || r.Findings[0].Device != "host-77-7" || r.Ports != 2*12_800 {
		t.Errorf("%d ports, %+v", r.Ports, r.Findings)
	}
}
