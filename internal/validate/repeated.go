package validate

import (
	"fmt"

	"railyard/internal/reuse"
	"railyard/unit"
)

// repeated compares the runs that simulate repeated parts once with packets. The tolerance is 0.1 % of the step and
// 0.5 % of the messages' mean time.
func repeated(large bool) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		file  string
		large bool
	}{
		{"mixtral-ep8-64.yaml", true},
		{"gpt13b-128.yaml", true},
		{"pod64-llama2-7b.yaml", true},
		{"two-jobs.yaml", false},
		{"pod64-alltoall.yaml", false},
		{"fattree128-permutation.yaml", false},
		{"lab-2x2.yaml", false},
		{"victim.yaml", false},
	} {
		if c.large && !large {
			continue
		}
		packets, reused := byFidelity("packet", c.file, nil), byFidelity(reuse.Name, c.file, nil)
		share := fmt.Sprintf("%.3g %% of packet-hops simulated",
			100*float64(reused.Reused.PacketHops)/float64(reused.PacketHops))
		step := within("step with fidelity reuse in ms, "+c.file, "every packet simulated", stepMS(packets),
			stepMS(reused), 0.001, "%.6f")
		step.Note = share
		rows = append(rows, step, within("mean time of messages with fidelity reuse in us, "+c.file, "every packet simulated",
			unit.Time(packets.Flows.Mean).Seconds()*1e6, unit.Time(reused.Flows.Mean).Seconds()*1e6, 0.005, "%.4f"))
	}
	return rows, nil
}
