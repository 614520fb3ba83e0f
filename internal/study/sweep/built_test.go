package sweep

import (
	"reflect"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/workload"
)

// TestBuilt checks that documents with one built share the graph of a step that is the same, that another step has a
// graph of its own, and that all are those of documents with one each.
func TestBuilt(t *testing.T) {
	text := "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 4}\nserver: {gpus: 2, nics: 2}\n" +
		"workload: {training: {model: gpt3-125m, tp: 2, dp: 4, global_batch: 32}}\n"
	shared := new(built)
	var last *workload.DAG
	for _, c := range []struct {
		set    string
		shared bool
	}{{"lb=ecmp", false}, {"cc.algorithm=none", true}, {"seed=7", true}, {"workload.training.tp=1", false},
		{"workload.training.bucket=1MB", false}, {"server.gpu=a100", false}, {"calibration.compute_share=90%", false},
		{"calibration.compute_share=90%", true}} {
		var plans [2]*scenario.Plan
		for i, b := range []*built{shared, new(built)} {
			d, err := scenario.Parse("built.yaml", []byte(text), []string{c.set})
			if err != nil {
				t.Fatal(err)
			}
			d.BuildBy = b.build
			if plans[i], err = d.Resolve(nil); err != nil {
				t.Fatal(err)
			}
		}
		dag := plans[0].Jobs[0].DAG
		if (dag == last) != c.shared {
			t.Errorf("%s: the graph is that of the document before: %v", c.set, dag == last)
		}
		if !reflect.DeepEqual(plans[0].Jobs, plans[1].Jobs) {
			t.Errorf("%s: other jobs than alone", c.set)
		}
		last = dag
	}
}
