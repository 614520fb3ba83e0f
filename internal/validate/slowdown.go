package validate

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/internal/result"
	"railyard/scenarios"
	"railyard/unit"
)

// figure11 is the topology of HPCC's evaluation (simulation/mix/fat.txt): 20 leaves with 16 hosts each at 100
// Gbit/s, 20 aggregation and 16 core switches at 400 Gbit/s, 1 us per link. Congestion controls have the settings
// of its run.py, DCQCN with prioritized acknowledgements. All messages are counted. Marking thresholds at all ports
// are those of its 100G ports. HPCC uses four times as much at 400G.
const figure11 = `
name: figure 11
fabric: {kind: rail, pods: 5, segments: 4, hosts: 16, spines: 4, uplinks: 1, super_spines: 16, planes: 4,
  host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 400Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
transport: {mtu: 1024, ack_every: 1}
switch: {queues: {"3": {wred_min: 400KB, wred_max: 1600KB, probability: 20}}}
cc: {algorithm: hpcc, hpcc: {profile: artifact, base_rtt: 13us}, dcqcn: {g: 0.00390625, min_rate: 1Gbps}}
output: {causes: false}
workload: {traffic: {background: {load: 30, sizes: sizes/websearch.txt, for: 1ms}}}
`

// slowed is a message: its bytes, and its time divided by the time that it takes on an idle fabric.
type slowed struct {
	bytes  unit.Bytes
	factor float64
}

// slowdowns returns the slowdowns of messages of a web search at a load in percent, for a duration.
func slowdowns(algorithm string, percent int, during string) (all []slowed, err error) {
	const key = "workload.traffic.background."
	sets := []string{"cc.algorithm=" + algorithm, fmt.Sprint(key, "load=", percent), key + "for=" + during}
	if algorithm == "dcqcn" {
		sets = append(sets, "transport.acks=cnp")
	}
	r := must(startWith(figure11, scenarios.File, sets...))
	if err := r.Go(nil); err != nil {
		return nil, err
	}
	_, t, _ := r.Outcome("validate")
	for _, f := range t.Flows {
		all = append(all, slowed{unit.Bytes(f.Bytes), float64(f.Done-f.Posted) / float64(f.Ideal)})
	}
	return all, nil
}

// percentile returns a percentile, by nearest rank, of the slowdowns of messages in a range of sizes. The lower
// size is outside the range, and the upper one is inside.
func percentile(all []slowed, above, upTo unit.Bytes, percent int) float64 {
	all = slices.DeleteFunc(slices.Clone(all), func(s slowed) bool { return s.bytes <= above || s.bytes > upTo })
	slices.SortFunc(all, func(a, b slowed) int { return cmp.Compare(a.factor, b.factor) })
	return all[result.NearestRank(len(all), percent)].factor
}

// slowdownRows compare figure 11 of HPCC (web search, 30 and 50 % load) with the text of its authors
// (docs/references.md, hpcc-results). The paper draws the curves and gives no numbers. The small scenario is
// shorter.
func slowdownRows(large bool) (rows []Row, err error) {
	const source = "HPCC key results (hpcc-group.github.io): shorter for flows < 200 KB, especially at the tail"
	const few = "500us"
	is := percentile(must(slowdowns("hpcc", 30, few)), 0, 200*unit.KB, 99)
	was := percentile(must(slowdowns("dcqcn", 30, few)), 0, 200*unit.KB, 99)
	rows = append(rows, atMost("web search at 30 %, messages of "+few+", up to 200 KB: p99 slowdown under HPCC, of DCQCN's", source, 1,
		is/was, "%.3f"))
	for _, percent := range []int{30, 50} {
		if !large {
			break
		}
		hpcc, dcqcn := must(slowdowns("hpcc", percent, "5ms")), must(slowdowns("dcqcn", percent, "5ms"))
		most := 0.0
		from := unit.Bytes(0)
		for _, to := range []unit.Bytes{30 * unit.KB, 80 * unit.KB, 200 * unit.KB} {
			is, was := percentile(hpcc, from, to, 99), percentile(dcqcn, from, to, 99)
			most = max(most, 100*(1-is/was))
			what := fmt.Sprintf("web search at %d %%, %v to %v: p99 slowdown under HPCC, of DCQCN's", percent, from, to)
			rows = append(rows, atMost(what, source, 1, is/was, "%.3f"))
			rows[len(rows)-1].Note = fmt.Sprintf("HPCC %.2f, DCQCN %.2f", is, was)
			from = to
		}
		middle := percentile(hpcc, 0, 200*unit.KB, 50) / percentile(dcqcn, 0, 200*unit.KB, 50)
		tail := percentile(hpcc, 0, 200*unit.KB, 99) / percentile(dcqcn, 0, 200*unit.KB, 99)
		what := fmt.Sprintf("web search at %d %%, up to 200 KB: the same ratio, at most that of medians", percent)
		rows = append(rows, atMost(what, source, middle, tail, "%.3f"),
			atMost(fmt.Sprintf("web search at %d %%: largest reduction of the p99 slowdown, %%", percent),
				"Li et al. 2019, abstract: up to 95 %", 95, most, "%.1f"))
	}
	return rows, nil
}
