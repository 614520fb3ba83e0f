package sim

import (
	"fmt"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

// topology.json lists how GPUs are connected without the network. The trays of a rack are one domain with the
// rack's name; servers with an NVLink switch or pair links each have their own. It also lists the NICs by which
// each GPU sends.
func TestTopologyDomains(t *testing.T) {
	for _, c := range []struct {
		cluster, name, by string
		domains, nodes    int // nodes of one domain
		gpus              int
		rate              unit.Rate // NVLink's at the share that kernels reach
	}{
		{"nvl72", "rack 1", "NVLink", 2, 18, 72, 5774_400_000_000},
		{"mi300x", "host-1-1", "pair link", 16, 1, 8, 384 * unit.Gbps},
		{"pollara", "host-1", "pair link", 8, 1, 8, 384 * unit.Gbps},
	} {
		text, sets := small(t, c.cluster)
		r, _, tab := runAll(t, text, sets...)
		d := tab.Topology.Domains
		if len(d) != c.domains || d[0].Name != c.name || d[0].By != c.by || d[0].Rate != int64(c.rate) ||
			d[0].GPUs != c.gpus || len(d[0].Nodes) != c.nodes {
			t.Errorf("%s: %d domains, %+v", c.cluster, len(d), d[:min(1, len(d))])
		}
		gpus, seen := 0, map[string]int{}
		for _, n := range tab.Topology.Nodes {
			gpus += n.GPUs
			if n.GPUs > 0 && n.Role != topo.Host.String() {
				t.Errorf("%s, a %s, has GPUs", n.Name, n.Role)
			}
		}
		for _, n := range tab.Topology.NICs {
			for _, g := range n.GPUs {
				seen[fmt.Sprintf("%s/gpu-%d", tab.Topology.Nodes[n.Host].Name, g)]++
			}
		}
		for i := range r.Plan.Graph.TotalGPUs() {
			if name := r.Plan.Graph.GPUName(i); seen[name] != r.Plan.Graph.Ways(i) {
				t.Errorf("%s: %s sends by %d NICs, want %d", c.cluster, name, seen[name],
					r.Plan.Graph.Ways(i))
			}
		}
		if gpus != r.Plan.Graph.TotalGPUs() {
			t.Errorf("%s: %d GPUs, want %d", c.cluster, gpus, r.Plan.Graph.TotalGPUs())
		}
	}
}
