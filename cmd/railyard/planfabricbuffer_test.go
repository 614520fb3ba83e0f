package main

import (
	"testing"

	"railyard/internal/planner"
)

// TestLongHallsHaveBuffers: the scenario of a design with far cables of 1,000 m has room for their headroom.
func TestLongHallsHaveBuffers(t *testing.T) {
	for _, rate := range []int{400, 800} {
		in := planner.FabricInput{GPUs: 1024, PerServer: 8, NICRate: rate, Ratio: 1,
			Leaf: planner.SwitchModel{Ports: 128, Rate: rate}, Top: planner.SwitchModel{Ports: 128, Rate: rate}}
		var err error
		if in.Prices, err = planner.ParsePrices("", nil); err != nil {
			t.Fatal(err)
		}
		in.Prices.Racks.Rack = 30
		designs, err := planner.Fabrics(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range designs {
			if !d.Fits() || d.Scenario == "" {
				continue
			}
			if _, err := check(&d); err != nil {
				t.Errorf("%s at %dG: %v", d.Name, rate, err)
			}
		}
	}
}
