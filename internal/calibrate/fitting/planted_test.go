package fitting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
	"railyard/unit"
)

// TestPlantedFaults measures clusters with a fault at 1 MiB to 8 GiB, with 1.5 % of noise. The injected fault is
// among the first three hypotheses that explain all sizes or the bandwidth. A cluster without a fault is as
// expected. Half of the faults are for the long tests.
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

// TestPlantedHalf reads a table of 8 servers of 8 GPUs: 70 µs plus size over 195 GB/s of bus bandwidth, half of the
// bandwidth of their NICs of 400G. Sizes of the middle are faster than simulated. A fault is named, and not
// protocol LL, whose kernels reach 35 GB/s.
func TestPlantedHalf(t *testing.T) {
	if !long.On() {
		t.Skip("simulates 64 GPUs for each hypothesis; TestFaultsBeforeChoices ranks the same errors")
	}
	t.Parallel()
	var b strings.Builder
	b.WriteString("# Collective test starting: all_reduce_perf\n")
	for r := range 64 {
		fmt.Fprintf(&b, "#  Rank %2d Group  0 Pid %d on n%d device %d [0x00] NVIDIA H100\n", r, 100+r, r/8, r%8)
	}
	for _, n := range []float64{1 << 20, 1 << 23, 1 << 29, 1 << 33} {
		us := 70 + n*2*63/64/195e3
		row := fmt.Sprintf(" %.2f %.2f %.2f 0", us, n/us/1e3, n/us/1e3*2*63/64)
		fmt.Fprintf(&b, "%.0f %.0f float sum -1%s%s\n", n, n/4, row, row)
	}
	q := &Question{Fabric: file(t, "s.yaml", "fabric: {kind: rail, hosts: 8, spines: 4, host_link: {rate: 400Gbps}}\n"+
		"server: {gpu: h100, gpus: 8, nics: 8}\ntransport: {qps: 2}\n"), Algorithm: "auto", Largest: 64 * unit.MiB,
		NCCLTests: []string{file(t, "nccl.txt", b.String())}}
	points, _, err := q.Compared(8, simulate, quiet)
	if err != nil {
		t.Fatal(err)
	}
	g, err := q.Explain(points, false, simulate, quiet)
	if err != nil {
		t.Fatal(err)
	}
	ll := func(t Trial) bool {
		return strings.Contains(t.Name, "protocol ll,") || strings.HasSuffix(t.Name, "protocol ll")
	}
	if slices.ContainsFunc(g.Best, ll) || g.Best[0].choice() || !g.Carries(&g.Best[0]) {
		for _, h := range g.Best {
			t.Errorf("%.3f %.3f %s", h.Error, h.Bandwidth, h.Name)
		}
	}
}
