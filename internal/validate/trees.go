package validate

import (
	"fmt"
	"math"

	"railyard/internal/coll"
	"railyard/internal/goodput"
	"railyard/internal/result"
	"railyard/unit"
)

// trees checks NCCL's trees, and the source's statements about rings and trees. Trees are faster where latency
// dominates. Rings are faster where bandwidth dominates, because two children of a tree send to one parent.
func trees() ([]Row, error) {
	const source = "NCCL src/graph/trees.cc (docs/references.md, nccl-trees)"
	rows := []Row{exact("parents of 8 ranks in tree 0", source, "[-1 2 4 2 0 6 4 6]",
		fmt.Sprint(coll.TreeParents(8, 0))),
		exact("parents of 8 ranks in tree 1, its mirror", source, "[1 3 1 7 5 3 5 -1]",
			fmt.Sprint(coll.TreeParents(8, 1)))}
	ran := map[string]*result.Summary{} // summaries of runs that several rows quote
	took := func(n int, pattern, bytes string) (*result.Summary, float64, error) {
		us := func(s *result.Summary) float64 { return float64(s.StepTime) / float64(unit.Microsecond) }
		key := fmt.Sprint(n, pattern, bytes)
		if s := ran[key]; s != nil {
			return s, us(s), nil
		}
		r := must(finish(fmt.Sprintf(`
fabric: {kind: rail, hosts: %d, spines: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {%s: {bytes: %s}}}
`, n, pattern, bytes)))
		s, _, _ := r.Outcome("")
		ran[key] = s
		return s, us(s), nil
	}
	const seed = fabricsSeed + ", gradient aggregation traffic"
	for _, c := range []struct {
		n                    int
		bytes, sooner, later string
	}{{16, "64KiB", "tree-allreduce", "ring-allreduce"}, {64, "64KiB", "tree-allreduce", "ring-allreduce"},
		{256, "64KiB", "tree-allreduce", "ring-allreduce"},
		{64, "32MiB", "ring-allreduce", "tree-allreduce"},
		{64, "64KiB", "halving-doubling", "ring-allreduce"}} {
		_, a := must2(took(c.n, c.sooner, c.bytes))
		_, b := must2(took(c.n, c.later, c.bytes))
		rows = append(rows,
			Row{Claim: fmt.Sprintf("%s of %s over %d servers ends before %s", c.sooner, c.bytes, c.n,
				c.later), Source: seed,
				Expected: "sooner", Ours: fmt.Sprintf("%.0f us against %.0f us", a, b),
				Diff: fmt.Sprintf("%.2fx", b/a), OK: a < b})
	}
	tree, _ := must2(took(64, "tree-allreduce", "32MiB"))
	ring, _ := must2(took(64, "ring-allreduce", "32MiB"))
	rows = append(rows,
		Row{Claim: "two children of a tree send to one parent: queues that a ring does not have",
			Source: seed, Expected: "incast at trees only",
			Ours: fmt.Sprintf("%v, %d ECN marks; ring %v, %d", unit.Bytes(tree.QueuePeak), tree.ECNMarks,
				unit.Bytes(ring.QueuePeak), ring.ECNMarks), Diff: "order",
			OK: tree.QueuePeak > 20*ring.QueuePeak && tree.ECNMarks > 0 && ring.ECNMarks == 0})
	ceiling, err := busbw()
	return append(rows, ceiling...), err
}

var bare = reason("transfers without NCCL's copies and flags",
	"NCCL copies through buffers and polls flags. The simulator sends bare transfers, which reach what headers leave of the line rate.",
	"calibration.nic_share=95", "95.0 %")

// busbw is the bus bandwidth of a large ring over servers with a channel per NIC. It is the highest rate that the
// wire permits, and it is what benchmarks measure.
func busbw() ([]Row, error) {
	r := must(finish(`
fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
workload: {traffic: {collective: {kind: all-reduce, bytes: 1GiB, algorithm: ring, channels: 8}}}
`))
	s, _, _ := r.Outcome("")
	got := float64(unit.GiB) / unit.Time(s.StepTime).Seconds() * busFactor(32) / 400e9
	const claim = "busbw of a 1 GiB ring all-reduce on 4 servers of 8 H100 and 8 x 400G, of the NICs' line rate"
	wire := 4096.0 / (4096 + middleFrame + wireGap)
	measured := Row{Claim: claim, Source: "measured on healthy clusters (docs/references.md, busbw)",
		Expected: "92 to 96 %", Ours: fmt.Sprintf("%.1f %%", 100*got), Diff: "range",
		OK: got >= 0.92 && got <= 0.96}
	return []Row{
		within(claim, "4,096 of 4,178 bytes of a packet on the wire are payload (RoCEv2 over Ethernet)",
			100*wire, 100*got, 0.002, "%.2f %%"), measured.because(bare)}, nil
}

// rounds are collectives whose time is a sum of rounds (Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)). In each
// round a message is alone on its two links.
func rounds() (rows []Row, err error) {
	const source = "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)"
	const bytes = 64 * unit.MB
	for _, n := range []int{4, 16} {
		alone := func(parts int) float64 { return float64(aloneTime(bytes/unit.Bytes(parts), 4096, 2)) / 1e6 }
		halved := 0.0
		for part := 2; part <= n; part *= 2 {
			halved += 2 * alone(part)
		}
		ring := float64(n-1) * alone(n)
		for _, c := range []struct {
			claim, traffic, form string
			want                 float64
		}{
			{"all-gather by ring", "collective: {kind: all-gather, bytes: 64MB, algorithm: ring}", "(p-1) rounds of n/p", ring},
			{"reduce-scatter by ring", "collective: {kind: reduce-scatter, bytes: 64MB, algorithm: ring}",
				"(p-1) rounds of n/p", ring},
			{"all-reduce by halving and doubling", "halving-doubling: {bytes: 64MB}", "2 lg p rounds of n/2, n/4 … n/p", halved},
			// a NIC sends to all others at once: one message's latency for all of them
			{"all-to-all", "collective: {kind: all-to-all, bytes: 64MB}", "(p-1) n/p at line rate, one latency",
				ring - float64(n-2)*2},
		} {
			r := must(finish(fmt.Sprintf(line, n) + "workload: {traffic: {" + c.traffic + "}}"))
			s, _, _ := r.Outcome("")
			rows = append(rows, within(fmt.Sprintf("%s of 64 MB over %d ranks, us", c.claim, n), source+": "+c.form, c.want,
				float64(s.StepTime)/1e6, 0.005, "%.3f"))
		}
	}
	return rows, nil
}

// researchClusters is the mean time to failure of one job that Meta projects from 6.50 failures in 1,000 days of a
// server of its cluster RSC-1.
func researchClusters() (rows []Row, err error) {
	const source = "Kokolis et al., HPCA 2025: RSC-1, 6.50 failures per 1,000 node-days"
	for _, c := range []struct {
		gpus int
		want float64 // hours
	}{{16_384, 1.8}, {131_072, 0.23}} {
		rates, _ := goodput.Named("meta-rsc")
		r := must(goodput.Run(goodput.Input{GPUs: c.gpus, PerServer: 8, Days: 2, Spares: -1, Seed: 1, Seeds: 100,
			Stall: goodput.Second, Rates: rates}, nil))
		drawn := 0.0
		for _, p := range r.Parts {
			drawn += p.Drawn
		}
		rows = append(rows, within(fmt.Sprintf("mean time to failure of a job on %d A100, hours, drawn over 100 seeds", c.gpus),
			source, c.want, 48/math.Max(drawn, 1e-9), 0.03, "%.3f"))
	}
	return rows, nil
}
