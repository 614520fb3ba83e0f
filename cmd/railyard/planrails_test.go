package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"railyard/internal/scenariofile"
	"railyard/internal/study/layouts"
)

// Published clusters: those with equal rails can be reduced to a slice, and for the others the obstacle is named.
func TestRailsOfClusters(t *testing.T) {
	for name, want := range map[string]string{
		"superpod":      "4 segments of 32 servers, 32 uplinks",
		"superpod-127":  "the segment of dgx-4-1 has 31 servers, that of dgx-1-1 32",
		"superpod-2048": "64 segments of 32 servers, 32 uplinks",
		"colossus":      "64 segments of 64 servers, 32 uplinks",
		"deepseek-mpft": "64 segments of 32 servers, 32 uplinks",
		"nd-h100-v5":    "60 segments of 30 servers, 32 uplinks",
		"meta-24k":      "rails 1 and 2 meet at rtsw-1-1",
		"campus":        "new-1 has 4 NICs for 8 GPUs",
		"converged":     "storage-1-1 has 0 GPUs, others have 8",
		"hpn": "host-1-1/nic-1, on rail 1, has 2 cables: rails have one NIC of each server, of one cable, " +
			"for each of its 8 GPUs",
	} {
		plan, err := scenariofile.Network(filepath.Join(scenarios(t), "clusters", name+".yaml"), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		r := layouts.RailsOf(plan)
		got := r.Whole
		if r.Separate {
			got = fmt.Sprintf("%d segments of %d servers, %d uplinks", r.Segments, r.Hosts, r.Uplinks)
		}
		if got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
}
