package topo

import (
	"testing"

	"railyard/unit"
)

// AWS P5 has 32 NICs of 100G for 8 GPUs. Every kind of fabric with servers gives each GPU four consecutive NICs,
// and no NIC to two GPUs.
func TestSeveralNICsForAGPU(t *testing.T) {
	cable := Cable{Rate: 100 * unit.Gbps, LengthMM: 3000}
	for kind, p := range map[string]Params{"single-rail": {}, "rail-only": {}, "rail": {Spines: 4, Uplinks: 1},
		"torus": {K: 2, Uplinks: 1}, "dual-rail": {}, "pod": {Spines: 4, Uplinks: 1}} {
		p.Server, p.Hosts, p.Segments, p.HostCable, p.Fabric = Server{GPUs: 8, NICs: 32, Ports: 1}, 4, 1, cable, cable
		if kind == "dual-rail" || kind == "pod" {
			p.Server.Ports = 2
		}
		g, err := Build(kind, p)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		users := map[int]int{}
		for gpu := range g.TotalGPUs() {
			if g.Ways(gpu) != 4 {
				t.Fatalf("%s: %s has %d NICs, want 4", kind, g.GPUName(gpu), g.Ways(gpu))
			}
			for way := range 4 {
				nic := g.WayOf(gpu, way)
				if users[nic]++; g.NICs[nic].Host != g.HostOf(gpu) || users[nic] > 1 {
					t.Errorf("%s: %s has NIC %d of %s, used by %d", kind, g.GPUName(gpu), nic,
						g.Nodes[g.Hosts[g.NICs[nic].Host]].Name, users[nic])
				}
			}
		}
	}
	p := Params{Server: Server{GPUs: 8, NICs: 12, Ports: 1}, Hosts: 1, Segments: 1, HostCable: cable}
	if _, err := Build("rail-only", p); err == nil {
		t.Error("12 NICs serve 8 GPUs")
	}
}
