package scenario

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/workload"
	"railyard/unit"
)

// even reports whether all servers with GPUs have equal numbers.
func (p *resolver) even() bool {
	n := 0
	for d := range p.Graph.Domains() {
		first, last := p.Graph.GPUsIn(d)
		if n == 0 {
			n = last - first
		}
		if last > first && last-first != n {
			return false
		}
	}
	return true
}

// servers returns the servers of a job's ranks.
func (p *resolver) servers(c crew) coll.Servers {
	g := p.Graph
	mesh := slices.ContainsFunc(p.Kinds, (*Kind).Mesh)
	if c == nil && p.even() {
		return coll.Even(g.PerDomain()).Meshed(mesh)
	}
	of, at := make([]int32, p.ranks(c)), make([]int32, p.ranks(c))
	for rank := range of {
		gpu := c.gpu(rank)
		of[rank], at[rank] = int32(g.DomainOf(g.HostOf(gpu))), int32(g.PlaceOf(gpu))
	}
	return coll.Placed(of, at).Meshed(mesh)
}

// seat finds GPUs for the ranks of a step on servers that differ. A tensor parallel group is in one server, as on
// equal servers. GPUs beyond whole groups stay idle.
func (p *resolver) seat(at task, t *workload.Training) (place crew, err error) {
	key := at.key + ".training"
	if at.crew == nil && p.even() {
		return nil, nil
	}
	if t.Fold {
		return nil, field.New(key+".fold", "needs servers with as many GPUs each, and these differ: %s", p.sizes())
	}
	idle, need := 0, t.Ranks()
	for rest := p.runs(at.crew); len(rest) > 0; rest = rest[1:] {
		mine := rest[0]
		for ; len(mine) >= t.TP && len(place) < need; mine = mine[t.TP:] {
			place = append(place, mine[:t.TP]...)
		}
		if len(place) < need {
			idle += len(mine)
		}
	}
	if len(place) < need {
		return nil, field.New(key+".tp", "a group of %s is within one server; the step needs %d groups, there is room for %d (%s)", unit.Plural(t.TP, "GPU"), need/t.TP, len(place)/t.TP,
			p.sizes())
	}
	if idle > 0 {
		p.note("%s stay idle in servers that hold no further tensor parallel group of %d (%s)",
			unit.Plural(idle, "GPU"), t.TP, p.sizes())
	}
	if last := place[len(place)-1]; at.crew == nil && last == len(place)-1 {
		return nil, nil // in order
	}
	return place, nil
}

// sizes describes how many servers have how many GPUs.
func (p *resolver) sizes() string {
	count := map[int]int{}
	var sizes []int
	for d := range p.Graph.Domains() {
		first, last := p.Graph.GPUsIn(d)
		if n := last - first; n > 0 {
			if count[n]++; count[n] == 1 {
				sizes = append(sizes, n)
			}
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return b - a })
	var parts []string
	for _, n := range sizes {
		parts = append(parts, fmt.Sprintf("%s of %s", unit.Plural(count[n], "server"), unit.Plural(n, "GPU")))
	}
	return strings.Join(parts, ", ")
}

// equip sets the GPUs of a step's ranks.
func (p *resolver) equip(t *workload.Training, place crew) {
	n := min(t.Ranks(), p.ranks(place))
	t.NVLink, t.Mesh, t.Switch = 0, true, p.adding(place)
	each := make([]model.GPU, n)
	for rank := range n {
		k := p.KindOf(place.gpu(rank))
		each[rank] = k.GPU
		t.Mesh = t.Mesh && k.Mesh()
		if reach := k.Reach(); t.NVLink == 0 || reach < t.NVLink {
			t.NVLink = reach
		}
	}
	t.GPU = each[0]
	if slices.ContainsFunc(each, func(g model.GPU) bool { return g != each[0] }) {
		t.Each = each
	}
}
