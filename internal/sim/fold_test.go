package sim

import (
	"fmt"
	"math"
	"testing"
)

// One rail with folded tensor parallel groups takes as long as the whole fabric of separate rails, for all
// schedules and shardings. Marks differ from rail to rail, and the whole fabric waits for the rail that DCQCN slows
// down most. With a NIC's parameters the folded interleaved schedule is 2 % too fast; without congestion control it
// is exact. The paper's parameters differ by less than 0.01 %.
func TestFold(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: %d, nics: %d}
lb: spray
cc: {dcqcn: {profile: paper}}
transport: {write: only, recovery: selective}
workload: {training: {model: small.json, tp: 8, dp: %d, pp: %d, cp: %d, bucket: 5MB, sequence: 1024, global_batch: %d, %s, fold: %v}}
`
	for _, c := range []struct {
		dp, pp, cp, batch int
		rest              string
	}{
		{8, 1, 1, 8, "zero: 1"}, {2, 4, 1, 8, "sequence_parallel: true, zero: 1"},
		{2, 4, 1, 16, "schedule: interleaved, vpp: 2, tp_overlap: true"},
		{4, 1, 2, 4, "zero: 3, prefetch: 2"}, {4, 2, 1, 8, "schedule: zero-bubble, order: tp-cp-pp-dp"},
		{2, 4, 1, 8, "recompute: full, kernels: fused"}, {4, 2, 1, 8, "tp_algorithm: nvls"},
	} {
		var times [2]float64
		for i, gpus := range []int{8, 1} {
			_, s, _ := runAll(t, fmt.Sprintf(text, gpus, gpus, c.dp, c.pp, c.cp, c.batch, c.rest, gpus == 1))
			times[i] = float64(s.StepTime)
			if sum := s.Compute + s.ExposedComm + s.Bubble + s.Waiting; sum != s.StepTime {
				t.Errorf("%+v: parts of %d make %d", c, s.StepTime, sum)
			}
			if s.MFU <= 0 || s.MFU >= 0.5 {
				t.Errorf("%+v: MFU %.3f at an efficiency of 50 %%", c, s.MFU)
			}
		}
		if d := times[1]/times[0] - 1; math.Abs(d) > 0.01 {
			t.Errorf("%+v: folded %+.2f %% off", c, 100*d)
		} else {
			t.Logf("%+v: folded %+.3f %% off", c, 100*d)
		}
	}
}
