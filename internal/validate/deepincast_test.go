package validate

import (
	"fmt"
	"testing"
)

// TestDeepIncastFrames compares the bytes around a payload that the rows of deep incasts use with those of the
// simulator's frames. A lone flow at line rate with one more packet shows the simulator's frame.
func TestDeepIncastFrames(t *testing.T) {
	for preset, around := range map[string]int{"uec": rcAround, "mrc": mrcAround, "srd": rcAround, "falcon": falconAround} {
		var ideal [2]int64
		for i := range ideal {
			r, err := finish(fmt.Sprintf(`
name: frames
fabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: %dB, fan_in: 1}}}
`, (10+100*i)*4096), "transport="+preset)
			if err != nil {
				t.Fatal(err)
			}
			_, tables, _ := r.Outcome("")
			ideal[i] = tables.Flows[0].Ideal
		}
		if got := float64(ideal[1]-ideal[0])/100/80 - 4096; got != float64(around) {
			t.Errorf("%s: %.2f bytes around a payload, want %d", preset, got, around)
		}
	}
}
