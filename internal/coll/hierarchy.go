package coll

import (
	"slices"

	"railyard/unit"
)

// at picks elements by place.
func at[T any](all []T, places []int) []T {
	out := make([]T, len(places))
	for i, p := range places {
		out[i] = all[p]
	}
	return out
}

// Hierarchical returns the rail-aware all-reduce, all-gather or reduce-scatter for servers of equal numbers of
// GPUs. It is a reduce-scatter inside each server, a ring per rail over the servers for each share, and an
// all-gather inside. An all-gather and a reduce-scatter have only their own steps. With servers of different sizes,
// or a single server, it is a ring.
func Hierarchical(k Kind, on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		groups := on.groups(ranks)
		n := len(groups[0])
		for _, g := range groups {
			if len(g) != n {
				return Ring(k)(s, ranks, bytes, ready)
			}
		}
		if n == 1 || len(groups) == 1 {
			return Ring(k)(s, ranks, bytes, ready)
		}
		state := append([][]int32(nil), ready...)
		put := func(places []int, done [][]int32) {
			for i, p := range places {
				state[p] = done[i]
			}
		}
		inside := func(k Kind) {
			for _, g := range groups {
				run, _ := on.Within(k, at(ranks, g))
				put(g, run(s, at(ranks, g), bytes, at(state, g)))
			}
		}
		if k != AllGather {
			inside(ReduceScatter)
		}
		for rail := range n {
			places := make([]int, len(groups))
			for i, g := range groups {
				places[i] = g[rail]
			}
			put(places, Ring(k)(s, at(ranks, places), chunk(bytes, rail, n), at(state, places)))
		}
		if k != ReduceScatter {
			inside(AllGather)
		}
		return state
	}
}

// PairwiseAllToAll sends bytes/n from every rank to every other one in n-1 rounds. In round k a rank sends to the
// kth rank on its right, after the previous round's send and receive are complete (Thakur et al. 2005).
func PairwiseAllToAll(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	n := len(ranks)
	last := append([][]int32(nil), ready...)
	for d := 1; d < n; d++ {
		next := make([][]int32, n)
		for i := range n {
			to := (i + d) % n
			id := s.Transfer(ranks[i], ranks[to], chunk(bytes, to, n), last[i]...)
			next[to] = append(next[to], id)
			next[i] = append(next[i], id)
		}
		last = next
	}
	for i := range last {
		last[i] = append(last[i], ready[i]...)
	}
	return last
}

// RailAllToAll returns NCCL's all-to-all with PXN. The GPUs of a server pass their data for a remote GPU over
// NVLink to the local GPU on that GPU's rail, which sends them as one message. The number of messages falls by the
// number of GPUs per server, and none changes rails in the network.
func RailAllToAll(on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		n := len(ranks)
		groups := on.groups(ranks)
		done := make([][]int32, n)
		for i := range n {
			done[i] = append(done[i], ready[i]...)
		}
		for d := range groups { // servers apart
			for from, g := range groups {
				for _, dst := range groups[(from+d)%len(groups)] {
					b := chunk(bytes, dst, n)
					if d == 0 {
						for _, src := range g {
							if src != dst {
								done[dst] = append(done[dst], s.Transfer(ranks[src], ranks[dst], b, ready[src]...))
							}
						}
						continue
					}
					done[dst] = append(done[dst], handOver(s, ranks, g, dst, on, b, ready))
				}
			}
		}
		return done
	}
}

// handOver collects a server's shares for dst on the GPU of dst's rail, or the one nearest to it, and sends them
// on.
func handOver(s Sink, ranks, g []int, dst int, on Servers, b unit.Bytes, ready [][]int32) int32 {
	via := g[0]
	for _, src := range g {
		if on.At(ranks[src]) == on.At(ranks[dst]) {
			via = src
		}
	}
	after := append([]int32(nil), ready[via]...)
	for _, src := range g {
		if src != via {
			after = append(after, s.Transfer(ranks[src], ranks[via], b, ready[src]...))
		}
	}
	return s.Transfer(ranks[via], ranks[dst], b*unit.Bytes(len(g)), after...)
}

