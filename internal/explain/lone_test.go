package explain_test

import (
	"testing"

	"railyard/internal/cause"
)

// TestLoneFlow checks that a flow which nobody meets loses time to latency alone, however little that is: one over both
// ports of a NIC, and one over a rail with several spines.
func TestLoneFlow(t *testing.T) {
	for _, text := range []string{`
fabric: {kind: dual-rail, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: affinity}
cc: {algorithm: none}
transport: {qps: 2}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 64MiB}]}}
`, `
fabric: {kind: rail, segments: 2, hosts: 2, spines: 4, host_link: {rate: 200Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 64MiB}]}}
`} {
		_, s, _ := runAll(t, text)
		if ids := s.Chain.Ranked(0); len(ids) != 1 || ids[0] != cause.Latency {
			t.Errorf("a lone flow loses time to more than latency: %+v", *s.Chain)
		}
	}
}

// TestLoneWindow checks that a flow alone whose packets in flight are fewer than a long path holds loses its time to
// the window, whatever carries it, and by as much as a window without limit saves.
func TestLoneWindow(t *testing.T) {
	for transport, wide := range map[string][]string{
		"falcon": {"transport.falcon.window=4096"},
		"mrc":    {"transport.mrc.psn_range=32640"},
		"srd":    {"transport.srd.window=16384"},
		"uec":    {"transport.window=32768"},
	} {
		rate := map[bool]string{true: "200Gbps", false: "1600Gbps"}[transport == "falcon"]
		text := "fabric: {kind: fat-tree, k: 4, host_link: {rate: " + rate + `, delay: 30us}}
server: {nic_latency: 0s, gpus: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-14/gpu-1, bytes: 48MB}]}}
transport: ` + transport + "\n"
		_, s, _ := runAll(t, text)
		_, other, _ := runAll(t, text, wide...)
		saved, says := s.StepTime-other.StepTime, s.Chain.Of(cause.Window)
		if saved < s.StepTime/5 || 10*abs(says-saved) > saved {
			t.Errorf("%s: %d ps of %d are the window's, without which %d are saved: %+v", transport, says, s.StepTime,
				saved, *s.Chain)
		}
	}
}
