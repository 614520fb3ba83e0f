package sim

import (
	"fmt"
	"testing"

	"railyard/unit"
)

// A NIC that sprays over four ports uses three while one is down at either end, for all of its peers, and then four
// again: 200 us at three quarters cost 50 us.
func TestSpraysOverWhatIsLeft(t *testing.T) {
	const text = `
name: ports
fabric:
  types: {host: {gpus: 1, nics: 1, nic_ports: 4, nic_rate: 100Gbps}, leaf: {ports: 64x100Gbps}}
  nodes: {host: {type: host, count: 3}, leaf: {type: leaf, per: {plane: 4}}}
  cables: [{from: host, to: leaf, match: {plane: port}, length: 5m}]
server: {bond: spray}
transport: {write: only, recovery: selective}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 16MiB},
  {from: host-1/gpu-1, to: host-3/gpu-1, bytes: 16MiB}]}}
`
	took := func(more string) unit.Time {
		_, s, _ := runAll(t, text+more)
		return unit.Time(s.StepTime)
	}
	whole := took("")
	for _, c := range []struct {
		end, until string
		want       unit.Time
	}{
		{"host-1:nic1p1", "", whole * 4 / 3},
		{"host-2:nic1p3", "", whole * 4 / 3}, // the other peer is reached through the same three
		{"host-1:nic1p4", ", until: 200us", whole + 50*unit.Microsecond},
		{"host-3:nic1p2", ", until: 200us", whole + 50*unit.Microsecond},
	} {
		got := took(fmt.Sprintf("failures: [{link: '%s', at: 0ns, converge: 0ns%s}]\n", c.end, c.until))
		if d := got - c.want; d < -whole/100 || d > whole/50 {
			t.Errorf("%s%s: %v, want %v; without it %v", c.end, c.until, got, c.want, whole)
		}
	}
}
