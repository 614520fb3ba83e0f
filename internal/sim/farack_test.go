package sim

import "testing"

// A lone message on a path whose answer takes longer than IRN's 100 us for a gap is sent once. The path's length is
// known before the first answer.
func TestNoProbeBeforeTheFirstAnswer(t *testing.T) {
	for _, sets := range [][]string{{"transport=uec"}, {"transport=uec", "cc.algorithm=rccc"},
		{"transport.recovery=selective"}} {
		for _, bytes := range []string{"1KB", "1MB", "4MB"} {
			_, s, _ := runAll(t, `
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 800Gbps, delay: 400us}}
switch: {pfc: false}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}
`, append([]string{"workload.traffic.flows[0].bytes=" + bytes}, sets...)...)
			if s.Retransmissions != 0 {
				t.Errorf("%v, %s: %d retransmissions", sets, bytes, s.Retransmissions)
			}
		}
	}
}
