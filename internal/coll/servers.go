package coll

import "slices"

// Servers is the position of ranks: their server and their index in it. All GPUs that share NVLink count as one
// server.
type Servers struct {
	per    int     // equal number in each, in order
	of, at []int32 // or by rank, where servers differ
	mesh   bool    // GPUs of a server are connected in pairs
	cross  bool    // rings may leave a server by another NIC than the one by which they enter the next
}

// Even returns servers of n ranks each, in order.
func Even(per int) Servers { return Servers{per: max(1, per)} }

// Placed returns servers by rank, and ranks' indices in them.
func Placed(of, at []int32) Servers { return Servers{of: of, at: at} }

// Meshed returns the same servers with GPUs connected in pairs. Parallel rings visit them in different orders,
// because each uses only its own links.
func (s Servers) Meshed(mesh bool) Servers {
	s.mesh = mesh
	return s
}

// Crossed returns the same servers with rings that may use different NICs at the ends of a hop (NCCL_CROSS_NIC=1 of
// NCCL's guide). They visit all servers in one order, and therefore change rails.
func (s Servers) Crossed(cross bool) Servers {
	s.cross = cross
	return s
}

// Known reports whether positions are set.
func (s Servers) Known() bool { return s.per > 0 || s.of != nil }

// Of is the server of a rank, and At its position there.
func (s Servers) Of(rank int) int {
	if s.of != nil {
		return int(s.of[rank])
	}
	return rank / s.per
}

// At is a rank's place in its server.
func (s Servers) At(rank int) int {
	if s.of != nil {
		return int(s.at[rank])
	}
	return rank % s.per
}

// groups groups ranks by server; ranks of a server are adjacent.
func (s Servers) groups(ranks []int) (groups [][]int) {
	for i := 0; i < len(ranks); {
		j := i
		var g []int
		for ; j < len(ranks) && s.Of(ranks[j]) == s.Of(ranks[i]); j++ {
			g = append(g, j)
		}
		groups = append(groups, g)
		i = j
	}
	return groups
}

// MostChannels is the maximum number of channels of a collective (MAXCHANNELS of NCCL's src/include/device.h).
const MostChannels = 64

// Rings returns the number of parallel rings that use all links, as NCCL and RCCL have them. For n ranks of one
// server connected by a switch it is one. Connected in pairs it is one for each other rank (AMD, Understanding RCCL
// bandwidth and xGMI performance, 2 March 2025: all seven links of a MI300X). For several servers it is one for
// each of the n ranks in a server, and so for each NIC, up to MostChannels.
func Rings(n, servers int, mesh bool) int {
	switch {
	case servers > 1:
		return min(n, MostChannels)
	case mesh && n > 2:
		return n - 1
	}
	return 1
}

// Lanes returns how many parallel rings pass n ranks of a server without sharing a link in one direction. Connected by
// a switch it is one. Connected in pairs it is one for each of [Cycles], and in several servers one for each of n
// paths if n is even.
func Lanes(n, servers int, mesh bool) int {
	switch {
	case !mesh || n < 2:
		return 1
	case servers > 1 && n%2 == 0:
		return n
	}
	return len(Cycles(n))
}

// Rings returns how many rings side by side a group of ranks uses.
func (s Servers) Rings(ranks []int) int {
	groups, most := s.groups(ranks), 1
	for _, g := range groups {
		most = max(most, len(g))
	}
	return Rings(most, len(groups), s.mesh)
}

// zigzag is the path of a channel through the n positions of a server, n even: c, c+1, c-1, c+2 and so on to c+n/2.
// The n paths use each link between two positions once in each direction (Walecki's paths). Each begins and ends at
// its own position. Back is the reverse order.
func zigzag(n, c int, back bool) []int {
	way := make([]int, n)
	at := c % n
	for k := range way {
		way[k] = at
		if k%2 == 0 {
			at = (at + k + 1) % n
		} else {
			at = (at - k - 1 + n) % n
		}
	}
	if back {
		slices.Reverse(way)
	}
	return way
}

// round returns the order of a server's n ranks on a channel.
func (s Servers) round(n, channel int) []int {
	if !s.mesh || n < 3 {
		return seq(n)
	}
	all := Cycles(n)
	return all[channel%len(all)]
}
