package topo

import "slices"

// Locators whose switches have the same neighbours are twins: from everywhere else ways to one are
// ways to the other. The last hop to a locator leaves one of these neighbours, so a switch is as far
// from it as from the nearest of them and one more, and unless it is such a neighbour itself, its
// next switches do not depend on which of the twins is meant. A class of twins is computed once, to
// the neighbours; what differs is kept apart: these know the cables to each twin (depart), and a
// locator's own switches need no way. In a Clos all leaves of a pod, or of a plane of it, are twins.

// classify puts locators into classes and returns from where each class's ways are computed. With
// detours, where a cable may be longer than a way around it, everyone is a class.
func (r *Routes) classify(net *mesh, detours bool) (from [][]int32) {
	r.class = make([]int32, len(r.Sets))
	index := map[string]int32{}
	var around []int
	for loc, set := range r.Sets {
		if detours {
			r.class[loc] = int32(loc)
			from = append(from, narrow(set))
			continue
		}
		around = net.around(around[:0], set)
		key := keyOf(around)
		c, ok := index[key]
		if !ok {
			c = int32(len(from))
			index[key] = c
			from = append(from, narrow(around))
		}
		r.class[loc] = c
	}
	return from
}

// around lists the neighbours of a set of switches, in order.
func (m *mesh) around(out, set []int) []int {
	for _, n := range set {
		for _, h := range m.peers[n] {
			out = append(out, int(h.peer))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(n int) bool { return slices.Contains(set, n) })
}

func narrow(nodes []int) []int32 {
	out := make([]int32, len(nodes))
	for i, n := range nodes {
		out[i] = int32(n)
	}
	return out
}

// depart keeps where the ways to a locator are not its class's.
func (r *Routes) depart(net *mesh, loc int) {
	type cable struct{ from, link int }
	var last []cable
	for i, n := range r.Sets[loc] {
		if i > 0 && n == r.Sets[loc][i-1] { // a NIC with two cables to it
			continue
		}
		r.apart[n] = append(r.apart[n], special{int32(loc), -1})
		for _, x := range net.exits[n] {
			if !slices.Contains(r.Sets[loc], x.Peer) {
				last = append(last, cable{x.Peer, x.Link})
			}
		}
	}
	slices.SortFunc(last, func(a, b cable) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.link - b.link
	})
	for i := 0; i < len(last); {
		n, k := last[i].from, i
		for i < len(last) && last[i].from == n {
			i++
		}
		links := make([]int, 0, i-k)
		for _, c := range last[k:i] {
			links = append(links, c.link)
		}
		r.apart[n] = append(r.apart[n], special{int32(loc), int32(len(r.sets[n]))})
		r.sets[n] = append(r.sets[n], links)
	}
}
