package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// Traffic of many microbatches counted from few is that of the whole step, for every schedule, state sharding and
// mixture of experts, and for jobs side by side; a step of more operations than a simulation takes is counted too.
func TestTrafficIsCounted(t *testing.T) {
	const fabric = "fabric: {kind: rail, hosts: 4, spines: 2, host_link: {rate: 400Gbps}}\n"
	const llama = "training: {model: llama-2-7b, sequence: 512, micro_batch: 1, global_batch: 32, "
	for _, work := range []string{
		"workload: {" + llama + "tp: 4, pp: 4, dp: 2}}",
		"workload: {" + llama + "tp: 4, pp: 4, dp: 2, vpp: 2, schedule: interleaved}}",
		"workload: {" + llama + "tp: 2, pp: 4, dp: 4, schedule: gpipe, zero: 1}}",
		"workload: {" + llama + "tp: 4, pp: 1, dp: 8, zero: 2}}",
		"workload: {" + llama + "tp: 8, pp: 1, dp: 4, zero: 3}}",
		"workload: {training: {model: mixtral-8x7b, sequence: 512, micro_batch: 1, global_batch: 32, tp: 4, pp: 2, " +
			"dp: 4, ep: 4, sequence_parallel: true}}",
		"jobs: [{name: a, " + llama + "tp: 4, pp: 2, dp: 1}}, {name: b, " + llama + "tp: 4, pp: 1, dp: 4}}]",
	} {
		c := planTrafficCmd{Scenario: filepath.Join(t.TempDir(), "x.yaml")}
		if err := os.WriteFile(c.Scenario, []byte(fabric+work+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, few, err := c.counted()
		if err != nil || few == nil {
			t.Errorf("%s: not counted: %v", work, err)
			continue
		}
		_, whole, err := c.matrix(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(few, whole) {
			t.Errorf("%s: %d bytes from few microbatches, %d of all", work, few.Total(), whole.Total())
		}
	}
	large := planTrafficCmd{Scenario: filepath.Join(t.TempDir(), "x.yaml")}
	if err := os.WriteFile(large.Scenario, []byte("fabric: {kind: rail-only, hosts: 64, host_link: {rate: 400Gbps}}\n"+
		"workload: {training: {model: gpt3-175b, tp: 8, pp: 8, dp: 8, sequence: 2048, micro_batch: 1, "+
		"global_batch: 1536}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, all, err := large.counted(); err != nil || all == nil || all.Total() < 1e14 {
		t.Errorf("GPT-3 at 1,536 sequences: %v, %v", all, err)
	}
}