// TreeBroadcast passes bytes from the first rank down NCCL's first binary tree,
// piece by piece.
func TreeBroadcast(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	n := len(ranks)
	done := make([][]int32, n)
	for i := range done {
		done[i] = append(done[i], ready[i]...)
	}
	if n < 2 {
		return done
	}
	pieces := int(min(max((bytes+TreePiece-1)/TreePiece, 1), TreePieces))
	t := newTree(TreeParents(n, 0))
	for p := range pieces {
		have := make([][]int32, n)
		have[0] = ready[0]
		for i := n - 1; i >= 0; i-- { // the root first
			r := t.order[i]
			for _, c := range t.children[r] {
				after := append(append(append([]int32(nil), have[r]...), ready[c]...), slot(t.down[c])...)
				id := s.Transfer(ranks[r], ranks[c], chunk(bytes, p, pieces), after...)
				t.down[c] = append(t.down[c], id)
				have[c] = []int32{id}
				done[c] = append(done[c], id)
			}
		}
	}
	return done
}

// Sliced divides a collective into consecutive pieces of at most per bytes and rank. A piece begins at a rank when
// the piece that precedes it by slots is done there, as NCCL's buffers of eight slots permit.
func Sliced(run Algorithm, per unit.Bytes, slots int) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		whole := per * unit.Bytes(len(ranks))
		pieces := int(min(max((bytes+whole-1)/whole, 1), TreePieces))
		all := make([][]int32, len(ranks))
		var before [][][]int32
		for p := range pieces {
			start := ready
			if p >= slots {
				start = before[p-slots]
			}
			done := run(s, ranks, chunk(bytes, p, pieces), start)
			before = append(before, done)
			for i := range all {
				all[i] = append(all[i], done[i]...)
			}
		}
		return all
	}
}

// OnChannels runs a ring collective as n rings, each with its part of the bytes, which cross servers on different
// rails.
func OnChannels(run Algorithm, channels int, on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		orders := make([][]int, channels)
		for c := range orders {
			orders[c] = ChannelOrder(ranks, on, c)
		}
		return OnOrders(run, orders)(s, ranks, bytes, ready)
	}
}

// FromRoot runs a collective that begins at a given rank, the root, on several channels, as NCCL runs broadcasts
// and reductions. Each channel has its part of the bytes and passes the servers on its own rail. Each channel's
// part is cut into pieces, and channels send theirs in turn, so none waits for all of another.
func FromRoot(run Algorithm, pieces func(unit.Bytes) int, channels, root int, on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		orders := make([][]int, max(1, channels))
		for c := range orders {
			var order []int
			if len(orders) > 1 {
				order = ChannelOrder(ranks, on, c)
			} else { // order of the ranks as given
				for i := range ranks {
					order = append(order, i)
				}
			}
			at := slices.Index(order, root)
			orders[c] = slices.Concat(order[at:], order[:at])
		}
		all := make([][]int32, len(ranks))
		for i := range all {
			all[i] = slices.Clone(ready[i])
		}
		n := pieces(bytes / unit.Bytes(len(orders)))
		for p := range n {
			piece := chunk(bytes, p, n)
			for c, order := range orders {
				began := at(ready, order)
				for i, d := range run(s, at(ranks, order), chunk(piece, c, len(orders)), began) {
					// the server already has its own data
					all[order[i]] = append(all[order[i]], d[len(began[i]):]...)
				}
			}
		}
		return all
	}
}

// Whole is the pieces of an undivided transfer: one.
func Whole(unit.Bytes) int { return 1 }

// OnOrders runs a collective once along each of several orders of the ranks, as indices into them, each with its
// part of the bytes.
func OnOrders(run Algorithm, orders [][]int) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		all := make([][]int32, len(ranks))
		for c, order := range orders {
			for i, d := range run(s, at(ranks, order), chunk(bytes, c, len(orders)), at(ready, order)) {
				all[order[i]] = append(all[order[i]], d...)
			}
		}
		return all
	}
}
