package failures

import (
	"slices"

	"railyard/internal/planner"
	"railyard/internal/scenario"
)

// inside lists the NVSwitch chips and PCIe switches of servers, of the selected kinds. Classes of other elements are
// below a number.
func inside(p *scenario.Plan, alike *planner.Alike, kinds []string, classes int) (all []planner.Element) {
	var chips, pcie []planner.Within
	for d, b := range p.Boards {
		if b != nil {
			chips = append(chips, planner.Within{Host: p.Graph.ServerIn(d), Count: b.Chips(),
				Name: func(i int) string { return p.ChipName(d, i) },
				Weight: func(i int) int {
					plane, _ := b.Plane(i)
					return b.Links[plane]
				}})
		}
	}
	for host := range p.Graph.Hosts {
		if first, last := p.Graph.GPUsOf(host); first < last {
			pcie = append(pcie, planner.Within{Host: host, Count: p.PCIe(),
				Name:   func(i int) string { return p.PCIeName(host, i) },
				Weight: func(int) int { return 0 }})
		}
	}
	if slices.Contains(kinds, "nvswitch") {
		all = planner.Inside(p.Graph, alike, "nvswitch", classes, chips)
	}
	if slices.Contains(kinds, "pcie") {
		all = append(all, planner.Inside(p.Graph, alike, "pcie", classes+len(all), pcie)...)
	}
	return all
}
