package sim

import (
	"fmt"
	"testing"
)

// In an incast so deep that a sender's turn for credit takes longer than the silence after which a sender
// takes packets for lost (100 us), nothing goes again but what was trimmed: who has spent its credit has
// asked for an acknowledgement.
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
			t.Errorf("%s, %d to one: %d packets sent again, %d trimmed, %d came twice", c.algorithm, c.senders,
				s.Retransmissions, s.Trims, r.Hosts.Count.Duplicates)
		}
		wire := float64(c.senders) * 164e3 * 4178 / 4096 * 8 / 100e9 * 1e12
		if over := float64(s.Flows.Max)/wire - 1; over > 0.08 { // headers of what was trimmed, a last turn
			t.Errorf("%s, %d to one: %.1f %% longer than its packets on the wire", c.algorithm,
				c.senders, 100*over)
		}
	}
}
