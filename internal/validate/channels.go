package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// channelled is sixteen flows between two leaves, over spines connected by channels.
const channelled = `
name: channels
fabric: {kind: rail, hosts: 16, segments: 2, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}, spines: %d, uplinks: %d, lag: %d}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [%s]}}
`

const channelFlows = 16

// channelRows compares two consecutive hashes, over channels and over the cables in them, with their closed form.
// If a cable takes a share p of the hash, n flows leave it unused with probability (1-p)^n. With separate seeds
// every link has an equal share. With one seed the second hash repeats the first. The used links are then the
// distinct pairs of halves, thirds and so on of the range of the hash.
func channelRows() (rows []Row, err error) {
	const source = "docs/references.md, balls-in-bins"
	const seeds = 160
	for _, x := range []struct {
		spines, lag int
		seed        string
	}{{4, 4, "own"}, {4, 4, "ecmp"}, {3, 2, "own"}, {3, 2, "ecmp"}} {
		used := 0
		for seed := 1; seed <= seeds; seed++ {
			bytes := must(channelLoad(channelled, x.spines, x.lag, fmt.Sprintf("seed=%d", seed),
				"switch.lag_seed="+x.seed))
			used += len(bytes)
		}
		want := 0.
		for _, p := range hashShares(x.spines, x.lag, x.seed == "ecmp") {
			want += 1 - math.Pow(1-p, channelFlows)
		}
		claim := fmt.Sprintf("16 flows on %d channels of %d, a seed for each hash: cables in use, mean of %d seeds", x.spines, x.lag, seeds)
		if x.seed == "ecmp" {
			claim = fmt.Sprintf("the same, one seed for both (%d x %d)", x.spines, x.lag)
		}
		rows = append(rows, within(claim, source, want, float64(used)/seeds, 0.04, "%.2f"))
	}
	lost := must(channelShare(seeds))
	return append(rows, within("a channel of 4 that has lost 3 members: its share of the flows",
		"its adjacency stays, and ECMP does not see members", 0.25, lost, 0.1, "%.3f")), nil
}

// hashShares are the shares of the hash that cables have.
func hashShares(channels, members int, same bool) (p []float64) {
	if !same {
		return slices.Repeat([]float64{1 / float64(channels*members)}, channels*members)
	}
	cuts := []float64{0, 1}
	for i := 1; i < channels; i++ {
		cuts = append(cuts, float64(i)/float64(channels))
	}
	for i := 1; i < members; i++ {
		cuts = append(cuts, float64(i)/float64(members))
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		if d := cuts[i] - cuts[i-1]; d > 1e-9 {
			p = append(p, d)
		}
	}
	return p
}

// channelShare is the share of flows, over some seeds, on a channel with one remaining member.
func channelShare(seeds int) (float64, error) {
	const lost = "failures: [{link: 'seg-1-rail-1:Eth17', at: 0s}, {link: 'seg-1-rail-1:Eth18', at: 0s}, {link: 'seg-1-rail-1:Eth19', at: 0s}]\n"
	on, all := 0., 0.
	for seed := 1; seed <= seeds; seed++ {
		bytes := must(channelLoad(channelled+lost, 4, 4, fmt.Sprintf("seed=%d", seed)))
		for port, n := range bytes {
			if all += float64(n); strings.HasSuffix(port, ":Eth20") {
				on += float64(n)
			}
		}
	}
	return on / all, nil
}

// channelLoad runs the flows and returns the traffic of each used link up from the first leaf.
func channelLoad(text string, spines, lag int, sets ...string) (map[string]int64, error) {
	var flows []string
	for i := range channelFlows {
		flows = append(flows, fmt.Sprintf("{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 64KB}", i+1,
			i+1+channelFlows))
	}
	r := must(start(fmt.Sprintf(text, spines, lag, lag, strings.Join(flows, ", ")), sets...))
	do(r.Go(nil))
	do(r.Failed())
	bytes, leaf := map[string]int64{}, r.Graph.Node("seg-1-rail-1")
	for l, link := range r.Graph.Links {
		if link.A != leaf && link.B != leaf || link.Channel == 0 {
			continue
		}
		if n := r.Net.Ports[r.Port(l, leaf)].TxBytes; n > 0 {
			bytes[r.Graph.End(l, leaf)] = n
		}
	}
	return bytes, nil
}
