package explain_test

import "testing"

// A run of messages at random times has their slowdowns, and its transfers no rate as a whole. A permutation has a rate
// and no slowdown.
func TestSlowdowns(t *testing.T) {
	const fabric = "name: x\nfabric: {kind: single-rail, hosts: 4}\nserver: {gpus: 1, nics: 1}\n"
	_, s, flows := runAll(t, fabric+"workload: {traffic: {background: {load: 60, sizes: 64KB, for: 200us}}}")
	x := s.Flows.Slowdown
	if x == nil || !s.Collectives[0].Uneven {
		t.Fatalf("slowdown %v, collectives %+v", x, s.Collectives)
	}
	sum, most := 0.0, 0.0
	for _, f := range flows.Flows {
		slower := float64(f.Done-f.Posted) / float64(f.Ideal)
		sum, most = sum+slower, max(most, slower)
	}
	if mean := sum / float64(len(flows.Flows)); x.Max != most || x.Mean < 0.999*mean || x.Mean > 1.001*mean ||
		x.P50 < 1 || x.P99 < x.P50 || x.Max < x.P99 {
		t.Errorf("%+v, want a mean of %v and a maximum of %v", x, mean, most)
	}
	_, s, _ = runAll(t, fabric+"workload: {traffic: {permutation: {bytes: 1MB}}}")
	if s.Flows.Slowdown != nil || s.Collectives[0].Uneven {
		t.Errorf("a permutation has %+v, %+v", s.Flows, s.Collectives)
	}
}

// TestFlowsBound checks that several flows of one NIC have the NIC's rate as bound, not that of one of the flows.
func TestFlowsBound(t *testing.T) {
	text := "name: x\nfabric: {kind: single-rail, hosts: 2, host_link: {rate: 400Gbps}}\nserver: {gpus: 1, nics: 1}\n" +
		"cc: {algorithm: none}\nworkload: {traffic: {flows: ["
	for range 20 {
		text += "{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}, "
	}
	_, s, _ := runAll(t, text+"]}}")
	c := s.Collectives[0]
	if !c.Uneven || c.Bound != 50e9 || c.BoundWhy != "NIC" || c.BusBW < 0.9*c.Bound || c.BusBW > c.Bound {
		t.Errorf("%+v", c)
	}
}
