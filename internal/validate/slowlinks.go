package validate

import (
	"fmt"
	"strings"

	"railyard/unit"
)

// slowLinks is htsim's scenario: 1,024 hosts, a permutation of 2 MB, eight cables that run at a tenth of
// their rate down from cores, up at all of it. Each goes to another aggregation switch of one pod, so that
// below every aggregation switch elsewhere one of eight ways to that pod is slow. What each way of load
// balancing makes of it is stated; no figure is published that ours could be compared with. Not large are the
// two that the last row compares.
func slowLinks(large bool) (rows []Row, err error) {
	mean, last := map[string]unit.Time{}, map[string]unit.Time{}
	ideal := unit.Serialize(2_000_000*4178/4096, 100*unit.Gbps)
	for _, lb := range []string{"ecmp", "flowlet", "spray-random", "spray-least", "dlb", "glb", "reps"} {
		if lb != "dlb" && lb != "glb" && !large {
			continue
		}
		if mean[lb], last[lb], err = throughSlowLinks(lb); err != nil {
			return nil, err
		}
		rows = append(rows, Row{Claim: "eight slow core links of 1,024 hosts, lb " + lb + ": mean and last " +
			"completion of 2 MB", Source: "htsim's scenario, stated; expected is line rate alone",
			Expected: "> " + ideal.String(), Ours: fmt.Sprintf("%v, %v", mean[lb], last[lb]), Diff: "-",
			OK: mean[lb] > ideal && last[lb] > mean[lb]})
	}
	return append(rows, Row{Claim: "switches that hear from their neighbours (glb) avoid slow links, those " +
		"that do not (dlb) cannot", Source: "a core's queue is seen by the core alone",
		Expected: fmt.Sprintf("< %v", last["dlb"]/2), Ours: last["glb"].String(), Diff: "-",
		OK: last["glb"] < last["dlb"]/2}), nil
}

func throughSlowLinks(lb string) (mean, last unit.Time, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, `
name: slow-links
fabric: {kind: fat-tree, k: 16, tiers: 3, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 32767, window: 32768}
lb: %s
workload: {traffic: {permutation: {bytes: 2MB, groups: all}}}
events:
`, lb)
	for i := range 8 {
		fmt.Fprintf(&b, "  - {link: 'agg-1-%d:Eth%d', at: 0s, rate_share: 0.1, direction: in}\n", i+1, i+1)
	}
	r, err := finish(b.String())
	if err != nil {
		return 0, 0, err
	}
	s, _, _ := r.Outcome("")
	if s.Drops > 0 {
		return 0, 0, fmt.Errorf("%s lost %d packets", lb, s.Drops)
	}
	return unit.Time(s.Flows.Mean), unit.Time(s.Flows.Max), nil
}
