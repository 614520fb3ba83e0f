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
		if ids := s.Chain.Ranked(); len(ids) != 1 || ids[0] != cause.Latency {
			t.Errorf("a lone flow loses time to more than latency: %+v", *s.Chain)
		}
	}
}
