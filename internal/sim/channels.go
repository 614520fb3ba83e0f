package sim

import (
	"railyard/internal/rng"
	"railyard/internal/route"
)

// bundled lists by node the channels of its links; nil if there are none.
func (n *Network) bundled() [][]int {
	if len(n.Graph.Channels) == 0 {
		return nil
	}
	of := make([][]int, len(n.Graph.Nodes))
	for i, c := range n.Graph.Channels {
		l := &n.Graph.Links[c.Links[0]]
		of[l.A], of[l.B] = append(of[l.A], i), append(of[l.B], i)
	}
	return of
}

// bundle sets a switch's channels: of each the members in use, or all if none is known to work. The seed of the
// hash among members is configured for the switch, or is the seed of its ECMP.
func (n *Network) bundle(node int, name string, chooser route.Chooser, of []int) {
	var lead []int32
	var members [][]int32
	for _, i := range of {
		c := &n.Graph.Channels[i]
		var up, all []int32
		for _, l := range c.Links {
			p := n.Port(l, node)
			if all = append(all, p); n.Paths.Up(l) && !n.noticed[l] {
				up = append(up, p)
			}
		}
		if len(up) == 0 {
			up = all
		}
		lead, members = append(lead, all[0]), append(members, up)
	}
	r := rng.New(n.Setup.Seed, "channels/"+name)
	seed := uint32(r.Uint64())
	if h, ok := chooser.(route.Hasher); ok && n.Net.Sw[node].Spec.SameLagSeed {
		seed = h.HashSeed()
	}
	n.Net.SetChannels(int32(node), seed, lead, members)
}

// unfit reports whether a switch has detected that a next hop does not work: a broken link, or a channel with too
// few working links.
func (n *Network) unfit(link int) bool {
	c := n.Graph.Links[link].Channel
	if c == 0 {
		return n.noticed[link]
	}
	up := 0
	for _, l := range n.Graph.Channels[c-1].Links {
		if n.Paths.Up(l) && !n.noticed[l] {
			up++
		}
	}
	return up < n.Graph.Channels[c-1].Min
}
