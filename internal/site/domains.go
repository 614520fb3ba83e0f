package site

import (
	"fmt"
	"slices"
	"strconv"

	"railyard/internal/field"
	"railyard/internal/inside"
)

// domains makes servers that share NVLink consecutive, and returns each server's domain: servers of a group and a type
// share one if they agree in the type's places.
func (b *builder) domains() error {
	number, gpus := map[string]int{}, map[int]int{}
	of := make(map[*node]int, len(b.nodes))
	together := false
	for _, n := range b.nodes {
		if !n.typ.server() {
			continue
		}
		key := n.name
		if len(n.typ.Domain) > 0 {
			g := b.groups[n.group]
			where := fmt.Sprintf("types[%d].domain", slices.Index(b.typeNames, n.typ.Name))
			key = "in " + n.group + " " + n.typ.Name // no name of a node has a space
			for _, place := range n.typ.Domain {
				at := g.place(place)
				if at < 0 {
					return field.New(where, "%s has no place %q; it has %s", n.group, place, orNone(g.places))
				}
				key += " " + strconv.Itoa(n.at[at])
			}
		}
		d, known := number[key]
		if !known {
			d = len(number)
			number[key] = d
		}
		together = together || known
		of[n] = d
		if gpus[d] += n.typ.GPUs; gpus[d] > inside.MaxGPUs {
			return field.New(fmt.Sprintf("types[%d].domain", slices.Index(b.typeNames, n.typ.Name)),
				"%d GPUs and more would share NVLink; at most %d do: name more places", gpus[d],
				inside.MaxGPUs)
		}
	}
	if together { // switches are not moved
		var at []int
		var servers []*node
		for i, n := range b.nodes {
			if n.typ.server() {
				at, servers = append(at, i), append(servers, n)
			}
		}
		slices.SortStableFunc(servers, func(x, y *node) int { return of[x] - of[y] })
		for i, n := range servers {
			b.nodes[at[i]] = n
		}
	}
	for _, n := range b.nodes {
		if n.typ.server() {
			b.domain = append(b.domain, of[n])
		}
	}
	return nil
}

// regions are the groups of a dragonfly: all switches that agree at a place. The place is set by the site, or by a rule
// that connects each two values of one (between), if no two rules differ.
func (b *builder) regions() ([][]int, error) {
	place := b.site.Regions
	for i := range b.site.Cables {
		switch r := b.site.Cables[i].Between; {
		case b.site.Regions != "" || r == "" || r == place:
		case place == "":
			place = r
		default:
			return nil, nil // a lattice of more than one dimension
		}
	}
	if place == "" {
		return nil, nil
	}
	of, values, words := map[int][]int{}, []int(nil), []string(nil)
	for _, n := range b.nodes {
		g := b.groups[n.group]
		at := g.place(place)
		if n.typ.server() || at < 0 {
			if !n.typ.server() {
				words = append(words, g.places...)
			}
			continue
		}
		if of[n.at[at]] == nil {
			values = append(values, n.at[at])
		}
		of[n.at[at]] = append(of[n.at[at]], n.id)
	}
	if len(values) == 0 {
		slices.Sort(words)
		return nil, field.Choice("regions", place, slices.Compact(words), "no switch is at a %s",
			field.Quote(place)).ListedBy("railyard topo SCENARIO --cables")
	}
	slices.Sort(values)
	var regions [][]int
	for _, v := range values {
		regions = append(regions, of[v])
	}
	return regions, nil
}
