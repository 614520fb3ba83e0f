package sweep

import (
	"path/filepath"
	"testing"
)

// The estimate counts the division of lost time among causes, which takes most of a trial of flows; without causes it
// is the simulation's.
func TestEstimateCountsCauses(t *testing.T) {
	const text = "name: x\nfabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, delay: 1us}}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, fidelity := range []string{"flow", "packet"} {
		seconds := map[string]float64{}
		for _, causes := range []string{"true", "false"} {
			f := &File{Scenario: written(t, "x.yaml", text), Seeds: 2,
				Set: []string{"fidelity=" + fidelity, "output.causes=" + causes}}
			s := opened(t, f, 1, Options{Dir: filepath.Join(t.TempDir(), "out")})
			seconds[causes] = s.Estimate().Seconds
			s.Close()
		}
		if more := seconds["true"] - seconds["false"]; more < 2*128*50e-6 || more > 2*128*500e-6 {
			t.Errorf("%s: %g s with causes, %g s without", fidelity, seconds["true"], seconds["false"])
		}
	}
}
