package site

import (
	"slices"

	"railyard/internal/field"
)

// regions are the groups of a dragonfly: all switches that agree at a place. Which place it is, the site
// says, or a rule that joins each two values of one (between), where no two rules say different ones.
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
		return nil, field.Choice("regions", place, slices.Compact(words), "no switch stands at a %s",
			field.Quote(place))
	}
	slices.Sort(values)
	var regions [][]int
	for _, v := range values {
		regions = append(regions, of[v])
	}
	return regions, nil
}
