package fitting

import (
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/unit"
)

// TestPlantedFaults measures clusters with a fault at 1 MiB to 8 GiB, with 1.5 % of noise. The fault is of the first
// three hypotheses that explain all sizes or the bandwidth; a cluster without one is as expected. Half of the faults
// are for the long tests.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	fidelity := "flow"
	if long.On() {
		fidelity = "auto"
	}
	const rail = "fabric: {kind: rail, hosts: 2, spines: 2, host_link: {rate: 400Gbps}}\nserver: {gpu: h100, gpus: 4, nics: 4}\n"
	const pod = "fabric: {kind: pod, segments: 2, hosts: 1, spines: 2, host_link: {rate: 200Gbps}, fabric_link: {rate: 400Gbps}}\n" +
		"server: {gpu: h100, gpus: 4, nics: 4, nic_ports: 2, bond: affinity}\ntransport: {qps: 2, recovery: selective, write: only}\nlb: spray\n"
	for i, c := range []struct{ fabric, was, is, name string }{
		{rail, "", "", ""},
		{rail, "400Gbps", "200Gbps", "every NIC's link at 0.5 "},
		{rail, "nics: 4}", "nics: 4, pcie: 228Gbps}", "PCIe of the NICs carries 227 Gbit/s"},
		{rail, "server:", "events: [{nic: host-1/nic-1, rate_share: 0.5}]\nserver:", "one NIC's link at 0.5 "},
		{rail, "nics: 4}", "nics: 4, nics_used: [nic-1, nic-2]}", "2 of 4 NICs"},
		{pod, "lb: spray", "lb: ecmp", "switches hash flows (ECMP) instead of spray"},
	} {
		if !long.On() && i > 1 && i != 3 {
			continue
		}
		healthy := "name: cluster\nfidelity: " + fidelity + "\n" + c.fabric
		faulty := strings.Replace(healthy, c.was, c.is, 1)
		sizes := []int{1 << 20, 1 << 24, 1 << 28, 1 << 33}
		r := rand.New(rand.NewPCG(1, uint64(i)))
		q := &Question{Fabric: file(t, "s.yaml", healthy), Algorithm: "auto", Largest: 64 * unit.MiB,
			NCCLTests: []string{file(t, "nccl.txt", ncclTests(t, faulty, sizes, 2))}}
		points, without, err := q.Compared(8, simulate, quiet)
		if err != nil || len(points) != len(sizes) || without != "" {
			t.Fatal(c.is, err, without, points)
		}
		for k := range points {
			points[k].Measured *= 1 + 0.015*(2*r.Float64()-1)
		}
		if c.name == "" || !Differ(points) {
			if c.name != "" || Differ(points) {
				t.Errorf("%q: %+v", c.is, points)
			}
			continue
		}
		g, err := q.Explain(points, false, simulate, quiet)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, h := range g.Best[:min(3, len(g.Best))] {
			found = found || strings.HasPrefix(h.Name, c.name) && (g.Explains(&h) || g.Carries(&h))
		}
		if !found {
			t.Errorf("%s: %s, error %.3f", c.is, g.Shape, g.Error)
			for _, h := range g.Best {
				t.Errorf("  %.3f %.3f %s", h.Error, h.Bandwidth, h.Name)
			}
		}
	}
}
