package lab

import (
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

// A lab has no bonds. It reports this before it creates anything.
func TestNoChannelsInALab(t *testing.T) {
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 1, NICs: 1, Ports: 1}, Hosts: 1,
		Segments: 2, Spines: 1, Uplinks: 2, HostCable: topo.Cable{Rate: unit.Gbps},
		Fabric: topo.Cable{Rate: unit.Gbps}})
	if err == nil {
		err = g.BundleAll(2, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decide(g, Options{}); err == nil || !strings.Contains(err.Error(), "have no bonds") {
		t.Error(err)
	}
}
