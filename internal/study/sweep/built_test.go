package sweep

import (
	"reflect"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/internal/workload"
)

// TestBuilt checks that documents with one built share the graph of an equal step, and that another step has a
// separate graph. All graphs equal those without sharing.
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

// TestTotals checks that trials have the figures and causes of whole runs. This includes later trials, which reuse
// the part of a step without the network, for a step that ends and for one that loses a rank.
func TestTotals(t *testing.T) {
	const fabric = "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 4}\nserver: {gpus: 2, nics: 2}\n"
	const step = fabric + "workload: {training: {model: gpt3-125m, tp: 2, dp: 4, global_batch: 32, bucket: 20MB}}\n"
	for name, c := range map[string]struct {
		text   string
		sets   []string
		status string
		taken  bool
	}{
		"flows":   {step, []string{"fidelity=flow"}, Done, true},
		"packets": {fabric + "workload: {traffic: {incast: {bytes: 1MB, fan_in: 3}}}\n", nil, Done, false},
		"lost":    {step + "events: [{at: 1ms, link: \"rail-1:Eth2\", up: false}]\n", []string{"fidelity=flow"}, Lost, true},
		"killed":  {step + "events: [{at: 1ms, server: host-2, up: false}]\n", []string{"fidelity=flow"}, Lost, false},
	} {
		b, taken := new(built), false
		trial := func(totals bool) *Record {
			d, err := scenario.Parse(name, []byte(c.text), c.sets)
			if err != nil {
				t.Fatal(name, err)
			}
			d.BuildBy = b.build
			p, err := d.Resolve(nil)
			if err != nil {
				t.Fatal(name, err)
			}
			if p.Totals = totals; totals {
				p.Ahead = func(m exec.Machine, jobs *workload.Mix) *exec.Ahead {
					a := b.ahead(m, jobs)
					taken = a != nil
					return a
				}
			}
			o, err := new(study.Pool).Simulate(t.Context(), "", p, 0)
			if err != nil {
				t.Fatal(name, err)
			}
			r, err := measured(o)
			if err != nil || r.Status != c.status {
				t.Fatal(name, r, err)
			}
			return r
		}
		want := trial(false)
		for range 3 {
			if r := trial(true); !reflect.DeepEqual(r, want) {
				t.Errorf("%s: %+v, of the whole run %+v", name, r, want)
			}
		}
		if taken != c.taken {
			t.Errorf("%s: the last trial took over what came before: %v", name, taken)
		}
	}
}
