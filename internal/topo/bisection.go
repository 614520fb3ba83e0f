package topo

import "railyard/unit"

// Bisection is the maximum flow from the first half of the servers to the second: the network's simultaneous
// capacity between two halves. Servers are in the order of their numbers, in which segments and pods are
// contiguous. A server sends by all its NICs, because NVLink connects them; separate rails are no bottleneck. share
// is relative to the NICs' own rate of the slower half, so 1 is full bisection.
//
// Equivalent vertices (Refine) are one vertex of the flow network. The maximum is equal: a flow of the whole
// averages to a flow of the classes. A flow of the classes spreads over their members in proportion to their links,
// because each member has equally many links to every other class.
func (g *Graph) Bisection() (flow unit.Rate, share float64) {
	half := len(g.Hosts) / 2
	if half == 0 {
		return 0, 0
	}
	const relay, source, sink = 1, 2, 3
	colour := make([]uint64, len(g.Nodes))
	for i := range colour {
		colour[i] = relay
	}
	for i, h := range g.Hosts[:2*half] {
		colour[h] = source + uint64(i/half)
	}
	var out, in unit.Rate
	edges := make([]Edge, 0, 2*len(g.Links))
	for i := range g.Links {
		l := &g.Links[i]
		edges = append(edges, Edge{int32(l.A), int32(l.B), uint64(l.Rate)},
			Edge{int32(l.B), int32(l.A), uint64(l.Rate)})
		for _, n := range []int{l.A, l.B} {
			switch colour[n] {
			case source:
				out += l.Rate
			case sink:
				in += l.Rate
			}
		}
	}
	roles := append([]uint64(nil), colour...)
	Refine(colour, edges, len(g.Nodes))

	class := map[uint64]int{}
	of := make([]int, len(colour))
	for n, c := range colour {
		i, ok := class[c]
		if !ok {
			i = len(class)
			class[c] = i
		}
		of[n] = i
	}
	type pair struct{ a, b int }
	rate := map[pair]int64{}
	var order []pair
	for i := range g.Links {
		l := &g.Links[i]
		p := pair{min(of[l.A], of[l.B]), max(of[l.A], of[l.B])}
		if p.a == p.b {
			continue
		}
		if rate[p] == 0 {
			order = append(order, p)
		}
		rate[p] += int64(l.Rate)
	}
	f := newFlowNet(len(class) + 2)
	src, dst := len(class), len(class)+1
	for _, p := range order {
		f.add(p.a, p.b, rate[p], rate[p])
	}
	joined := make([]bool, len(class))
	for n, role := range roles {
		if c := of[n]; !joined[c] && role != relay {
			joined[c] = true
			if role == source {
				f.add(src, c, 1<<60, 0)
			} else {
				f.add(c, dst, 1<<60, 0)
			}
		}
	}
	flow = unit.Rate(f.max(src, dst))
	return flow, float64(flow) / float64(max(1, min(out, in)))
}

// flowNet is a capacity network for Dinic's maximum flow algorithm (1970).
type flowNet struct {
	head []int
	next []int
	to   []int
	cap  []int64
	dist []int
	iter []int
}

func newFlowNet(n int) *flowNet {
	f := &flowNet{head: make([]int, n), dist: make([]int, n), iter: make([]int, n)}
	for i := range f.head {
		f.head[i] = -1
	}
	return f
}

// add connects a and b with capacity ab in one direction and ba in the other.
func (f *flowNet) add(a, b int, ab, ba int64) {
	f.to = append(f.to, b, a)
	f.cap = append(f.cap, ab, ba)
	f.next = append(f.next, f.head[a], f.head[b])
	f.head[a], f.head[b] = len(f.to)-2, len(f.to)-1
}

func (f *flowNet) max(s, t int) (total int64) {
	for f.levels(s, t) {
		copy(f.iter, f.head)
		for {
			d := f.push(s, t, 1<<62)
			if d == 0 {
				break
			}
			total += d
		}
	}
	return total
}

func (f *flowNet) levels(s, t int) bool {
	for i := range f.dist {
		f.dist[i] = -1
	}
	f.dist[s] = 0
	queue := []int{s}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for e := f.head[n]; e >= 0; e = f.next[e] {
			if f.cap[e] > 0 && f.dist[f.to[e]] < 0 {
				f.dist[f.to[e]] = f.dist[n] + 1
				queue = append(queue, f.to[e])
			}
		}
	}
	return f.dist[t] >= 0
}

func (f *flowNet) push(n, t int, limit int64) int64 {
	if n == t {
		return limit
	}
	for ; f.iter[n] >= 0; f.iter[n] = f.next[f.iter[n]] {
		e := f.iter[n]
		if f.cap[e] <= 0 || f.dist[f.to[e]] != f.dist[n]+1 {
			continue
		}
		if d := f.push(f.to[e], t, min(limit, f.cap[e])); d > 0 {
			f.cap[e] -= d
			f.cap[e^1] += d
			return d
		}
	}
	return 0
}
