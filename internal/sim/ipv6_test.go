package sim

import (
	"fmt"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// IPv6's longer header costs time. A lone message of n packets takes the time of 20 bytes per packet on its slowest
// cable, and of 20 bytes on every other cable, by RoCEv2 and by MRC. Its ideal time agrees, for store-and-forward
// and cut-through switches.
func TestIPv6TakesItsBytes(t *testing.T) {
	const text = `name: x
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
cc: {algorithm: none}
switch: {pfc: false}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: %dB}]}}
`
	const packets = 50
	for _, c := range []struct {
		kind string
		cut  bool
		want int // bytes more, on 100 Gbit/s, until the last bit is in
	}{
		// the first packet passes four cables, and the others follow with 20 more bytes each; with cut-through,
		// each of the three switches waits for the longer header instead
		{"roce", false, 20 * (packets + 3)}, {"mrc", false, 20 * (packets + 3)},
		{"roce", true, 20 * (packets + 3)}, {"srd", false, 20 * (packets + 3)},
		{"falcon", false, 0}, // it always uses IPv6
	} {
		var took [2]unit.Time
		for i, ip := range []int{4, 6} {
			r, _, tab := runAll(t, fmt.Sprintf(text, packets*4096)+"transport: {kind: "+c.kind+"}\n",
				fmt.Sprintf("fabric.ip=%d", ip), fmt.Sprintf("fabric.cut_through=%v", c.cut))
			m := &r.Hosts.Messages[0]
			took[i] = unit.Time(tab.Flows[0].Ideal)
			if took[i] != m.Done-m.Posted && c.kind != "mrc" { // its probes are sent between its data
				t.Errorf("%s, IPv%d, cut through %v: took %v, ideal %v", c.kind, ip, c.cut, m.Done-m.Posted,
					took[i])
			}
		}
		want := unit.Serialize(unit.Bytes(c.want), 100*unit.Gbps)
		if c.cut { // packets leave a switch once their header has arrived
			want = unit.Serialize(20*packets+3*20, 100*unit.Gbps)
		}
		if got := took[1] - took[0]; got != want {
			t.Errorf("%s, cut through %v: IPv6 takes %v more, want %v", c.kind, c.cut, got, want)
		}
	}
	if roce.IPv6More != 20 {
		t.Error(roce.IPv6More)
	}
}
