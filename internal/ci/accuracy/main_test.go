package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"railyard/internal/fidelity"
)

// TestMeasure checks that each requested case is written once, as it is stored. A case that cannot be simulated is
// an error.
func TestMeasure(t *testing.T) {
	all := slices.DeleteFunc(fidelity.Cases(), func(c fidelity.Case) bool {
		return c.Name != "permutation of 256 KB" || len(c.Sets) != 1
	})
	twice := append(slices.Clone(all), all...)
	var out strings.Builder
	if err := measure(&out, io.Discard, twice, []string{"dcqcn", "flowlet"}); err != nil {
		t.Fatal(err)
	}
	var got []fidelity.Accuracy
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || len(got) != 2 {
		t.Fatalf("%v: %s", err, &out)
	}
	for _, a := range got {
		if !slices.Contains(fidelity.Accuracies, a) {
			t.Errorf("measured, but not stored: %+v", a)
		}
	}
	var said strings.Builder
	out.Reset()
	cut := fidelity.Case{Name: "cut", Text: "name: cut\nevents: [{switch: rail-1, at: 1us, up: false}]\ntransport: {timeout: 8}\n" +
		"fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}\nserver: {gpus: 1, nics: 1}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"}
	odd := fidelity.Case{Name: "odd", Text: "name: odd\nfabric: {kind: ring}\n"}
	err := measure(&out, &said, []fidelity.Case{odd, cut, all[0]}, nil)
	if err == nil || !strings.Contains(err.Error(), "cut") || strings.Contains(err.Error(), "odd") ||
		!strings.Contains(said.String(), "1 of 3: odd : not a case") || strings.Count(out.String(), `"case"`) != 1 {
		t.Errorf("%v: %s%s", err, &said, &out)
	}
}
