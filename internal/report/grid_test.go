package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
)

// Variants of two lists form a grid with the second list's values as columns. Failed ones say so in their cell, and
// dropped packets of NICs have a row below the steps.
func TestGrid(t *testing.T) {
	lists := []string{"lb=ecmp,spray", "server.reorder.memory=1,2,3"}
	var all []result.Variant
	for i, label := range []string{"ecmp 1", "ecmp 2", "ecmp 3", "spray 1", "spray 2", "spray 3"} {
		s := &result.Summary{Complete: true}
		s.StepTime = int64(i+1) * 1e9
		v := result.Variant{Label: label, Runs: []*result.Summary{s}}
		switch i {
		case 1:
			v = result.Variant{Label: label, Failed: "no room"}
		case 3:
			s.Reorder = &result.ReorderMemory{Refused: 1234}
		}
		all = append(all, v)
	}
	g := NewGrid(lists, all)
	if g == nil || g.Key != "server.reorder.memory" || strings.Join(g.Rows, " ") != "ecmp spray" {
		t.Fatalf("%+v", g)
	}
	var b strings.Builder
	g.Table(&b, "title")
	for _, want := range []string{"failed  3 ms", "NIC drops", "1,234", "failed: ecmp 2: no room"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if steps := g.Steps(); steps[0][1] != 0 || steps[1][2] != 6 {
		t.Errorf("steps are %v", steps)
	}
	for _, other := range [][]string{lists[1:], {"lb=ecmp,spray", "seed=1,2,4"}, {"a=1,2,3", "b=1,2"}} {
		if NewGrid(other, all) != nil {
			t.Errorf("%v is no grid of these variants", other)
		}
	}
}
