package validate

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/topo"
)

// manyWays is a connection between two pods of a fat tree, with as many entropy values as paths.
const manyWays = `
name: ways
fabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, cable: 3m}}
transport: {kind: mrc, mrc: {evs: 16, active_evs: 16}}
cc: {algorithm: none}
switch: {pfc: false}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-128/gpu-1, bytes: 2MB}]}}
`

// structuredRows compares entropy values that switches read with the closed form of hashed ones. Of n paths, n
// values at random use n(1-(1-1/n)^n) (docs/references.md, balls-in-bins), and n structured values use all equally.
func structuredRows() ([]Row, error) {
	const ways, seeds = 16, 40
	used := map[string]int{}
	var most, all int64
	for seed := 1; seed <= seeds; seed++ {
		for _, lb := range []string{"ecmp", "structured"} {
			bytes := must(upward(fmt.Sprintf("seed=%d", seed), "lb="+lb))
			used[lb] += len(bytes)
			for _, n := range bytes {
				if lb == "structured" {
					most, all = max(most, n), all+n
				}
			}
		}
	}
	const source = "MRC 1.0, structured EV; docs/references.md, mrc and balls-in-bins"
	hashed := ways * (1 - math.Pow(1-1./ways, ways))
	return []Row{
		within("16 entropy values, hashed: paths taken of 16, mean of 40 seeds", source+", balls in bins",
			hashed,
			float64(used["ecmp"])/seeds, 0.06, "%.2f"),
		exact("16 entropy values that switches read: paths taken of 16, by 40 seeds", source, ways*seeds,
			used["structured"]),
		// a packet more of 31
		within("the same: busiest way over the mean", source, 1, float64(most)*ways*seeds/float64(all), 0.03, "%.3f"),
	}, nil
}

// upward runs the flow and returns the bytes that each used cable carried from its pod up to the cores.
func upward(sets ...string) (bytes []int64, err error) {
	r := must(start(manyWays, sets...))
	do(r.Go(nil))
	do(r.Failed())
	for l, link := range r.Graph.Links {
		low, high := link.A, link.B
		if r.Graph.Nodes[low].Tier > r.Graph.Nodes[high].Tier {
			low, high = high, low
		}
		node := &r.Graph.Nodes[low]
		// data are routed up in the first pod alone; answers, from the last one, are omitted
		if node.Role == topo.Host || node.Tier != 2 || !strings.HasPrefix(node.Name, "agg-1-") {
			continue
		}
		if n := r.Net.Ports[r.Port(l, low)].TxBytes; n > 0 {
			bytes = append(bytes, n)
		}
	}
	return bytes, nil
}
