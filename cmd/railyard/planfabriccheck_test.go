package main

import (
	"encoding/json"
	"strings"
	"testing"

	"railyard/internal/planner"
)

// No design of any kind deadlocks as written, with PFC on. A torus whose packets are not in dimension order does,
// and the check names where.
func TestDesignsDoNotDeadlock(t *testing.T) {
	kinds := map[string]bool{}
	for _, args := range [][]string{{"--gpus", "1024"}, {"--gpus", "2000", "--switch", "32x400G"},
		{"--gpus", "960", "--nic-ports", "2"}, {"--gpus", "1152", "--switch", "1152x400G"}} {
		code, out, stderr := call(t, append([]string{"plan", "fabric", "--check", "--json"}, args...)...)
		var said struct{ Deadlock map[string]lockup }
		if err := json.Unmarshal([]byte(out), &said); err != nil || code != 0 {
			t.Fatalf("%q: exit %d, %v, %s", args, code, err, stderr)
		}
		for name, l := range said.Deadlock {
			if kinds[name] = true; l.Ring != "" || l.GPUs < 900 || l.Routing == "" {
				t.Errorf("%q, %s: %+v", args, name, l)
			}
		}
	}
	in := planner.FabricInput{GPUs: 1024, PerServer: 8, NICRate: 400, Ratio: 1,
		Leaf: planner.SwitchModel{Ports: 128, Rate: 400}, Top: planner.SwitchModel{Ports: 128, Rate: 400}}
	var err error
	if in.Prices, err = planner.ParsePrices("", nil); err != nil {
		t.Fatal(err)
	}
	designs, err := planner.Fabrics(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range designs {
		if strings.Contains(d.Scenario, "pfc: false") {
			t.Errorf("%s is lossy", d.Name)
		}
		if d.Name != "torus" {
			continue
		}
		d.Scenario = strings.Replace(d.Scenario, "lb: dimension-order", "lb: ecmp", 1)
		l, err := check(&d)
		if err != nil || !strings.HasPrefix(l.words(), "with lb ecmp pauses can deadlock: leaf-") {
			t.Errorf("a torus by the shortest ways: %+v, %v", l, err)
		}
	}
	if len(kinds) < 8 {
		t.Errorf("designs of %v alone", kinds)
	}
}
