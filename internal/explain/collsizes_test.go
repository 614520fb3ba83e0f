package explain_test

import (
	"math"
	"testing"

	"railyard/unit"
)

// Size, time and bandwidth of a collective with several sizes fit together: size and time are means, and bandwidth
// is all bytes divided by all time.
func TestCollectivesOfSeveralSizes(t *testing.T) {
	_, s, _ := runAll(t, `name: sizes
fabric: {kind: rail, hosts: 2, spines: 1}
server: {gpus: 4, nics: 4}
workload: {training: {model: gpt3-125m, tp: 1, pp: 2, dp: 4, sequence: 1024, micro_batch: 1,
  global_batch: 8, bucket: 25MB}}
`)
	several := 0
	for _, c := range s.Collectives {
		if c.TimeMin < c.TimeMax*3/4 {
			several++
		}
		if got := float64(c.Bytes) / unit.Time(c.Time).Seconds(); math.Abs(got-c.AlgBW) > 1e-3*c.AlgBW {
			t.Errorf("%s: %d bytes in %v are %.4g bytes/s, not %.4g", c.Name, c.Bytes, unit.Time(c.Time), got, c.AlgBW)
		}
	}
	if several == 0 {
		t.Errorf("every collective has one size: %+v", s.Collectives)
	}
}
