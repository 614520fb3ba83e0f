package validate

import (
	"fmt"
	"math"

	"railyard/internal/goodput"
	"railyard/unit"
)

// rounds are collectives whose time is a sum of rounds (Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)): each
// round is a message alone on its two links.
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
		rate := goodput.Rate{Component: "gpu", Per: goodput.PerServer, MTBF: 24 * 1000 / 6.5}
		r := must(goodput.Run(goodput.Input{GPUs: c.gpus, PerServer: 8, Days: 2, Spares: -1, Seed: 1, Seeds: 100,
			Stall: goodput.Second, Rates: &goodput.Rates{Rates: []goodput.Rate{rate}}}, nil))
		drawn := 0.0
		for _, p := range r.Parts {
			drawn += p.Drawn
		}
		rows = append(rows, within(fmt.Sprintf("mean time to failure of a job on %d A100, hours, drawn over 100 seeds", c.gpus),
			source, c.want, 48/math.Max(drawn, 1e-9), 0.03, "%.3f"))
	}
	return rows, nil
}
