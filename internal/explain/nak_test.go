package explain_test

import (
	"strings"
	"testing"
)

// TestLostNAK checks that a time-out after a lost NAK is not said to follow a loss at the end of a message: packets
// went on to arrive behind the gap.
func TestLostNAK(t *testing.T) {
	_, s, _ := runAll(t, `name: lf
fabric: {kind: rail, segments: 2, hosts: 1, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 20m}, routing: {detect: 500us, converge: 200us}}
server: {gpus: 1, nics: 1}
failures: [{link: 'seg-1-rail-1:Eth2', at: 1ms}]
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 50MB}]}}
`)
	if s.Naks != 1 || s.Timeouts != 1 || !strings.Contains(s.Slowest.Why, "67.1 ms: the NAK was lost") {
		t.Errorf("%d NAKs, %d time-outs: %s", s.Naks, s.Timeouts, s.Slowest.Why)
	}
}
