package validate

import (
	"fmt"
	"strings"

	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// portCounts checks what NICs of several ports do for two tiers of switches of 51.2 Tbit/s. A switch has R ports of
// the NIC's port rate. As a T0 it serves R/2 GPUs. A plane has at most R T0, and each connects to R/2 T1.
func portCounts(large bool) ([]Row, error) {
	const capacity = 51_200 // Gbit/s
	var rows []Row
	all := []int{2, 4}
	if large {
		all = append(all, 8)
	}
	for _, ports := range all {
		rate := 800 / ports
		radix := capacity / rate
		most := radix * radix / 2
		d := must(portPlanes(most, ports, planner.SwitchModel{Ports: radix, Rate: rate}))
		name := fmt.Sprintf("%s GPUs, NICs of %d × %dG, switches %d × %dG", unit.ShowCount(most), ports, rate, radix, rate)
		const source = mrcSource + ": R ports, R T0 of R/2 GPUs and R/2 T1 in each plane"
		g := must(built(d.Scenario))
		t0, t1 := 0, 0
		for i := range g.Nodes {
			switch g.Nodes[i].Tier {
			case 1:
				t0++
			case 2:
				t1++
			}
		}
		rows = append(rows,
			exact(name+": T0 and T1 of a plane", source, fmt.Sprint(radix, radix/2),
				fmt.Sprint(d.Tiers[0].Count/ports, d.Tiers[1].Count/ports)),
			exact("the same, built as check does: switches, links", source,
				fmt.Sprint(ports*radix*3/2, 2*ports*most), fmt.Sprint(t0+t1, len(g.Links))))
		if most < 131_072 {
			over := must(portPlanes(131_072, ports, planner.SwitchModel{Ports: radix, Rate: rate}))
			rows = append(rows, Row{Claim: fmt.Sprintf("131,072 GPUs, NICs of %d × %dG: largest number in two tiers", ports, rate),
				Source: source, Expected: unit.ShowCount(most), Ours: over.Reason, Diff: "none",
				OK: strings.Contains(over.Reason, "at most "+unit.ShowCount(most)+" GPUs")})
		}
	}
	return rows, nil
}

// portPlanes is the design of a plane for each port of a NIC, feasible or not.
func portPlanes(gpus, ports int, s planner.SwitchModel) (planner.Design, error) {
	prices := must(planner.ParsePrices("", nil))
	for _, d := range must(planner.Fabrics(planner.FabricInput{GPUs: gpus, PerServer: 8, NICRate: 800, NICPorts: ports,
		Leaf: s, Top: s, Ratio: 1, Prices: prices})) {
		if d.Name == "port-planes" {
			return d, nil
		}
	}
	return planner.Design{}, fmt.Errorf("no design of port-planes")
}

// built is the fabric of a scenario in which every server reaches every other.
func built(text string) (*topo.Graph, error) {
	d := must(scenario.Parse("validate", []byte(text), nil))
	p := must(d.Network(nil))
	return p.Graph, nil
}
