package validate

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/unit"
)

// trees checks NCCL's trees, and the seed's statements about rings and trees: trees
// end sooner where latency counts, rings where bandwidth does, because two
// children of a tree send to one parent.
func trees() ([]Row, error) {
	const source = "NCCL src/graph/trees.cc (docs/references.md, nccl-trees)"
	rows := []Row{exact("parents of 8 ranks in tree 0", source, "[-1 2 4 2 0 6 4 6]",
		fmt.Sprint(coll.TreeParents(8, 0))),
		exact("parents of 8 ranks in tree 1, its mirror", source, "[1 3 1 7 5 3 5 -1]",
			fmt.Sprint(coll.TreeParents(8, 1)))}
	ran := map[string]*result.Summary{} // of which several rows tell
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

// busbw is the bus bandwidth of a large ring over servers whose every NIC has a
// channel: the ceiling that the wire leaves, and what people measure.
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
	if !measured.OK {
		measured.Note = "bare transfers without NCCL's copies and flags reach what the wire leaves"
	}
	return []Row{
		within(claim, "4,096 of 4,178 bytes of a packet on the wire are payload (RoCEv2 over Ethernet)",
			100*wire, 100*got, 0.002, "%.2f %%"), measured}, nil
}
