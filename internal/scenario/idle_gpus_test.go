package scenario

import (
	"strings"
	"testing"
)

// A layout that leaves some GPUs of the fabric idle counts and reports them, folded or not. One that uses all
// reports nothing, and a job has as many GPUs as its layout.
func TestIdleGPUs(t *testing.T) {
	const fabric = "fabric: {kind: rail, hosts: 4, spines: 2, host_link: {rate: 400Gbps}}\n"
	const training = "training: {model: llama-2-7b, dp: 4, micro_batch: 1, global_batch: 16, sequence: 1024, "
	for _, c := range []struct {
		workload string
		idle     int
	}{
		{"workload: {" + training + "tp: 8}}\n", 0},
		{"workload: {" + training + "tp: 4}}\n", 16},
		{"server: {gpus: 1, nics: 1}\nworkload: {" + training + "tp: 8, fold: true}}\n", 0},
		{"server: {gpus: 2, nics: 2}\nworkload: {" + training + "tp: 8, fold: true}}\n", 32},
		{"jobs: [{name: a, " + training + "tp: 4}}]\n", 0},
	} {
		p, err := resolved(t, fabric+c.workload)
		if err != nil {
			t.Errorf("%s: %v", c.workload, err)
			continue
		}
		if got := p.Jobs[0].Training.Idle; got != c.idle {
			t.Errorf("%s: %d GPUs idle, want %d", c.workload, got, c.idle)
		}
		if says := strings.Contains(strings.Join(p.Notes, "\n"), "MFU and tokens/s/GPU count all"); says != (c.idle > 0) {
			t.Errorf("%s: notes %q", c.workload, p.Notes)
		}
	}
}
