package validate

import (
	"fmt"

	"railyard/internal/result"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

// ballsInBins hashes k flows onto n uplinks with the switches' own ECMP hash
// over many seeds (docs/references.md, balls-in-bins), and then on a real fat tree.
func ballsInBins() ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		n, k int
		max  float64
	}{
		{2, 2, 1.5}, {4, 4, 2.125}, {8, 8, 2.598}, {8, 32, 7.05}, {16, 16, 3.075},
		{16, 256, 23.44}, {16, 1000, 76.84},
	} {
		got := hashMax(c.n, c.k, 4000)
		rows = append(rows, within(fmt.Sprintf("ECMP: %d flows on %d uplinks, mean of the largest load", c.k,
			c.n), "docs/references.md, balls-in-bins", c.max, got, 0.02, "%.3f"))
	}
	idle := must(fatTreeIdle())
	return append(rows, idle...), nil
}

func hashMax(n, k, seeds int) float64 {
	ports := make([]route.Port, n)
	group := make([]int32, n)
	for i := range group {
		group[i] = int32(i)
	}
	sum := 0
	for s := range seeds {
		r := rng.New(uint64(s), "flows")
		c := route.ECMP.Make(nil, route.Site{Seed: uint32(rng.Mix64(uint64(s) + 1))})
		load := make([]int, n)
		for range k {
			load[c.Pick(0, group, 0, uint32(r.Uint64()), ports)]++
		}
		m := 0
		for _, l := range load {
			m = max(m, l)
		}
		sum += m
	}
	return float64(sum) / float64(seeds)
}

// fatTreeIdle counts, on the 128-host fat tree, how many of a leaf's four
// uplinks carry no flow when all four hosts send elsewhere: (1-1/4)^4 of them.
func fatTreeIdle() ([]Row, error) {
	idle, total := 0, 0
	for seed := range 60 {
		r := must(finish(fmt.Sprintf(`
name: permutation
seed: %d
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 256KB}}}
`, seed+1)))
		_, t, _ := r.Outcome("")
		senders := map[string]int{}
		for _, f := range t.Flows {
			src, dst := r.LeafOf(f.From), r.LeafOf(f.To)
			if src != dst {
				senders[src]++
			}
		}
		for _, p := range t.Ports {
			// A port that carried one data packet carried a flow; ACKs alone
			// stay below 10 KB.
			if p.Role == "leaf" && senders[p.Node] == 4 && len(p.Peer) > 3 && p.Peer[:3] == "agg" {
				total++
				if p.WireBytes < 10_000 {
					idle++
				}
			}
		}
	}
	want := 0.31640625
	return []Row{within("fat tree: share of leaf uplinks without a flow, four flows on four uplinks",
		"docs/references.md, balls-in-bins: (1-1/n)^k", want, float64(idle)/float64(total), 0.03, "%.4f")}, nil
}

var inStep = reason("switches in step",
	"Switches that send to their ports in turn fall into step with one another. One ACK for 16 packets rarely disturbs the order.",
	"transport.ack_every=4", "91.6 %")

