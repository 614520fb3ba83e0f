package validate

import (
	"fmt"
	"strings"

	"railyard/unit"
)

var fewHops = reason("shortest paths by hops",
	"A shortest path has the fewest hops, and may cross two links between groups, through a third group, to save one within a group. Kim's minimal paths cross one.",
	"lb=minimal", "0.124")

// dragonflies measures the use of Valiant's detours. In balanced dragonflies, groups send to the next group, or to
// all groups (docs/references.md, deadlock-free).
func dragonflies() ([]Row, error) {
	var rows []Row
	for _, p := range []int{2, 3} {
		perGroup, groups := 2*p*p, 2*p*p+1
		got := must(carried(p, "valiant", toNeighbours(perGroup*groups, perGroup, 4*unit.MB), 4*unit.MB))
		// A group's cable to another carries a share of its own bytes, and as much of another
		// group's on their second leg; the one to its neighbour carries nothing.
		want := float64(groups-2) / float64(2*perGroup)
		claim := fmt.Sprintf("Valiant, groups that send to their neighbours, %d hosts: share of injected traffic", perGroup*groups)
		rows = append(rows, within(claim, "(g-2)/2ap; Kim et al. 2008: about 1/2", want, got, 0.08, "%.3f"))
	}
	shortest := must(carried(2, "spray-random", toNeighbours(72, 8, 4*unit.MB), 4*unit.MB))
	rows = append(rows, within("the same by the shortest paths, 72 hosts", "Kim et al. 2008: 1/ap", 0.125, shortest,
		0.08, "%.3f").because(fewHops))
	const toAll = "workload: {traffic: {alltoall: {bytes: 2MB}}}\n"
	straight := must(carried(2, "spray-random", toAll, 2*unit.MB))
	around := must(carried(2, "valiant", toAll, 2*unit.MB))
	return append(rows, Row{Claim: "among all hosts the shortest paths carry more than detours",
		Source: "Kim et al. 2008", Expected: fmt.Sprintf("> %.3f", around),
		Ours: fmt.Sprintf("%.3f", straight), Diff: "-", OK: straight > around}), nil
}

// toNeighbours has each host of a group send to one of the next.
func toNeighbours(hosts, perGroup int, bytes unit.Bytes) string {
	var b strings.Builder
	b.WriteString("workload:\n  traffic:\n    flows:\n")
	for i := range hosts {
		fmt.Fprintf(&b, "      - {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %dB}\n", i+1,
			(i+perGroup)%hosts+1, bytes)
	}
	return b.String()
}

// carried returns the share of line rate that a balanced dragonfly carries when every NIC sends the given bytes.
func carried(p int, lb, workload string, bytes unit.Bytes) (float64, error) {
	last, _, err := shares(p, lb, workload, bytes)
	return last, err
}

// shares is that, by the end of the last flow, and by the mean end.
func shares(p int, lb, workload string, bytes unit.Bytes, sets ...string) (last, mean float64, err error) {
	if lb == "valiant" {
		sets = append(sets, "lb_options.per_packet=true")
	}
	r := must(finish(fmt.Sprintf(`
name: dragonfly
fabric:
  {kind: dragonfly, k: %d, allow_deadlock: true,
    host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 65535, window: 65536}
lb: %s
%s`, p, lb, workload), sets...))
	s, _, _ := r.Outcome("")
	if s.Drops > 0 {
		return 0, 0, fmt.Errorf("%s on a dragonfly lost %d packets", lb, s.Drops)
	}
	line := unit.Serialize(bytes*4178/4096, 100*unit.Gbps) // headers of WRITE Only included
	return float64(line) / float64(s.StepTime), float64(line) / float64(s.Flows.Mean), nil
}
