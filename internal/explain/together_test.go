package explain_test

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/explain"
	"railyard/internal/fidelity"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// TestTogether checks that a run of too many messages for a replay per cause has the same time above line rate as one
// with a replay per cause: divided where it is less than reports name, and else as one figure. Eight flows from four
// servers share two uplinks; long computing before them makes their loss small.
func TestTogether(t *testing.T) {
	const fabric = `
fidelity: flow
fabric: {kind: rail, segments: 2, hosts: 4, spines: 1, uplinks: 2, host_link: {rate: 100Gbps}}
server: {gpu: h100, gpus: 1, nics: 1}
workload:
  ops:
    - {id: before, gpu: host-1/gpu-1, compute: BEFORE}
    - {id: a, gpu: host-1/gpu-1, to: host-5/gpu-1, send: 1MB, after: [before]}
    - {id: b, gpu: host-2/gpu-1, to: host-6/gpu-1, send: 1MB, after: [before]}
    - {id: c, gpu: host-3/gpu-1, to: host-7/gpu-1, send: 1MB, after: [before]}
    - {id: d, gpu: host-4/gpu-1, to: host-8/gpu-1, send: 1MB, after: [before]}
`
	run := func(before string, most int) *result.Summary {
		defer explain.LimitReplays(most)()
		d, err := scenario.Parse("test.yaml", []byte(strings.Replace(fabric, "BEFORE", before, 1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fidelity.New(fidelity.Comparable(p), p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		return s
	}
	each, all := run("100ms", 4), run("100ms", 3)
	if each.Chain.Lost() == 0 || all.Unaccounted != "" || each.Chain.Lost() != all.Chain.Lost() ||
		slices.Max(each.Chain.Saving[:]) != each.Chain.Saving[all.Chain.Ranked(0)[0]] {
		t.Errorf("one by one %+v, together %+v (%s)", each.Chain, all.Chain, all.Unaccounted)
	}
	each, all = run("1us", 4), run("1us", 3)
	if all.Chain != nil || !strings.HasPrefix(all.Unaccounted, "all causes together cost 247 µs (75.0 % of the step)") {
		t.Errorf("one by one %+v, together %+v (%s)", each.Chain, all.Chain, all.Unaccounted)
	}
}
