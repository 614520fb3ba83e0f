package validate

import (
	"fmt"

	"railyard/internal/fidelity"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/unit"
)

// The fabrics on which the cost model is tried: one rail of four servers, whose tensor
// parallel groups are folded, and four servers between switch pairs.
const (
	oneRail = `
fabric: {kind: rail, hosts: 4, spines: 1, uplinks: 1, host_link: {rate: 400Gbps, cable: 5m}}
server: {gpu: h100, gpus: 1, nics: 1}
`
	switchPairs = `
fabric: {kind: pod, segments: 2, hosts: 2, spines: 4, host_link: {rate: 200Gbps, cable: 5m},
  fabric_link: {rate: 800Gbps, cable: 50m}}
server: {gpu: h100, gpus: 8, nics: 8, nic_ports: 2, bond: affinity}
transport: {qps: 2}
`
)

var evenShares = reason("collisions in the cost model",
	"The cost model divides a link evenly and immediately. Two queue pairs that hash to one link lose 5 % of the step with a NIC's DCQCN, 10 % with the paper's, 14 % with PFC alone.",
	NoSetting, "the estimate has no hash function; railyard run simulates the layout")

// estimates compares plan search's cost model with the simulator, layout by layout.
func estimates(large bool) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		about, fabric string
		training      string
		batch         int64
		why           *Reason // reason if the estimate's error exceeds 3 %
		cc            string  // control whose waste is an input of the model; none for the default
		large         bool
	}{
		{"pp 4, 8 microbatches", oneRail, "tp: 8, pp: 4", 8, nil, "", false},
		{"pp 4, vpp 2, 8 microbatches", oneRail, "tp: 8, pp: 4, vpp: 2, schedule: interleaved", 8, nil, "", false},
		{"pp 4, vpp 4, 4 microbatches", oneRail, "tp: 8, pp: 4, vpp: 4, schedule: interleaved", 4, nil, "", false},
		{"pp 4, vpp 8, 4 microbatches", oneRail, "tp: 8, pp: 4, vpp: 8, schedule: interleaved", 4, nil, "", false},
		{"pp 4, zero-bubble, 1 microbatch", oneRail, "tp: 8, pp: 4, schedule: zero-bubble", 1, nil, "", false},
		{"pp 4, zero-bubble, 8 microbatches", oneRail, "tp: 8, pp: 4, schedule: zero-bubble", 8, nil, "", false},
		{"dp 4", oneRail, "tp: 8, dp: 4, channels: 1", 16, nil, "", false},
		{"dp 4, zero 1", oneRail, "tp: 8, dp: 4, zero: 1, channels: 1", 16, nil, "", false},
		{"dp 4, zero 1, gathered ahead", oneRail, "tp: 8, dp: 4, zero: 1, gather_ahead: true, channels: 1",
			16, nil, "", false},
		{"dp 4, zero 3", oneRail, "tp: 8, dp: 4, zero: 3, channels: 1", 4, nil, "", true},
		{"dp 4, zero 3, gathered by matrix and again", oneRail,
			"tp: 8, dp: 4, zero: 3, recompute: full, gathers: 4, regather: true, channels: 1", 4, nil, "", true},
		{"dp 4 between switch pairs, where queue pairs collide", switchPairs,
			"tp: 8, dp: 4, channels: 1, overlap: false", 4,
			evenShares, "", true},
		{"dp 4 under Swift", oneRail, "tp: 8, dp: 4, channels: 1, overlap: false", 4, nil, "swift", false},
		{"dp 4 under HPCC", oneRail, "tp: 8, dp: 4, channels: 1, overlap: false", 4, nil, "hpcc", true},
		{"dp 4 under EQDS", oneRail, "tp: 8, dp: 4, channels: 1, overlap: false", 4, nil, "eqds", true},
		{"pp 4 under NSCC, 8 microbatches", oneRail, "tp: 8, pp: 4", 8, nil, "nscc", false},
	} {
		if c.large && !large {
			continue
		}
		if c.fabric == oneRail {
			c.training += ", fold: true"
		}
		text := fmt.Sprintf("%sworkload: {training: {model: llama-2-7b, sequence: 2048, efficiency: 60, global_batch: %d, %s}}\n", c.fabric, c.batch, c.training)
		var sets []string
		if c.cc != "" {
			sets = []string{"cc.algorithm=" + c.cc}
		}
		r := must(startWith(text, nil, sets...))
		t, p := r.Plan.Jobs[0].Training, r.Plan
		site := planner.SiteOf(r.Graph, p.GPU, t.GPUs(), p.NVLink)
		site.PerServer = 8
		site.NVLatency, site.Latency, site.QPs = p.NVLatency, 2*p.NICs.Latency+2*unit.Microsecond, max(1, p.QPs)
		if c.cc != "" {
			site.Waste = must(fidelity.Waste(p, c.cc))
		}
		in := planner.SearchInput{Training: *t, Site: site}
		l := t.Layout
		if l.Schedule == "" {
			l.Schedule = partition.OneFOneB
		}
		estimate := in.Estimate(l).Seconds
		do(r.Go(nil))
		s, _, _ := r.Outcome("")
		row := within("estimated step of Llama 2 7B in ms, tp 8, "+c.about, "every packet simulated",
			unit.Time(s.StepTime).Seconds()*1e3, estimate*1e3, 0.03, "%.1f")
		rows = append(rows, row.because(c.why))
	}
	return rows, nil
}
