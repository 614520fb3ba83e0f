package coll

import (
	"slices"

	"railyard/unit"
)

// ByNVLSTree is the name of NCCL's NVLSTree.
const ByNVLSTree = "nvls-tree"

// NVLSTree returns the all-reduce of GPUs in several servers with NVSwitch reduction at both ends. A server's
// switches reduce piece by piece, each rank 1/n of it. The ranks at one position of all servers reduce their parts
// in a pair of trees and return the sums. NVSwitch then writes them to the whole server (nccl's
// NCCL_ALGO_NVLS_TREE). Inside a server each GPU sends and receives the bytes of NVLS. Half is before the trees and
// half after them, because reduction and distribution run in parallel. Between servers it sends 1/n as a tree does.
// Eight pieces are in flight at a time, as NCCL's buffers have slots.
//
// Servers of different sizes, or one, have no such pairs of trees.
func NVLSTree(share float64, on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		groups := on.groups(ranks)
		if len(groups) == 1 {
			return NVLS(share)(s, ranks, bytes, ready)
		}
		w := &nvlsTree{s: s, ranks: ranks, groups: groups, share: share, ready: ready,
			last: make([][][]int32, len(groups))}
		n := len(groups[0])
		for head := range n {
			at := make([]int, len(groups))
			for v, g := range groups {
				at[v] = g[head]
			}
			w.heads = append(w.heads, at)
			var pair [2]*tree
			for k := range pair {
				pair[k] = newTree(TreeParents(len(groups), k))
			}
			w.trees = append(w.trees, pair)
		}
		per := unit.Bytes(n) * 2 * TreePiece // bytes in both trees of all heads
		pieces := int(min(max((bytes+per-1)/per, 1), TreePieces))
		done := make([][]int32, len(ranks))
		for p := range pieces {
			w.piece(chunk(bytes, p, pieces))
		}
		for v, g := range groups {
			for _, r := range g {
				done[r] = append(done[r], ready[r]...)
				for _, piece := range w.last[v] {
					done[r] = append(done[r], piece...)
				}
			}
		}
		return done
	}
}

// nvlsTree is one in progress.
type nvlsTree struct {
	s      Sink
	ranks  []int
	groups [][]int // by server: places in ranks
	heads  [][]int // by nth rank: its position in each server
	trees  [][2]*tree
	share  float64
	ready  [][]int32
	last   [][][]int32 // by server and piece: writes to its GPUs
}

// piece schedules one piece through all stages.
func (w *nvlsTree) piece(b unit.Bytes) {
	sums := make([][]int32, len(w.groups))
	for v, g := range w.groups {
		var after []int32
		for _, r := range g {
			after = append(after, w.ready[r]...)
		}
		if n := len(w.last[v]); n >= treeSlots {
			after = append(after, w.last[v][n-treeSlots]...)
		}
		sums[v] = w.inside(g, b, after)
	}
	got := make([][]int32, len(w.ranks)) // by place: the sums of all servers
	for head, at := range w.heads {
		part := chunk(b, head, len(w.heads))
		in, done := make([]int, len(at)), make([][]int32, len(at))
		for v, r := range at {
			in[v] = w.ranks[r]
		}
		for k, t := range w.trees[head] {
			t.piece(w.s, in, chunk(part, k, 2), sums, done)
		}
		for v, r := range at {
			got[r] = append(got[r], done[v]...)
		}
	}
	for v, g := range w.groups {
		var after []int32
		for _, r := range g {
			after = append(after, got[r]...)
		}
		w.last[v] = append(w.last[v], w.inside(g, b, after))
	}
}

// inside is one half of NVSwitch's work on a piece in a server: reduction, or writing to all.
func (w *nvlsTree) inside(g []int, b unit.Bytes, after []int32) (moved []int32) {
	n := len(g)
	if n == 1 {
		return after
	}
	through := unit.Bytes(float64(b)*float64(n+1)/float64(2*n)/w.share + 0.5)
	for i := range g {
		moved = append(moved, w.s.Transfer(w.ranks[g[i]], w.ranks[g[(i+1)%n]], through, after...))
	}
	return moved
}

// AsMany reports whether each server has the same number of the given ranks, so that every position exists in all.
func (on Servers) AsMany(ranks []int) bool {
	groups := on.groups(ranks)
	return !slices.ContainsFunc(groups, func(g []int) bool { return len(g) != len(groups[0]) })
}
