package sim

import (
	"fmt"
	"math"
	"testing"
)

// Whether a flowlet moves depends on its port's load, not on whether a byte takes a whole number of picoseconds:
// 53.3 at 150 Gbit/s, 50 at 160.
func TestFlowletsMoveAtEveryRate(t *testing.T) {
	moves := func(gbps int) float64 {
		_, s, _ := runAll(t, fmt.Sprintf(`
name: flowlets
fabric: {kind: fat-tree, k: 4, host_link: {rate: %dGbps, delay: 1us}}
lb: flowlet
lb_options: {flowlet_gap: 1us}
transport: {recovery: selective}
workload: {traffic: {alltoall: {bytes: 2MB}}}
`, gbps))
		return float64(s.FlowletMoves)
	}
	for odd, even := range map[int]int{150: 160, 300: 320} {
		if a, b := moves(odd), moves(even); a == 0 || math.Abs(a/b-1) > 0.25 {
			t.Errorf("%.0f moves at %dG, %.0f at %dG", a, odd, b, even)
		}
	}
}

// Parallel cables of 100 and 150 Gbit/s carry two and three parts of sprayed traffic, the ratio of their rates. The
// ratio is not rounded to one and two.
func TestSharesFollowRates(t *testing.T) {
	r, _, _ := runAll(t, `
name: shares
fabric:
  kind: graph
  host_link: {rate: 400Gbps, delay: 1us}
  graph:
    hosts: [h1, h2]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: s1, to: s2, rate: 100Gbps}, {from: s1, to: s2, rate: 150Gbps}]
server: {gpus: 1, nics: 1}
lb: spray
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h2/gpu-1, bytes: 8MB}]}}
`)
	slow, fast := r.Net.Ports[r.portA[2]].TxBytes, r.Net.Ports[r.portA[3]].TxBytes
	if got := float64(fast) / float64(slow); math.Abs(got-1.5) > 0.01 {
		t.Errorf("150G carries %.3f times what 100G does", got)
	}
}
