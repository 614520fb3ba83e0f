package scenario

import (
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/route"
)

// channels bundles the cables between switches of a fabric of a kind.
func (p *resolver) channels(f *Fabric, described bool) error {
	switch {
	case f.Lag == nil && f.MinLinks == nil:
		return nil
	case f.Lag == nil:
		return field.New("fabric.min_links", "is of a channel: fabric.lag sets the number of cables in one")
	case described:
		return field.New("fabric.lag", "this fabric has rules for its cables: set lag there")
	case p.ocs != nil:
		return field.New("fabric.lag", "cables between switches are circuits here, which move one by one")
	}
	least := 1
	if f.MinLinks != nil {
		if least = *f.MinLinks; least > *f.Lag {
			return field.New("fabric.min_links", "%d of the %d members that a channel has", least, *f.Lag)
		}
	}
	if err := p.Graph.BundleAll(*f.Lag, least); err != nil {
		return field.New("fabric.lag", "%v", err)
	}
	return nil
}

// twoStages checks the hashes of two consecutive choices: among channels, and among their members.
func (p *resolver) twoStages() error {
	if len(p.Graph.Channels) == 0 {
		if p.says("switch.lag_seed") {
			return field.New("switch.lag_seed", "no cables make a channel here: set lag")
		}
		return nil
	}
	if p.Scheduled != nil {
		return field.New("fabric.scheduled", "cells take all cables in turn; channels (lag) hash packets over theirs: one of the two")
	}
	if c := p.Default().Carried; c != nil && c.Segments {
		return field.New("transport.forwarding", "srv6 names each cable of a path, and a channel (lag) hides its members: use one of the two")
	}
	if hashes(p.LB) {
		return nil
	}
	var accepted []string
	for _, name := range route.Names() {
		if l := route.Lookup(name); hashes(l) {
			accepted = append(accepted, name)
		}
	}
	slices.Sort(accepted)
	return field.New("lb", "%s looks at ports, and cables are channels here (lag), whose members are hashed after its choice; accepted with lag: %s", p.LB.Name, strings.Join(accepted, ", "))
}

// hashes reports whether switches do nothing but hash under a policy.
func hashes(l *route.Policy) bool {
	return route.Is[route.Hasher](l) && !route.Is[route.Riser](l)
}
