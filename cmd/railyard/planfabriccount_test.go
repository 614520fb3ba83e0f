package main

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/planner"
	"railyard/internal/scenario"
)

// The scenario of every design has the design's switches, cables, oversubscription and bisection, and no port that
// its switches lack.
func TestDesignsAreWhatTopoCounts(t *testing.T) {
	kinds := map[string]int{}
	models := []string{"32x100G", "32x400G", "64x400G", "64x800G", "128x400G", "128x200G", "144x800G", "12.8T", "51.2T",
		"tomahawk5", "tomahawk3", "sn5600", "qm9700", "n9k-c9364d-gx2a"}
	rapid.Check(t, func(rt *rapid.T) {
		in := planner.FabricInput{GPUs: rapid.IntRange(2, 2500).Draw(rt, "gpus"),
			PerServer: rapid.SampledFrom([]int{1, 2, 4, 8, 8, 8, 16}).Draw(rt, "per server"),
			NICPorts:  rapid.SampledFrom([]int{0, 1, 2, 4, 8}).Draw(rt, "ports"),
			NICRate:   rapid.SampledFrom([]int{100, 200, 400, 800}).Draw(rt, "rate"),
			Ratio:     rapid.SampledFrom([]float64{1, 1.2, 1.5, 5. / 3, 2, 3, 7}).Draw(rt, "ratio")}
		leaf := rapid.SampledFrom(models).Draw(rt, "leaf")
		top := rapid.SampledFrom(append(models, leaf, leaf, leaf, leaf, leaf, leaf, leaf)).Draw(rt, "top")
		var err1, err2, err3 error
		in.Leaf, err1 = planner.ParseSwitch(leaf)
		in.Top, err2 = planner.ParseSwitch(top)
		in.Prices, err3 = planner.ParsePrices("", nil)
		if err := errors.Join(err1, err2, err3); err != nil {
			rt.Fatal(err)
		}
		designs, err := planner.Fabrics(in)
		if err != nil {
			return // NICs that fit no port
		}
		for _, d := range designs {
			if d.Scenario == "" {
				continue
			}
			doc, err := scenario.Parse(d.Name, []byte(d.Scenario), nil)
			if err != nil {
				rt.Fatalf("%s: %v\n%s", d.Name, err, d.Scenario)
			}
			plan, err := doc.Network(func(string) ([]byte, error) { return nil, errors.New("no file is named") })
			if err != nil {
				rt.Fatalf("%s: %v\n%s", d.Name, err, d.Scenario)
			}
			kinds[d.Name]++
			inv := plan.Graph.Inventory()
			switches, cables, ratio := 0, 0, 0.0
			for _, n := range inv.Switches {
				switches += n
			}
			for _, c := range inv.Cables {
				cables += c.Count
			}
			for _, x := range inv.Tiers {
				ratio = max(ratio, x.Oversubscription)
			}
			if inv.GPUs < in.GPUs || switches != d.Switches() || cables != d.CableCount() {
				rt.Fatalf("%s: %d GPUs, %d switches, %d cables; the design says %d, %d, %d\n%s", d.Name, inv.GPUs,
					switches, cables, in.GPUs, d.Switches(), d.CableCount(), d.Scenario)
			}
			if math.Abs(inv.Share-d.Bisection) > 1e-6 {
				rt.Fatalf("%s: bisection %.4f, the design says %.4f\n%s", d.Name, inv.Share, d.Bisection, d.Scenario)
			}
			if ratio > in.Ratio+1e-6 || ratio > 0 && math.Abs(ratio-d.Ratio) > 1e-6 {
				rt.Fatalf("%s: oversubscription %.4f, the design says %.4f\n%s", d.Name, ratio, d.Ratio, d.Scenario)
			}
		}
	})
	if !t.Failed() && len(kinds) < 9 {
		t.Errorf("designs of %v alone", kinds)
	}
}
