package topo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

// Rails is a fabric of equal, separate rails. Segments have equal numbers of servers, each with a NIC on every
// rail, and the upper switches give every leaf equal capacity.
type Rails struct {
	Count           int // of rails
	Hosts, Segments int // servers of a segment, segments
	Spines, Uplinks int // above a leaf, and cables to each; none where rails have no spines
	Host, Fabric    Cable
}

// Rails finds the rails of a fabric by its cables, however it was built. The error is the reason why one rail
// cannot represent all, or a few segments many.
func (g *Graph) Rails() (Rails, error) {
	x := railing{g: g, rail: map[int]int{}, up: map[int][]int{}, above: map[int]bool{}}
	for _, step := range []func() error{x.servers, x.segments, x.uplinks, x.top} {
		if err := step(); err != nil {
			return Rails{}, err
		}
	}
	return x.Rails, nil
}

type railing struct {
	Rails
	g      *Graph
	leaves [][]int       // by server: its leaves, by rail
	rail   map[int]int   // by leaf
	order  []int         // leaves, in the order of servers
	up     map[int][]int // by leaf: its uplink cables
	above  map[int]bool  // the spines
}

func (x *railing) name(n int) string { return x.g.Nodes[n].Name }

// servers have equal numbers of GPUs, each with a NIC of one link on a rail of its own.
func (x *railing) servers() error {
	g := x.g
	if g.anyNIC {
		return fmt.Errorf("GPUs send by all NICs of their servers, on every rail")
	}
	if g.listed != nil {
		return fmt.Errorf("GPUs send by some NICs of their servers (server.nics_used)")
	}
	x.Count = g.PerServer()
	nic := 0
	for h, node := range g.Hosts {
		first, last := g.GPUsOf(h)
		if last-first != x.Count {
			return fmt.Errorf("%s has %s, others have %d", x.name(node), unit.Plural(last-first, "GPU"), x.Count)
		}
		by := make([]int, x.Count)
		for i := range by {
			by[i] = -1
		}
		from := nic
		for ; nic < len(g.NICs) && g.NICs[nic].Host == h; nic++ {
			n := &g.NICs[nic]
			if len(n.Links) != 1 || n.Rail < 0 || n.Rail >= x.Count || by[n.Rail] >= 0 {
				return fmt.Errorf("%s, on rail %d, has %s: rails have one NIC of each server, of one cable, for each of its %s", g.NICName(nic), n.Rail+1, unit.Plural(len(n.Links), "cable"),
					unit.Plural(x.Count, "GPU"))
			}
			if c := g.Links[n.Links[0]].cable(); x.Host.Rate == 0 {
				x.Host = c
			} else if c != x.Host {
				return fmt.Errorf("%s has another cable than others", g.NICName(nic))
			}
			by[n.Rail] = g.Links[n.Links[0]].A + g.Links[n.Links[0]].B - node
		}
		if nic-from != x.Count || slices.ContainsFunc(g.NICOf[first:last], func(n int) bool {
			return g.NICOf[first]+slices.Index(g.NICOf[first:last], n) != n
		}) {
			return fmt.Errorf("%s has %s for %s", x.name(node), unit.Plural(nic-from, "NIC"),
				unit.Plural(x.Count, "GPU"))
		}
		x.leaves = append(x.leaves, by)
	}
	return nil
}

// segments are servers attached to the same leaves; a leaf has one rail of one segment.
func (x *railing) segments() error {
	type segment struct{ first, servers int }
	by := map[int]*segment{} // by the leaf of the first rail
	var all []*segment
	for h, leaves := range x.leaves {
		s := by[leaves[0]]
		if s == nil {
			s = &segment{first: h}
			by[leaves[0]], all = s, append(all, s)
		}
		s.servers++
		for rail, leaf := range leaves {
			if leaf != x.leaves[s.first][rail] {
				return fmt.Errorf("%s and %s share %s and not %s", x.name(x.g.Hosts[h]),
					x.name(x.g.Hosts[s.first]), x.name(leaves[0]), x.name(leaf))
			}
			if s.servers > 1 {
				continue
			}
			if other, taken := x.rail[leaf]; taken && other != rail {
				return fmt.Errorf("rails %d and %d meet at %s", other+1, rail+1, x.name(leaf))
			} else if taken {
				return fmt.Errorf("two segments meet at %s", x.name(leaf))
			}
			x.rail[leaf], x.order = rail, append(x.order, leaf)
		}
	}
	for _, s := range all {
		if s.servers != all[0].servers {
			return fmt.Errorf("the segment of %s has %s, that of %s %d", x.name(x.g.Hosts[s.first]),
				unit.Plural(s.servers, "server"), x.name(x.g.Hosts[all[0].first]), all[0].servers)
		}
	}
	x.Hosts, x.Segments = all[0].servers, len(all)
	return nil
}

