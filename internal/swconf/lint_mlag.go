package swconf

import "strings"

// mlag looks at what joins two switches for bundles: all of its words are needed, the peer link must be a
// channel with members, and bundles of the pair need one.
func (l *linter) mlag() {
	for _, c := range l.Configs {
		var shared *Port // the first bundle of the pair
		for _, b := range c.Bundles {
			if b.MLAG.Is() && shared == nil {
				shared = b
			}
		}
		g := c.MLAG
		if g == nil {
			if shared != nil && !c.Part {
				l.say(shared.MLAG.At, "an MLAG to the other switch of the pair",
					"%s is a bundle of an MLAG, and %s has none", shared.Name, c.Name())
			}
			continue
		}
		var lacks []string
		for _, w := range []struct {
			said bool
			what string
		}{{g.Domain.Is(), "domain-id"}, {g.Local.Is(), "local-interface"}, {g.Peer.Is(), "peer-address"},
			{g.Link.Is(), "peer-link"}} {
			if !w.said {
				lacks = append(lacks, w.what)
			}
		}
		if len(lacks) > 0 {
			l.say(g.At, "set it", "the MLAG of %s has no %s", c.Name(), strings.Join(lacks, ", "))
		}
		if g.Link.Is() && !c.Part && !c.linked(g.Link.V) {
			l.say(g.Link.At, "put the cables to the other switch into it",
				"the peer link %s of %s has no member", g.Link.V, c.Name())
		}
	}
}

// linked reports whether an interface is a port, or a channel with a member.
func (c *Config) linked(name string) bool {
	for _, p := range c.Ports {
		if p.Name == name {
			return true
		}
		if b := c.Bundle(p.Channel.V); p.Channel.Is() && b != nil && b.Name == name {
			return true
		}
	}
	return false
}
