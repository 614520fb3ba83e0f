package table

import (
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/study/collectives"
	"railyard/internal/topo"
)

// The first lines of a plan: figures with three digits and a unit each.
func TestAnswers(t *testing.T) {
	var b strings.Builder
	Size(&b, &planner.Size{Params: 8e9, Active: 2e9, Tokens: 15.6e12, FLOPs: 9.996e23, GPU: "h100", GPUs: 20_582,
		Seconds: 86_400, EnergyKWh: 999_600, Peak: 989e12, Utilisation: 0.4, Rule: "6 per parameter"}, &model.GPU{})
	Size(&b, &planner.Size{Params: 116e9, Active: 5.7e9, Embedding: 0.58e9, Tokens: 1e12, GPUs: 64, Seconds: 86_400},
		&model.GPU{})
	Collectives(&b, "all-reduce", "rail", &scenario.Plan{Graph: &topo.Graph{}}, []collectives.Row{
		{Bytes: 1 << 20, Model: []coll.Choice{{Algorithm: "ring", Protocol: "ll", Micros: 72}},
			Runs: []collectives.Run{{Algorithm: "tree", Micros: 60}, {Algorithm: "nvls", Skipped: "no NVSwitch"}}},
		{Bytes: 3e6, Model: []coll.Choice{{Algorithm: "ring", Micros: 2142}}}}, nil)
	for _, want := range []string{"20,582 H100 for 24 h\n", "8B parameters (2B active), 15.6T tokens",
		"116B parameters (5.7B active, 5.12B without the input embedding), 1T tokens",
		"1.00e+24 FLOPs: 6 per parameter", "1.00 GWh", "rate given",
		"all-reduce: fastest simulated tree at 1 MiB (60 µs), ring at 3 MB (2.14 ms, NCCL model)", "groups: rail",
		"not simulated: 1 MiB, nvls: no NVSwitch"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), strings.TrimSpace(want)) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestCollectiveErrors checks that collectives as flows have the expected error of each algorithm; those by packets
// have none.
func TestCollectiveErrors(t *testing.T) {
	said := func(e *result.Expected) string {
		var b strings.Builder
		Collectives(&b, "all-reduce", "all", &scenario.Plan{Graph: &topo.Graph{}}, []collectives.Row{{Bytes: 1 << 20,
			Runs: []collectives.Run{{Algorithm: "tree", Micros: 60, Expected: e}, {Algorithm: "ring", Micros: 90,
				Expected: &result.Expected{Worst: 0.001, Cases: 7}}}}}, nil)
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for want, e := range map[string]*result.Expected{
		"tree error 39.3 % in the only case measured; ring error up to 0.1 % in 7 cases": {Worst: 0.393, Cases: 1},
		"tree error up to 39.3 % in 2 cases only; ring":                                  {Worst: 0.393, Cases: 2},
		"tree error unknown, measured in 4 cases only; ring":                             {Worst: 1e-4, Cases: 4},
		"tree error not measured; ring":                                                  {},
		"Simulated as flows: ring error up to 0.1 % in 7 cases. Smaller":                 nil,
	} {
		if got := said(e); !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
}
