package site

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/topo"
)

// lag checks what a rule says of channels.
func (j *joiner) lag() error {
	r := j.rule
	switch {
	case r.Lag == 0 && r.Min == 0:
		return nil
	case r.Lag == 0:
		return field.New(j.key+".min_links", "is of a channel: lag says how many cables make one")
	case j.from.server:
		return field.New(j.key+".lag", "%s is servers; channels are of cables between switches, and server.bond says what a NIC does with two ports", r.From)
	case r.Lag < 1 || r.Lag > topo.MaxMembers:
		return field.New(j.key+".lag", "a channel has 1 to %d cables, found %d", topo.MaxMembers, r.Lag)
	case r.Min < 0 || r.Min > r.Lag:
		return field.New(j.key+".min_links", "1 to %d, the members that there are, found %d", r.Lag, r.Min)
	case r.Share:
		return field.New(j.key+".lag", "share gives each end one cable, which makes no channel")
	case r.Count > 0 && r.Count%r.Lag != 0:
		return field.New(j.key+".count", "%d cables make no channels of %d", r.Count, r.Lag)
	}
	return nil
}

// channels bundles the cables of rules with a lag; links are the graph's, by cable.
func (b *builder) channels(g *topo.Graph, links []int) error {
	by := map[int][]int{}
	for i := range b.cables {
		by[b.cables[i].rule] = append(by[b.cables[i].rule], links[i])
	}
	for i := range b.site.Cables {
		r := &b.site.Cables[i]
		if r.Lag < 1 {
			continue
		}
		if err := g.BundleEach(by[i], r.Lag, r.Min); err != nil {
			return field.New(fmt.Sprintf("cables[%d].lag", i), "%v", err)
		}
	}
	return nil
}
