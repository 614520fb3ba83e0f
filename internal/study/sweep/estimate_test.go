package sweep

import (
	"path/filepath"
	"testing"
)

// The estimate includes the division of lost time among causes, which takes most of a flow trial's time. Without
// causes it is the simulation's.
func TestEstimateCountsCauses(t *testing.T) {
	const text = "name: x\nfabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, delay: 1us}}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, fidelity := range []string{"flow", "packet"} {
		seconds := map[string]float64{}
		for _, causes := range []string{"true", "false"} {
			f := &File{Scenario: written(t, "x.yaml", text), Seeds: 2,
				Set: []string{"fidelity=" + fidelity, "output.causes=" + causes}}
			s := opened(t, f, 1, Options{Dir: filepath.Join(t.TempDir(), "out")})
			seconds[causes] = s.Estimate(1).Seconds
			s.Close()
		}
		if more := seconds["true"] - seconds["false"]; more < 2*128*50e-6 || more > 2*128*500e-6 {
			t.Errorf("%s: %g s with causes, %g s without", fidelity, seconds["true"], seconds["false"])
		}
	}
}

// Trials of one training step as flows execute the part without the network once; those with different steps do
// not.
func TestEstimateCountsStepsOnce(t *testing.T) {
	const text = "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 4}\nserver: {gpus: 2, nics: 2}\n" +
		"workload: {training: {model: gpt3-125m, tp: 2, dp: 4, global_batch: 32}}\n"
	estimate := func(seeds int, vary ...Vary) float64 {
		f := &File{Scenario: written(t, "x.yaml", text), Seeds: seeds, Vary: vary,
			Set: []string{"fidelity=flow", "output.causes=false"}}
		s := opened(t, f, 1, Options{Dir: filepath.Join(t.TempDir(), "out")})
		defer s.Close()
		return s.Estimate(1).Seconds
	}
	one := estimate(1, Vary{Key: "lb", Values: []string{"ecmp"}}) / 2
	if all := estimate(100); all > 50*one {
		t.Errorf("one step: %g s for 100 trials, %g s for 1", all, one)
	}
	if all := estimate(50, Vary{Key: "workload.training.dp", Values: []string{"2"}}); all < 50*one {
		t.Errorf("two steps: %g s for 100 trials, %g s for 1", all, one)
	}
}
