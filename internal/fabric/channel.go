package fabric

import "railyard/internal/route"

// channels are port channels: links between two switches that form one next hop. A group contains the port of each
// channel's first link, working or not. A second hash with its own seed selects the member for a packet. If both seeds
// are equal, the second hash repeats the choice of the first: polarisation.
type channels struct {
	at      []group // by the channel's port: its members, as a range of ports; n is 0 for other ports
	members []int32
	seed    []uint32 // by switch
}

// SetChannels sets a switch's channels: for each, the ports in use; the first entry is the port that next hops use.
// Earlier ones remain allocated, as tables do.
func (n *Net) SetChannels(node int32, seed uint32, lead []int32, members [][]int32) {
	if n.lags == nil {
		n.lags = &channels{at: make([]group, len(n.Ports)), seed: make([]uint32, len(n.forward))}
	}
	c := n.lags
	c.seed[node] = seed
	for i, port := range lead {
		c.at[port] = group{int32(len(c.members)), int32(len(members[i]))}
		c.members = append(c.members, members[i]...)
	}
	if len(lead) > 0 {
		n.forward[node].slow |= slowChannel
	}
}

// member returns the member port on which a packet leaves that a switch sends to a next hop.
func (n *Net) member(node, out int32, hash uint32) int32 {
	if g := n.lags.at[out]; g.n > 0 {
		return n.lags.members[int(g.start)+route.Hashed(hash, n.lags.seed[node], int(g.n))]
	}
	return out
}

// allMembers lists the members of all ports of a group.
func (n *Net) allMembers(out, hops []int32) []int32 {
	if n.lags == nil {
		return append(out, hops...)
	}
	for _, p := range hops {
		if g := n.lags.at[p]; g.n > 0 {
			out = append(out, n.lags.members[g.start:g.start+g.n]...)
			continue
		}
		out = append(out, p)
	}
	return out
}
