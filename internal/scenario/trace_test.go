package scenario_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// A trace's numbers are GPUs in their order, or servers by name. A trace may be one of several jobs.
func TestTraces(t *testing.T) {
	flows := map[string]string{"flow.txt": "2\n2 1 3 100 4096 2\n5 1 3 100 4096 2\n"}
	for _, c := range []struct{ work, want string }{
		{"workload: {trace: {files: [flow.txt]}}", "flow.txt: 2>1 5>1"},
		{"workload: {trace: {files: [flow.txt], nodes: 'host-{n}'}}", "flow.txt: 4>0 16>0"},
		{"workload: {trace: {files: [flow.txt], nodes: 'host-{n+1}'}}", "flow.txt: 8>4 20>4"},
		{"jobs: {a: {trace: {files: [flow.txt]}}}", "a: 2>1 5>1"},
		{"jobs: {a: {gpus: 6, trace: {files: [flow.txt]}}, b: {trace: {files: [flow.txt], nodes: " +
			"'host-{n}'}}}",
			"a: 3>2 7>2 b: 4>0 16>0"}, // b has GPUs 0, 4 and 16
	} {
		d, err := scenario.Parse("x.yaml", []byte(shared+c.work+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(texts(flows))
		if err != nil {
			t.Errorf("%s: %v", c.work, err)
			continue
		}
		var got []string
		for i := range p.Jobs {
			j := &p.Jobs[i]
			if name := j.Name; name != "x" { // the scenario
				got = append(got, name+":")
			} else {
				got = append(got, "flow.txt:")
			}
			for k := range j.DAG.Ops {
				if o := &j.DAG.Ops[k]; !o.Compute() {
					got = append(got, fmt.Sprintf("%d>%d", j.GPU(o.Rank), j.GPU(o.Peer)))
				}
			}
		}
		if s := strings.Join(got, " "); s != c.want || len(p.Notes) == 0 {
			t.Errorf("%s: %s, want %s (%v)", c.work, s, c.want, p.Notes)
		}
	}
	for work, want := range map[string]string{
		"jobs: {a: {trace: {files: [none.txt]}}}": "jobs.a.trace.files[0]: ",
		"jobs: {}": "x.yaml:3:1: jobs: is empty; give each a name and a " +
			"workload",
		"workload: {trace: {files: [none.txt]}}": "workload.trace.files[0]: ",
		"workload: {trace: {files: [flow.txt], nodes: host}}": "workload.trace.nodes: found " +
			`"host", expected a name with {n}`,
		"jobs: {a: {gpus: 5, trace: {files: [flow.txt]}}}": "jobs.a.trace.files: has 6 ranks, the " +
			"job has 5 GPUs",
		"workload: {trace: {files: [flow.txt], nodes: " +
			"'h-{n}'}}": `workload.trace.nodes: the files' number 1: unknown GPU`,
	} {
		d, err := scenario.Parse("x.yaml", []byte(shared+work+"\n"), nil)
		if err == nil {
			_, err = d.Resolve(texts(flows))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", work, err, want)
		}
	}
}
