package swconf

import (
	"fmt"
	"slices"
	"strings"
)

// mlag checks the settings that combine two switches for bundles. All are required, the peer link must be a channel
// with members, bundles of the pair need one, and both switches must agree.
func (l *linter) mlag() {
	l.mlagPairs()
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
		}{{g.Domain.Is(), c.pairWords()[0]}, {g.Local.Is(), c.pairWords()[1]}, {g.Peer.Is(), c.pairWords()[2]},
			{g.Link.Is(), c.pairWords()[3]}} {
			if !w.said {
				lacks = append(lacks, w.what)
			}
		}
		if len(lacks) > 0 {
			l.say(g.At, "set it", "the MLAG of %s has no %s", c.Name(), strings.Join(lacks, ", "))
		}
		channel := c.OS != Junos || strings.HasPrefix(g.Link.V, "ae") // a port of Junos needs no separate statement
		if g.Link.Is() && !c.Part && channel && !c.linked(g.Link.V) {
			l.say(g.Link.At, "put the cables to the other switch into it",
				"the peer link %s of %s has no member", g.Link.V, c.Name())
		}
	}
}

// pairWords returns the language's words for the domain, its own end, the peer and the peer link.
func (c *Config) pairWords() [4]string {
	if c.OS == Junos {
		return [4]string{"switch-options service-id", "iccp local-ip-addr", "iccp peer",
			"multi-chassis-protection interface"}
	}
	return [4]string{"domain-id", "local-interface", "peer-address", "peer-link"}
}

// mlagPairs compares the two switches of a pair, where each names the other's address.
func (l *linter) mlagPairs() {
	for i, c := range l.Configs {
		j := l.mlagPeer(c)
		if j < 0 {
			continue
		}
		o, g := l.Configs[j], c.MLAG
		say := l.sayOf(c)
		if o.MLAG.Peer.Is() && o.MLAG.Peer.V.String() != g.Local.V {
			say(g.Local.At, "the addresses of both ends", "%s names %v as its peer, and the local address of %s is %s",
				o.Name(), o.MLAG.Peer.V, c.Name(), g.Local.V)
		}
		seen := l.mlagPeer(o) == i && j < i // compared from the other end
		for _, b := range c.Bundles {
			if !b.MLAG.Is() {
				continue
			}
			at := slices.IndexFunc(o.Bundles, func(p *Port) bool { return p.MLAG.Is() && p.MLAG.V == b.MLAG.V })
			if at < 0 {
				say(b.MLAG.At, "the same bundle on both switches", "MLAG %d (%s) of %s has no counterpart on %s",
					b.MLAG.V, b.Name, c.Name(), o.Name())
				continue
			}
			if !seen {
				alike(say, fmt.Sprintf("MLAG %d", b.MLAG.V), c, o, b, o.Bundles[at])
			}
		}
		if seen {
			continue
		}
		l.switches(c, o)
		h := o.MLAG
		if g.Domain.Is() && h.Domain.Is() && g.Domain.V != h.Domain.V {
			say(g.Domain.At, "one value on both switches", "%s of %s is %s, and that of its peer %s is %s",
				c.pairWords()[0], c.Name(), g.Domain.V, o.Name(), h.Domain.V)
		}
		if g.Side.Is() && h.Side.Is() && g.Side.V == h.Side.V {
			say(g.Side.At, "0 on one switch, 1 on the other", "%s and its peer %s have chassis-id %d", c.Name(), o.Name(),
				g.Side.V)
		}
		if g.Active.Is() && h.Active.Is() && g.Active.V == h.Active.V {
			say(g.Active.At, "active on one switch, standby on the other",
				"%s and its peer %s have the same status-control", c.Name(), o.Name())
		}
	}
}

// mlagPeer returns the index of the one configuration whose local address a switch's pair names, or -1.
func (l *linter) mlagPeer(c *Config) int {
	found := -1
	if c.MLAG == nil || !c.MLAG.Peer.Is() {
		return found
	}
	for j, o := range l.Configs {
		if o == c || o.MLAG == nil || o.MLAG.Local.V != c.MLAG.Peer.V.String() {
			continue
		}
		if found >= 0 {
			return -1 // several pairs use the address
		}
		found = j
	}
	return found
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
