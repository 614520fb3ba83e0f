package validate

import (
	"fmt"
	"regexp"
	"strings"

	"railyard/scenarios"
)

var shrinks = regexp.MustCompile(`--set\s+(fabric\S+=\S+)`)

// metaRun is the result of an all-reduce in Meta's cluster, mean of two seeds.
type metaRun struct {
	us, marked float64 // step time; packets that met a queue
	lost       int64
}

// metaRoCE runs an all-reduce of 64 MiB on 16 servers of Meta's cluster.
func metaRoCE(sets ...string) (m metaRun, err error) {
	text := scenarios.Clusters()["clusters/meta-24k.yaml"]
	for _, s := range shrinks.FindAllStringSubmatch(text, -1) {
		sets = append(sets, s[1])
	}
	small := strings.Replace(text, "permutation: {bytes: 256KiB}", "collective: {kind: all-reduce, bytes: 64MiB}", 1)
	for seed := 1; seed <= 2; seed++ {
		r := must(finish(small, append(sets, fmt.Sprintf("seed=%d", seed))...))
		s, _, _ := r.Outcome("")
		m.us, m.marked = m.us+float64(s.StepTime)/2e6, m.marked+float64(s.ECNMarks)/2
		m.lost += s.Drops
	}
	return m, nil
}

var (
	fewFlows = reason("few flows of a tree",
		"Queue pairs gain the more the fewer flows there are. NCCL's model picks a tree here, which has few; Meta's algorithm is not published.",
		"workload.traffic.collective.algorithm=ring", "+4 %")
	oneTree = reason("one tree for a mean of jobs",
		"Meta's figure is a mean over jobs that it does not describe, from a simulator of flows. Here one tree is limited by more than the links between racks.",
		NoSetting, "the jobs are not published; a ring has 1.01")
)

// metaRows compare three features that Meta uses at 400G: hashing on queue pairs' numbers (E-ECMP), several queue pairs
// per peer, and receiver-driven admission without DCQCN. Their receivers do so in the collective library, by buffers
// that it clears to send; here they do by RCCC's credits.
func metaRows() ([]Row, error) {
	const source = "Gangidi et al., SIGCOMM 2024, from docs/references.md, meta-roce"
	runs := map[string]metaRun{}
	for name, sets := range map[string]string{
		"1":     "cc.algorithm=rccc transport.qps=1",
		"4":     "cc.algorithm=rccc",
		"16":    "cc.algorithm=rccc transport.qps=16",
		"dcqcn": "cc.algorithm=dcqcn", "none": "cc.algorithm=none",
		"even": "cc.algorithm=none transport.qps=1 lb=spray transport.write=only transport.recovery=selective",
	} {
		got, err := metaRoCE(strings.Fields(sets)...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		runs[name] = got
	}
	one, four, many := runs["1"], runs["4"], runs["16"]
	const claim = "Meta, all-reduce of 128 GPUs, receivers admit: "
	most := func(words string, qps metaRun) Row {
		gain := 100 * (one.us/qps.us - 1)
		return Row{Claim: claim + words, Source: source, Expected: "up to +40 %", Diff: "-",
			Ours: fmt.Sprintf("+%.0f %%", gain), OK: gain > 0 && gain <= 40}
	}
	rows := []Row{
		{Claim: claim + "us with 1, 4 and 16 queue pairs hashed by their numbers", Source: source,
			Expected: "less with more", Ours: fmt.Sprintf("%.0f, %.0f, %.0f", one.us, four.us, many.us),
			Diff: "-", OK: one.us > four.us && four.us > many.us},
		most("4 queue pairs against plain ECMP", four),
		most("16 queue pairs against plain ECMP", many),
		within(claim+"4 queue pairs, time against that with packets spread evenly",
			source+": 1.4 times its roofline on average", 1.4, four.us/runs["even"].us, 0.1, "%.2f"),
		{Claim: "the same, 4 queue pairs: us, and with DCQCN instead",
			Source: source + ": DCQCN dropped at 400G", Expected: "not more",
			Ours: fmt.Sprintf("%.0f, %.0f", four.us, runs["dcqcn"].us),
			Diff: fmt.Sprintf("%+.0f %%", 100*(four.us/runs["dcqcn"].us-1)), OK: four.us <= runs["dcqcn"].us},
		{Claim: "the same: packets marked in queues, and with PFC alone",
			Source:   source + ": admission keeps down what is under way",
			Expected: "fewer", Ours: fmt.Sprintf("%.0f, %.0f", four.marked, runs["none"].marked),
			Diff: fmt.Sprintf("%+.0f %%", 100*(four.marked/runs["none"].marked-1)),
			OK:   four.marked < runs["none"].marked},
		exact("the same: packets lost", "lossless", 0, one.lost+four.lost+many.lost),
	}
	for i, why := range []*Reason{1: fewFlows, 2: fewFlows, 3: oneTree} {
		rows[i] = rows[i].because(why)
	}
	return rows, nil
}
