package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Spot is a rack on the floor.
type Spot struct{ Row, Rack int }

// Spots lists the racks of a floor, row by row, with their devices; none if locations are unknown.
func (g *Graph) Spots() (spots []Spot, nodes map[Spot][]int) {
	nodes = map[Spot][]int{}
	for n, s := range g.Stands {
		if s.Row == 0 {
			continue
		}
		at := Spot{s.Row, s.Rack}
		if nodes[at] == nil {
			spots = append(spots, at)
		}
		nodes[at] = append(nodes[at], n)
	}
	slices.SortFunc(spots, func(a, b Spot) int { return cmp.Or(a.Row-b.Row, a.Rack-b.Rack) })
	return spots, nodes
}

// floor counts racks, and sums the length of all cables if it is known.
func (g *Graph) floor() (racks int, metres float64) {
	spots, _ := g.Spots()
	if len(spots) == 0 {
		return 0, 0
	}
	all := int64(0)
	for _, l := range g.Links {
		all += l.LengthMM
	}
	return len(spots), float64(all) / 1000
}

// dotRacks frames the devices of one rack, which lose power and cooling together.
func (g *Graph) dotRacks(b *strings.Builder) {
	spots, nodes := g.Spots()
	if len(spots) == 0 {
		return
	}
	b.WriteString("  newrank=true;\n")
	for _, at := range spots {
		fmt.Fprintf(b, "  subgraph %q { label=%q; style=rounded;",
			fmt.Sprintf("cluster_%d_%d", at.Row, at.Rack), fmt.Sprintf("row %d, rack %d", at.Row, at.Rack))
		for _, n := range nodes[at] {
			fmt.Fprintf(b, " %q;", g.Nodes[n].Name)
		}
		b.WriteString(" }\n")
	}
}

// Domain is the set of nodes that fail together: a switch, or all devices of a rack.
type Domain struct {
	Kind  string `json:"kind"` // switch, rack
	Name  string `json:"name"`
	Nodes []int  `json:"-"`
	Own   int    `json:"gpus_inside"` // GPUs in the servers that fail with it
	Off   int    `json:"gpus_cut_off"`
	// other servers, one of whose NICs no longer reaches some working ones
	Split int `json:"gpus_split,omitempty"`
}

// FailureDomains lists switches and racks with the GPUs that each isolates or separates on failure, the worst first.
func (g *Graph) FailureDomains() (out []Domain) {
	of := make([][]int, len(g.Nodes))
	for i, l := range g.Links {
		of[l.A], of[l.B] = append(of[l.A], i), append(of[l.B], i)
	}
	spots, nodes := g.Spots()
	for _, at := range spots {
		out = append(out, Domain{Kind: "rack", Name: fmt.Sprintf("row %d, rack %d", at.Row, at.Rack),
			Nodes: nodes[at]})
	}
	for i, n := range g.Nodes {
		if n.Role != Host {
			out = append(out, Domain{Kind: "switch", Name: n.Name, Nodes: []int{i}})
		}
	}
	before := g.reach(nil)
	for i := range out {
		d, down := &out[i], map[int]bool{}
		gone := map[int]bool{}
		for _, n := range d.Nodes {
			gone[n] = true
			for _, l := range of[n] {
				down[l] = true
			}
		}
		off := map[int]bool{}
		for _, nic := range g.CutOff(down) {
			off[nic] = true
		}
		after, dead := g.reach(down), 0
		for _, k := range after {
			if k.reached == 0 {
				dead++
			}
		}
		for gpu := range g.TotalGPUs() {
			lost, split := true, false
			for w := range g.Ways(gpu) {
				nic := g.WayOf(gpu, w)
				lost = lost && off[nic]
				split = split || before[nic].reached-after[nic].reached > dead
				if off[nic] && g.NICs[nic].Port > 0 {
					lost = true // its queue pairs fail with that port
					break
				}
			}
			switch {
			case gone[g.Hosts[g.HostOf(gpu)]]:
				d.Own++
			case lost:
				d.Off++
			case split:
				d.Split++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Domain) int {
		return cmp.Or((b.Own+b.Off)-(a.Own+a.Off), b.Split-a.Split, cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// DotFailures is Dot with switches coloured by the effect of their failure: red if GPUs are isolated, darker for
// more, with their number. Racks have the number in their frames' labels.
func (g *Graph) DotFailures(list []Domain) string {
	text := g.Dot()
	var b strings.Builder
	for _, d := range list {
		if d.Kind == "rack" {
			old := fmt.Sprintf("{ label=%q;", d.Name)
			text = strings.Replace(text, old, fmt.Sprintf("{ label=%q;",
				fmt.Sprintf("%s: %d GPUs, %d more isolated", d.Name, d.Own, d.Off)), 1)
			continue
		}
		if d.Off == 0 {
			continue
		}
		shade := 1 + min(8, 8*d.Off/max(g.TotalGPUs(), 1)) // of Brewer's reds
		fmt.Fprintf(&b, "  %q [style=filled, colorscheme=reds9, fillcolor=%d, label=%q];\n", d.Name, shade,
			fmt.Sprintf("%s\nisolates %d GPUs", d.Name, d.Off))
	}
	return strings.TrimSuffix(text, "}\n") + b.String() + "}\n"
}

// Racks returns for each server the leaf of its first NIC, and the leaves connected by one tier. Servers that share
// NVLink count as one.
func (g *Graph) Racks() (rack, pod []int) {
	rack, pod = make([]int, g.Domains()), make([]int, g.Domains())
	leaf := make([]int, g.Domains())
	for d := range leaf {
		leaf[d] = -1
	}
	for i := range g.NICs {
		n := &g.NICs[i]
		if d := g.DomainOf(n.Host); leaf[d] < 0 {
			l := &g.Links[n.Links[0]]
			leaf[d] = l.A + l.B - g.Hosts[n.Host]
		}
	}
	above := map[int]int{} // by switch: the first switch above which the leaves below it were seen, as a union
	var root func(int) int
	root = func(n int) int {
		if up, ok := above[n]; ok && up != n {
			above[n] = root(up)
			return above[n]
		}
		return n
	}
	isLeaf := map[int]bool{}
	for _, l := range leaf {
		isLeaf[l] = true
	}
	for i := range g.Links {
		l := &g.Links[i]
		for _, end := range [][2]int{{l.A, l.B}, {l.B, l.A}} {
			if isLeaf[end[0]] && g.Nodes[end[1]].Role != Host {
				above[root(end[0])] = root(end[1])
			}
		}
	}
	number := func(of map[int]int, key int) int {
		if _, ok := of[key]; !ok {
			of[key] = len(of)
		}
		return of[key]
	}
	racks, pods := map[int]int{}, map[int]int{}
	for d, l := range leaf {
		rack[d], pod[d] = number(racks, l), number(pods, root(l))
	}
	return rack, pod
}
