package validate

import "fmt"

// spraying holds packets sent to the least loaded port against packets sent at
// random, on the permutation in which every link could be full: a switch that looks
// at its queues must not do worse than one that does not.
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
				Source: "spray-random beside it", Expected: fmt.Sprintf("<= %.2f", random),
				Ours: fmt.Sprintf("%.2f", least),
				Diff: fmt.Sprintf("%+.2f %%", 100*(least/random-1)), OK: least <= random}
		}
		rows = append(rows, row("slowest", slowest), row("mean", mean))
	}
	return rows, nil
}
