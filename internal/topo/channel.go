package topo

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/unit"
)

// Channel is a layer 3 port channel: links between two switches that are one link to routing, with one adjacency
// and one next hop. A separate hash selects a link.
type Channel struct {
	Links []int // members, in order; the first represents it
	Min   int   // with fewer active members the channel is down
}

// MaxMembers is the largest number of cables of a channel, as LACP's groups on large switches.
const MaxMembers = 64

// Bundle makes a channel of links between the same two switches.
func (g *Graph) Bundle(links []int, least int) error {
	for _, i := range links {
		l, first := &g.Links[i], &g.Links[links[0]]
		switch {
		case g.Nodes[l.A].Role == Host || g.Nodes[l.B].Role == Host:
			return fmt.Errorf("%s is a server's cable; channels connect switches", g.End(i, l.B))
		case l.A+l.B != first.A+first.B || l.A != first.A && l.A != first.B:
			return fmt.Errorf("%s and %s do not connect the same switches", g.End(links[0], first.A), g.End(i, l.A))
		case l.Rate != first.Rate:
			return fmt.Errorf("%s does %v and %s %v; members of a channel are equally fast",
				g.End(links[0], first.A), first.Rate, g.End(i, l.A), l.Rate)
		case l.Channel > 0:
			return fmt.Errorf("%s is in a channel already", g.End(i, l.A))
		}
	}
	g.Channels = append(g.Channels, Channel{Links: links, Min: max(least, 1)})
	for _, i := range links {
		g.Links[i].Channel = len(g.Channels)
	}
	return nil
}

// BundleAll makes channels of all links between switches, k by k of those between the same two.
func (g *Graph) BundleAll(k, least int) error {
	var links []int
	for i, l := range g.Links {
		if g.Nodes[l.A].Role != Host && g.Nodes[l.B].Role != Host {
			links = append(links, i)
		}
	}
	return g.BundleEach(links, k, least)
}

// BundleEach makes channels of some links, k by k of those between the same two switches.
func (g *Graph) BundleEach(links []int, k, least int) error {
	by := map[[2]int][]int{}
	var order [][2]int
	for _, i := range links {
		l := &g.Links[i]
		pair := [2]int{min(l.A, l.B), max(l.A, l.B)}
		if by[pair] == nil {
			order = append(order, pair)
		}
		by[pair] = append(by[pair], i)
	}
	for _, pair := range order {
		all := by[pair]
		if len(all)%k != 0 {
			return fmt.Errorf("%d cables connect %s and %s, which make no channels of %d", len(all),
				g.Nodes[pair[0]].Name, g.Nodes[pair[1]].Name, k)
		}
		for ; len(all) > 0; all = all[k:] {
			if err := g.Bundle(all[:k:k], least); err != nil {
				return err
			}
		}
	}
	return nil
}

// Short returns broken links and the links of channels with too few working ones, which are unused, too. The
// argument is not changed.
func (g *Graph) Short(down map[int]bool) map[int]bool {
	var more map[int]bool
	for _, c := range g.Channels {
		up := 0
		for _, l := range c.Links {
			if !down[l] {
				up++
			}
		}
		if up >= c.Min || up == 0 {
			continue
		}
		if more == nil {
			more = map[int]bool{}
			for l, is := range down {
				more[l] = is
			}
		}
		for _, l := range c.Links {
			more[l] = true
		}
	}
	if more == nil {
		return down
	}
	return more
}

// Whole returns next hops: each channel once, by its first link, and links without a channel.
func (g *Graph) Whole(links []int) []int {
	if len(g.Channels) == 0 {
		return links
	}
	var out []int
	seen := map[int]bool{}
	for _, l := range links {
		if c := g.Links[l].Channel; c > 0 {
			l = g.Channels[c-1].Links[0]
		}
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

// countChannels counts a fabric's channels by kind, starting with the lower end.
func (g *Graph) countChannels() (out []ChannelCount) {
	count := map[ChannelCount]int{}
	for _, c := range g.Channels {
		if len(c.Links) < 2 {
			continue
		}
		l := &g.Links[c.Links[0]]
		lo, hi := g.Nodes[l.A], g.Nodes[l.B]
		if lo.Tier > hi.Tier {
			lo, hi = hi, lo
		}
		count[ChannelCount{From: lo.Role.String(), To: hi.Role.String(), Members: len(c.Links), Min: c.Min,
			Rate: l.Rate * unit.Rate(len(c.Links))}]++
	}
	for c, n := range count {
		c.Count = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b ChannelCount) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), a.Members-b.Members,
			cmp.Compare(a.Rate, b.Rate), a.Min-b.Min)
	})
	return out
}
