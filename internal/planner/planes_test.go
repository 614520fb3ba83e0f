package planner

import (
	"strings"
	"testing"
)

// Planes are counted as real hardware: DeepSeek's eight rails of 2,048 ports on switches of 64 are 768 switches
// (arXiv 2505.09343, table 3). Pods of the same switches need 1,280.
func TestRailPlanes(t *testing.T) {
	in := input(t, 16_384, "64x400G", "64x400G", "1:1")
	d := find(t, in, "rail-planes")
	if !d.Fits() || d.GPUs != 16_384 || d.Tiers[0].Count != 512 || d.Tiers[1].Count != 256 ||
		d.CableCount() != 2*16_384 || d.Bisection != 1 || d.Hops != 3 {
		t.Errorf("%+v", d)
	}
	ports := in
	ports.NICRate, ports.NICPorts = 800, 2 // the same for each of two ports
	if d := find(t, ports, "rail-port-planes"); !d.Fits() || d.GPUs != 16_384 || d.Tiers[0].Count != 1024 ||
		d.Tiers[1].Count != 512 || d.CableCount() != 4*16_384 || d.Bisection != 1 {
		t.Errorf("%+v", d)
	}
	if d := find(t, in, "rail-pods"); d.Switches() != 1280 {
		t.Errorf("%+v", d)
	}
	in.GPUs++
	if d := find(t, in, "rail-planes"); d.Fits() || !strings.Contains(d.Reason, "at most 16,384 GPUs") {
		t.Errorf("%+v", d)
	}
	one := input(t, 2048, "64x400G", "64x400G", "1:1")
	one.PerServer = 1 // no second rail
	for _, in := range []FabricInput{one, input(t, 64, "64x400G", "64x400G", "1:1")} {
		if d := find(t, in, "rail-planes"); d.Fits() || d.Reason == "" {
			t.Errorf("%+v", d)
		}
	}
}

// A pod of Alibaba's HPN has 240 ToRs with 60 uplinks each and 120 switches above. With 64 uplinks, for all of a
// ToR's 128 ports of 200G, there are 128. The failure of one switch isolates no GPU.
func TestPortPlanes(t *testing.T) {
	in := input(t, 15_360, "128x400G", "128x400G", "1:1")
	if d := find(t, in, "port-planes"); d.Fits() || !strings.Contains(d.Reason, "two ports or more") {
		t.Errorf("%+v", d)
	}
	in.NICPorts = 2
	d := find(t, in, "port-planes")
	if !d.Fits() || d.Tiers[0].Count != 240 || d.Tiers[1].Count != 128 || d.Tiers[0].Failure != 0 ||
		d.Cables[0].Count != 2*15_360 || d.Cables[1].Count != 15_360 || d.Tiers[0].Down != 128 {
		t.Errorf("%+v", d)
	}
	for _, ports := range []int{-1, 3, 9} {
		in.NICPorts = ports
		if _, err := Fabrics(in); err == nil || !strings.Contains(err.Error(), "nic-ports") {
			t.Errorf("%d ports: %v", ports, err)
		}
	}
}

// 131,072 NICs of 800G in eight planes are 512 leaves of 256 down ports per plane. Their cables to spines are
// broken out like those of the NICs (OCP MRC; docs/references.md, mrc). Fewer NICs, whose leaves fit the spines'
// whole ports, are cabled by whole ports.
func TestPlanesBrokenOut(t *testing.T) {
	for _, c := range []struct{ gpus, leaves, up, spines int }{{131_072, 4096, 256, 2048},
		{8192, 256, 32, 128}} {
		in := input(t, c.gpus, "64x800G", "64x800G", "1:1")
		in.NICRate, in.NICPorts = 800, 8
		d := find(t, in, "port-planes")
		if !d.Fits() || d.Tiers[0].Count != c.leaves || d.Tiers[0].Up != c.up || d.Tiers[0].Down != 256 ||
			d.Tiers[1].Count != c.spines || d.GPUs != c.gpus {
			t.Errorf("%d GPUs: %s %+v", c.gpus, d.Reason, d.Tiers)
		}
	}
}
