package sim

import (
	"fmt"
	"testing"
)

// A deep incast: a sender's turn for credit takes longer than the silence of 100 us after which packets count as
// lost. Only trimmed packets are retransmitted, because a sender that has spent its credit has requested an
// acknowledgement.
func TestDeepIncastOnCredit(t *testing.T) {
	for _, c := range []struct {
		algorithm string
		senders   int
	}{{"rccc", 127}, {"uec", 127}, {"eqds", 500}, {"ndp", 500}} {
		r, s, _ := runAll(t, fmt.Sprintf(`
fabric: {kind: rail-only, hosts: %d, host_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
cc: {algorithm: %s}
transport: uec
workload: {traffic: {incast: {bytes: 164KB, fan_in: %[3]d}}}
`, c.senders+1, c.algorithm, c.senders))
		if s.Retransmissions != s.Trims || r.Hosts.Count.Duplicates > 0 {
			t.Errorf("%s, %d to one: %d packets retransmitted, %d trimmed, %d came twice", c.algorithm, c.senders,
				s.Retransmissions, s.Trims, r.Hosts.Count.Duplicates)
		}
		wire := float64(c.senders) * 164e3 * 4178 / 4096 * 8 / 100e9 * 1e12
		if over := float64(s.Flows.Max)/wire - 1; over > 0.08 { // headers of trimmed packets, and a last turn
			t.Errorf("%s, %d to one: %.1f %% longer than its packets on the wire", c.algorithm,
				c.senders, 100*over)
		}
	}
}

// MRC in a deep incast: one packet of every sender is together more than queue and path hold. Windows are at a
// packet although ports to servers do not mark, so about as many packets are trimmed as arrive. Packets in the full
// queue are not mistaken for lost when headers overtake them. Probes are few compared with the data.
func TestDeepIncastOverMRC(t *testing.T) {
	for _, gbps := range []float64{100, 800} {
		_, s, _ := runAll(t, fmt.Sprintf(`
fabric: {kind: fat-tree, k: 8, host_link: {rate: %gGbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
transport: mrc
workload: {traffic: {incast: {bytes: 500KB, fan_in: 127}}}
`, gbps))
		const packets = 127 * 123
		if s.Trims > 2*packets || s.Timeouts > packets/50 {
			t.Errorf("%gG: %d packets trimmed, %d time-outs for %d packets of data", gbps, s.Trims, s.Timeouts, packets)
		}
		for _, c := range s.Control[0].Counters {
			if c.Name == "reverse_probes" && c.Count > packets/2 || c.Name == "probes" && c.Count > packets*2/3 {
				t.Errorf("%gG: %d %s for %d packets of data", gbps, c.Count, c.Name, packets)
			}
		}
		wire := (packets*(4096+120+20) + float64(s.Trims)*(128+20)) * 8 / gbps * 1e3
		if over := float64(s.Flows.Max)/wire - 1; over > 0.07 { // at 800G a round trip is 2 %
			t.Errorf("%gG: %.1f %% longer than data and headers of trimmed packets on the wire", gbps, 100*over)
		}
	}
}

// SRD in incasts: rates follow the arrivals, so the receiver's port stays busy. If all packets in flight of a
// sender are dropped in a first burst, silence reveals it within a few round trips, although the burst's round
// trips were twenty times as long.
func TestDeepIncastOverSRD(t *testing.T) {
	for _, c := range []struct {
		gbps, senders float64
		bytes, most   float64
	}{{100, 16, 1e6, 0.08}, {800, 96, 5e5, 0.2}} {
		_, s, _ := runAll(t, fmt.Sprintf(`
fabric: {kind: fat-tree, k: 8, host_link: {rate: %gGbps, delay: 1us}}
server: {gpus: 1, nics: 1}
transport: srd
workload: {traffic: {incast: {bytes: %.0fB, fan_in: %g}}}
`, c.gbps, c.bytes, c.senders))
		wire := c.senders * c.bytes * 4178 / 4096 * 8 / c.gbps * 1e3
		if over := float64(s.Flows.Max)/wire - 1; over > c.most {
			t.Errorf("%g to one at %gG: %.1f %% longer than the data on the wire, %d dropped", c.senders, c.gbps, 100*over,
				s.Drops)
		}
	}
}
