package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"railyard/internal/planner"
	"railyard/internal/scenariofile"
)

// Traffic that is summed while a step is built equals that of the whole step: for every schedule, state sharding,
// algorithm and mixture of experts, with storage, and for parallel jobs. A step of more operations than a
// simulation accepts is counted, too.
func TestTrafficIsCounted(t *testing.T) {
	const fabric = "fabric: {kind: rail, hosts: 4, spines: 2, host_link: {rate: 400Gbps}}\n"
	const llama = "training: {model: llama-2-7b, sequence: 512, micro_batch: 1, global_batch: 32, "
	const mixtral = "training: {model: mixtral-8x7b, sequence: 512, micro_batch: 1, global_batch: 32, "
	traffic := func(text string) (*planTrafficCmd, *planner.Traffic) {
		t.Helper()
		c := &planTrafficCmd{Scenario: filepath.Join(t.TempDir(), "x.yaml")}
		if err := os.WriteFile(c.Scenario, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, x, err := c.matrix()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return c, x
	}
	for _, work := range []string{
		"workload: {" + llama + "tp: 4, pp: 4, dp: 2}}",
		"workload: {" + llama + "tp: 4, pp: 4, dp: 2, scatter_gather: true, bucket: 25MB}}",
		"workload: {" + llama + "tp: 4, pp: 4, dp: 2, vpp: 2, schedule: interleaved}}",
		"workload: {" + llama + "tp: 2, pp: 4, dp: 4, schedule: gpipe, zero: 1}}",
		"workload: {" + llama + "tp: 2, pp: 4, dp: 4, schedule: zero-bubble, zero: 1, gather_ahead: true, steps: 2}}",
		"workload: {" + llama + "tp: 2, pp: 4, dp: 4, schedule: 2bw, steps: 3}}",
		"workload: {" + llama + "tp: 4, pp: 1, dp: 8, zero: 2, channels: 4}}",
		"workload: {" + llama + "tp: 8, pp: 1, dp: 4, zero: 3, regather: true, recompute: full}}",
		"workload: {" + llama + "tp: 4, pp: 1, dp: 4, cp: 2}}",
		"workload: {" + llama + "tp: 1, pp: 1, dp: 32, dp_algorithm: tree}}",
		"workload: {" + llama + "tp: 1, pp: 1, dp: 32, dp_algorithm: nvls-tree}}",
		"workload: {" + llama + "tp: 1, pp: 1, dp: 32, dp_algorithm: halving-doubling}}",
		"workload: {" + llama + "tp: 1, pp: 1, dp: 32, dp_algorithm: hierarchical}}",
		"workload: {" + llama + "tp: 8, pp: 1, dp: 4, tp_algorithm: nvls}}",
		"workload: {" + mixtral + "tp: 4, pp: 2, dp: 4, ep: 4, sequence_parallel: true}}",
		"workload: {" + mixtral + "tp: 1, pp: 2, dp: 16, ep: 8, ep_algorithm: pxn, zero: 1}}",
		"jobs: [{name: a, " + llama + "tp: 4, pp: 2, dp: 1}}, {name: b, " + llama + "tp: 4, pp: 1, dp: 4}}]",
		"jobs: [{name: a, " + llama + "tp: 1, pp: 1, dp: 1}}, {name: b, traffic: {permutation: {bytes: 1MB}}, gpus: 8}]",
	} {
		c, few := traffic(fabric + work)
		plan, err := scenariofile.Plan(c.Scenario, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", work, err)
		}
		mix, err := plan.Mix()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := planner.Matrix(mix.DAG, plan.Graph)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(few, whole) {
			t.Errorf("%s: %d bytes of %d pairs added up, %d of %d in the whole step", work, few.Total(), len(few.Pairs),
				whole.Total(), len(whole.Pairs))
		}
	}
	stored, err := os.ReadFile("../../scenarios/storage.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, few := traffic(string(stored))
	plan, err := scenariofile.Plan(c.Scenario, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	mix, err := plan.Mix()
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := planner.Matrix(mix.DAG, plan.Graph); err != nil || !reflect.DeepEqual(few, whole) {
		t.Errorf("storage: %d bytes added up, %d in the whole step (%v)", few.Total(), whole.Total(), err)
	}
	for text, least := range map[string]int64{
		"fabric: {kind: rail-only, hosts: 64, host_link: {rate: 400Gbps}}\nworkload: {training: {model: gpt3-175b, " +
			"tp: 8, pp: 8, dp: 8, sequence: 2048, micro_batch: 1, global_batch: 1536}}": 1e14,
		"fabric: {kind: rail-only, hosts: 512, host_link: {rate: 400Gbps}}\nworkload: {training: {model: " +
			"llama-3.1-405b, tp: 8, pp: 16, dp: 32, sequence: 8192, micro_batch: 1, global_batch: 512}}": 1e15,
	} {
		if _, all := traffic(text); all.Total() < least {
			t.Errorf("%s: %d bytes", text, all.Total())
		}
	}
}