// loadBalancing is the source documents' thesis by measurement. Large is a permutation of 60 MB.
func loadBalancing(large bool) (rows []Row, err error) {
	text := `
name: thesis
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 20MB}}}
`
	run := func(lb, recovery, write, bytes string) (*result.Summary, error) {
		r := must(finish(text, "lb="+lb, "transport.recovery="+recovery, "transport.write="+write,
			"workload.traffic.permutation.bytes="+bytes))
		s, _, _ := r.Outcome("")
		return s, nil
	}
	ecmp := must(run("ecmp", "go-back-n", "first-middle-last", "20MB"))
	rows = append(rows,
		Row{Claim: "ECMP leaves uplinks idle under a permutation", Source: "seed, chapter 12",
			Expected: "> 0 idle",
			Ours:     fmt.Sprintf("%d of %d idle", ecmp.Links.UplinkIdle, ecmp.Links.Uplinks), Diff: "-",
			OK: ecmp.Links.UplinkIdle > 0},
		Row{Claim: "ECMP keeps mean uplink use below 50 %", Source: "seed, GPU fabrics", Expected: "< 50 %",
			Ours: fmt.Sprintf("%.1f %%", 100*ecmp.Links.UplinkMean), Diff: "-",
			OK: ecmp.Links.UplinkMean < 0.5})
	again := func(s *result.Summary) float64 { return float64(s.Retransmissions) / float64(s.DataPackets) }
	var free, turns *result.Summary
	if large {
		free = must(run("spray-random", "selective", "only", "60MB"))
		turns = must(run("spray", "selective", "only", "60MB"))
		rows = append(rows,
			Row{Claim: "spraying takes mean uplink use above 90 %, start and end included",
				Source: "seed, GPU fabrics", Expected: "> 90 %",
				Ours: fmt.Sprintf("%.1f %%", 100*free.Links.UplinkMean), Diff: "-",
				OK: free.Links.UplinkMean > 0.9},
			Row{Claim: "the same where switches send to their ports in turn, not at random",
				Source: "seed, GPU fabrics", Expected: "> 90 %",
				Ours: fmt.Sprintf("%.1f %%", 100*turns.Links.UplinkMean), Diff: "-",
				OK: turns.Links.UplinkMean > 0.9}.because(inStep))
	}
	gbn := must(run("spray", "go-back-n", "first-middle-last", "2MB"))
	rows = append(rows,
		Row{Claim: "spraying hurts go-back-N with First/Middle/Last: share of packets retransmitted",
			Source: "seed, figure 12-6", Expected: "> 10 %",
			Ours: fmt.Sprintf("%.1f %%", 100*again(gbn)), Diff: "-", OK: again(gbn) > 0.1})
	if large {
		rows = append(rows,
			Row{Claim: "spraying is harmless with WRITE Only and placement in any order: packets retransmitted",
				Source: "seed, figure 12-7", Expected: "0 %",
				Ours: fmt.Sprintf("%.1f %%", 100*again(free)), Diff: "-", OK: free.Retransmissions == 0 &&
					turns.Retransmissions == 0})
	}
	return rows, nil
}

// sharedNICs measures the source's server of figure 13-1: eight GPUs behind two
// 200G NICs get a quarter of a NIC each.
func sharedNICs() ([]Row, error) {
	text := `
name: shared
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 8, nics: 2}
cc: {algorithm: none}
workload:
  traffic:
    flows:
`
	for i := range 8 {
		text += fmt.Sprintf("      - {from: host-1/gpu-%d, to: host-2/gpu-%d, bytes: 16MB}\n", i+1, i+1)
	}
	r := must(finish(text))
	_, t, _ := r.Outcome("")
	lo, hi := t.Flows[0].Done, int64(0)
	for _, f := range t.Flows {
		lo, hi = min(lo, f.Done), max(hi, f.Done)
	}
	want := 4 * 16e6 * 8 / 200e9 * 4178 / 4096 * 1e6
	return []Row{
		within("8 GPUs on two shared 200G NICs: 16 MB each end at 4 x bytes / rate, us",
			"seed, figure 13-1; closed form", want, float64(hi)/float64(unit.Microsecond), 0.01, "%.1f"),
		within("they share evenly: last end over first", "closed form", 1, float64(hi)/float64(lo), 0.01, "%.4f"),
	}, nil
}

// spraying compares packets sent to the least loaded port with packets sent at random. The traffic is a permutation
// that could fill every link. A switch that looks at its queues must be at least as fast as one that does not.
func spraying(large bool) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		hosts, k, seeds int
		bytes           string
	}{{128, 8, 3, "8MB"}, {1024, 16, 2, "2MB"}} {
		if c.k == 16 && !large {
			continue
		}
		slowest, mean := map[string]float64{}, map[string]float64{}
		for _, lb := range []string{"spray-random", "spray-least"} {
			for seed := range c.seeds {
				r := must(finish(fmt.Sprintf(`
name: spraying
seed: %d
fabric: {kind: fat-tree, k: %d, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
lb: %s
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {permutation: {bytes: %s}}}
`, seed+1, c.k, lb, c.bytes)))
				s, _, _ := r.Outcome("")
				slowest[lb] += float64(s.Flows.Max) / 1e6 / float64(c.seeds)
				mean[lb] += float64(s.Flows.Mean) / 1e6 / float64(c.seeds)
			}
		}
		row := func(what string, t map[string]float64) Row {
			random, least := t["spray-random"], t["spray-least"]
			return Row{Claim: fmt.Sprintf("spray-least over %d hosts, permutation of %s: %s flow, us",
				c.hosts, c.bytes, what),
				Source: "spray-random next to it", Expected: fmt.Sprintf("<= %.2f", random),
				Ours: fmt.Sprintf("%.2f", least),
				Diff: fmt.Sprintf("%+.2f %%", 100*(least/random-1)), OK: least <= random}
		}
		rows = append(rows, row("slowest", slowest), row("mean", mean))
	}
	return rows, nil
}
