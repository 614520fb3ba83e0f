package explain_test

import (
	"testing"

	"railyard/internal/cause"
)

// TestCappedByItself checks that a faster fabric, more ports and other paths show no saving for a connection that
// cannot use them. Its window is 0.4 of what the path holds, so it sends at 0.4 of line rate, on one queue pair
// over one port.
func TestCappedByItself(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		of   cause.ID
		sets []string // of a run without the cause
	}{
		"two windows of 0.4 over an uplink": {`
fabric: {kind: rail, hosts: 2, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 5m},
  fabric_link: {rate: 100Gbps, cable: 2km}}
server: {gpus: 1, nics: 1}
cc: {algorithm: nscc, nscc: {max_window: 0.4}}
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 8MB},
  {from: host-2/gpu-1, to: host-4/gpu-1, bytes: 8MB}]}}
`, cause.Oversubscription, []string{"fabric.fabric_link.rate=1600Gbps"}},
		"three windows of 0.43 over an uplink": {`
fabric:
  types: {host: {gpus: 1, nics: 1, nic_rate: 50Gbps}, leaf: {ports: 64x800Gbps}, spine: {like: leaf, role: spine}}
  nodes: {host: {type: host, count: 6}, leaf: {type: leaf, per: {rack: 2}}, spine: {type: spine, count: 1}}
  cables: [{from: host, to: leaf, match: {rack: n/3}, length: 3m}, {from: leaf, to: spine, length: 1km}]
  host_link: {rate: 50Gbps}
  fabric_link: {rate: 50Gbps}
  pipeline: 400ns
server: {gpu: h100}
cc: {algorithm: nscc, nscc: {max_window: 0.43}}
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-1, bytes: 2500KB},
  {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 2500KB}, {from: host-3/gpu-1, to: host-6/gpu-1, bytes: 2500KB},
  {from: host-4/gpu-1, to: host-1/gpu-1, bytes: 2500KB}, {from: host-5/gpu-1, to: host-2/gpu-1, bytes: 2500KB},
  {from: host-6/gpu-1, to: host-3/gpu-1, bytes: 2500KB}]}}
`, cause.Oversubscription, []string{"fabric.fabric_link.rate=800Gbps"}},
		"one queue pair on a NIC of two ports": {`
fabric: {kind: dual-rail, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: hash}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8MB}]}}
`, cause.Collision, []string{"lb=spray"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s, _ := runAll(t, c.text)
			_, other, _ := runAll(t, c.text, c.sets...)
			saves, says := s.StepTime-other.StepTime, s.Chain.Saving[c.of]
			if 50*abs(says-saves) > s.StepTime && 10*abs(says-saves) > saves {
				t.Errorf("without %s %d ps of %d are saved, said are %d", c.of.Get().Name, saves, s.StepTime, says)
			}
		})
	}
}
