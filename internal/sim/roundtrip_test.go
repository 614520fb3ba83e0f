package sim

import (
	"fmt"
	"testing"

	"railyard/cc"
	"railyard/internal/exec"
	"railyard/unit"
)

// probe is a controller that records its path and the first round trip.
type probe struct {
	cc.None
	path  cc.Path
	first unit.Time
}

func (*probe) WantsAcks() bool { return true }

func (p *probe) OnAck(_ unit.Time, a *cc.Ack) {
	if p.first == 0 {
		p.first = a.RTT
	}
}

// The path that a controller gets matches a lone packet's measurement, to the picosecond: over one, three and five
// switches, with faster and slower cables, cut-through or not, hashed or sprayed.
func TestRoundTripOfALonePacket(t *testing.T) {
	for _, fabric := range []struct {
		text, to    string
		hops, ports int
	}{
		{"{kind: rail, hosts: 4, spines: 2, uplinks: 2, host_link: {rate: 100Gbps, cable: 3m}",
			"host-2/gpu-1", 1, 1},
		{"{kind: pod, segments: 2, hosts: 2, spines: 2, host_link: {rate: 100Gbps, cable: 3m}",
			"host-4/gpu-1", 3, 2},
		{"{kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}", "host-16/gpu-1", 5, 1},
	} {
		for _, uplink := range []string{"50Gbps", "100Gbps", "400Gbps"} {
			for _, cut := range []bool{false, true} {
				for _, lb := range []string{"ecmp", "spray"} {
					text := fmt.Sprintf(`
fabric: %s, fabric_link: {rate: %s, cable: 30m}, cut_through: %v, pipeline: 350ns}
server: {gpus: 1, nics: 1, nic_ports: %d, nic_latency: 1us}
cc: {algorithm: none}
lb: %s
transport: {write: only, ack_every: 1, recovery: selective}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: %s, bytes: 200KiB}]}}
`, fabric.text, uplink, cut, fabric.ports, lb, fabric.to)
					r := load(t, text)
					var got *probe
					r.Setup.Host.Services[0].CC = func(p cc.Path) cc.Controller {
						got = &probe{None: cc.None{Line: p.Line}, path: p}
						return got
					}
					if err := r.Go(func(exec.Progress) bool { return true }); err != nil {
						t.Fatal(err)
					}
					if got.path.Hops != fabric.hops || got.first != got.path.RTT || got.first == 0 {
						t.Fatalf("told %+v, measured %v, want %d switches in%s", got.path, got.first,
							fabric.hops, text)
					}
				}
			}
		}
	}
}