// uplinks are equal for each leaf: as many cables to as many spines.
func (x *railing) uplinks() error {
	for i, l := range x.g.Links {
		_, a := x.rail[l.A]
		_, b := x.rail[l.B]
		if a && b {
			return fmt.Errorf("%s and %s are cabled to each other", x.name(l.A), x.name(l.B))
		}
		leaf := l.A
		if b {
			leaf = l.B
		}
		if !a && !b || x.g.Nodes[l.A+l.B-leaf].Role == Host {
			continue
		}
		if x.Fabric.Rate == 0 {
			x.Fabric = l.cable()
		} else if c := l.cable(); c != x.Fabric {
			return fmt.Errorf("%s has another cable up than others", x.name(leaf))
		}
		x.up[leaf] = append(x.up[leaf], i)
		x.above[l.A+l.B-leaf] = true
	}
	for i, leaf := range x.order {
		each := map[int]int{}
		for _, l := range x.up[leaf] {
			each[x.g.Links[l].A+x.g.Links[l].B-leaf]++
		}
		spines, cables := len(each), 0
		for _, n := range each {
			if cables = max(cables, n); n*spines != len(x.up[leaf]) {
				return fmt.Errorf("%s has not as many cables to each of its spines", x.name(leaf))
			}
		}
		if i == 0 {
			x.Spines, x.Uplinks = spines, cables
		} else if spines != x.Spines || cables != x.Uplinks {
			return fmt.Errorf("%s has %s to each of %s, %s %d to each of %d", x.name(leaf),
				unit.Plural(cables, "cable"), unit.Plural(spines, "spine"), x.name(x.order[0]), x.Uplinks,
				x.Spines)
		}
	}
	return nil
}

// top groups the switches above leaves into one tier, or into non-blocking tiers.
func (x *railing) top() error {
	down, up := make([]int64, len(x.g.Nodes)), make([]int64, len(x.g.Nodes))
	meet := map[int]string{} // by rail: its spines
	for _, l := range x.g.Links {
		low, high := l.A, l.B
		if x.g.Nodes[low].Tier > x.g.Nodes[high].Tier {
			low, high = high, low
		}
		up[low] += int64(l.Rate)
		down[high] += int64(l.Rate)
	}
	tiers := false
	for n := range x.g.Nodes {
		if x.g.Nodes[n].Role == Host || up[n] == 0 {
			continue
		}
		if _, leaf := x.rail[n]; leaf {
			continue
		}
		if tiers = true; up[n] < down[n] {
			return fmt.Errorf("%s is oversubscribed %.2g : 1, which segments of two tiers cannot show",
				x.name(n), float64(down[n])/float64(up[n]))
		}
	}
	for _, leaf := range x.order {
		var spines []string
		for _, l := range x.up[leaf] {
			spines = append(spines, x.name(x.g.Links[l].A+x.g.Links[l].B-leaf))
		}
		slices.Sort(spines)
		key := strings.Join(spines, ",")
		if other, ok := meet[x.rail[leaf]]; !ok {
			meet[x.rail[leaf]] = key
		} else if other != key && !tiers {
			return fmt.Errorf("leaves of rail %d have different spines, %s among them", x.rail[leaf]+1, x.name(leaf))
		}
	}
	return nil
}

// cable returns the cable of a link.
func (l *Link) cable() Cable {
	return Cable{Rate: l.Rate, LengthMM: l.LengthMM, Delay: l.Delay, BER: l.BER}
}

// RailPorts is the ports of a switch that lead to the NICs of one rail.
type RailPorts struct {
	Rail  int   // from 0
	Links []int // links in the order of the servers
	NICs  []int // by link
}

// RailPorts lists by rail which of a switch's ports lead to servers, and the ports that lead to switches, in the
// order of the panel.
func (g *Graph) RailPorts(node int) (rails []RailPorts, others []int) {
	by := map[int]*RailPorts{}
	for i, n := range g.NICs {
		for _, l := range n.Links {
			if g.Links[l].A+g.Links[l].B-g.Hosts[n.Host] != node {
				continue
			}
			if by[n.Rail] == nil {
				by[n.Rail] = &RailPorts{Rail: n.Rail}
			}
			r := by[n.Rail]
			r.Links, r.NICs = append(r.Links, l), append(r.NICs, i)
		}
	}
	for _, r := range by {
		rails = append(rails, *r)
	}
	slices.SortFunc(rails, func(a, b RailPorts) int { return a.Rail - b.Rail })
	for l := range g.Links {
		a, b := g.Links[l].A, g.Links[l].B
		if (a == node || b == node) && g.Nodes[a+b-node].Role != Host {
			others = append(others, l)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int {
		x, y := g.Jack(a, node), g.Jack(b, node)
		return cmp.Or(cmp.Compare(x.Port, y.Port), cmp.Compare(x.Part, y.Part))
	})
	return rails, others
}
