package main

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/panel"
	"railyard/internal/report"
	"railyard/internal/topo"
)

// cables prints every cable once, from the lower tier to the upper one, and notes switches whose port names are
// unknown.
func cables(e *env, g *topo.Graph) {
	w := csv.NewWriter(e.stdout)
	row := func(words ...string) { _ = w.Write(words) } // Flush's error is the command's end
	row("cable", "from", "from_port", "to", "to_port", "rate", "length_m")
	for i, l := range g.Links {
		a, b, pa, pb := l.A, l.B, l.APort, l.BPort
		if g.Nodes[a].Tier > g.Nodes[b].Tier {
			a, b, pa, pb = b, a, pb, pa
		}
		row(fmt.Sprint(i+1), g.Nodes[a].Name, pa, g.Nodes[b].Name, pb, l.Rate.String(),
			fmt.Sprintf("%g", float64(l.LengthMM)/1000))
	}
	w.Flush()
	for _, n := range unnamed(g) {
		report.Labelled(e.stderr, "note: ", n)
	}
}

// unnamed returns notes on switches whose ports have generic names, and on those whose names assume a number of
// lanes.
func unnamed(g *topo.Graph) (notes []string) {
	count, first := map[string]int{}, map[string]string{}
	var order []string
	for _, n := range g.Nodes {
		why := ""
		switch p := n.Panel; {
		case n.Role == topo.Host:
			continue
		case p == nil || p.System == "":
			why = "ports are named Eth1, Eth2 …; for a device's names set os of the type (" +
				strings.Join(panel.Systems(), ", ") + ") or a vendor's model"
		case (p.System == panel.SONiC || p.System == panel.EOS) && !p.Told():
			why = p.System + " names ports by their lanes; assumed 8 lanes per port (set a model)"
		default:
			continue
		}
		if count[why]++; count[why] == 1 {
			order, first[why] = append(order, why), n.Name
		}
	}
	for _, why := range slices.Sorted(slices.Values(order)) {
		more := ""
		if n := count[why] - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes, first[why]+more+": "+why)
	}
	return notes
}
