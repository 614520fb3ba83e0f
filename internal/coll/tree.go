package coll

import (
	"fmt"
	"math/bits"

	"railyard/unit"
)

// TreeParents returns the parents of n ranks in one of NCCL's two binary trees, -1 at the root (nccl
// src/graph/trees.cc; docs/references.md, nccl-trees). In tree 0 a rank's lowest set bit is its height. Tree 1 is
// its mirror image or, if n is odd, tree 0 shifted by one, so that a leaf of one tree is inside the other.
func TreeParents(n, tree int) []int {
	p := make([]int, n)
	to := func(r int) int { return r } // this tree's name for a rank of tree 0
	switch {
	case tree == 1 && n%2 == 0:
		to = func(r int) int { return n - 1 - r }
	case tree == 1:
		to = func(r int) int { return (r + 1) % n }
	}
	for r := range p {
		if up := parent(r, n); up < 0 {
			p[to(r)] = -1
		} else {
			p[to(r)] = to(up)
		}
	}
	return p
}

func parent(r, n int) int {
	if r == 0 {
		return -1
	}
	b := 1 << bits.TrailingZeros(uint(r))
	up := (r ^ b) | b<<1
	if up >= n {
		up = r ^ b
	}
	return up
}

const (
	// TreePiece is a slice of NCCL's buffer: 4 MiB in 8 steps (docs/references.md, nccl-tuning).
	TreePiece = 512 * unit.KiB
	// TreePieces is the most pieces that a tree's data is cut into: they are larger then.
	TreePieces = 1024
	// treeSlots is the number of pieces in flight on a connection.
	treeSlots = 8
)

// NodeTrees returns NCCL's tree all-reduce: the trees connect servers, and a chain inside each server leads to the
// GPU of the channel. There are as many channels as GPUs in the smallest server, each on its rail.
func NodeTrees(on Servers) Algorithm {
	return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
		done := make([][]int32, len(ranks))
		for i := range done {
			done[i] = append(done[i], ready[i]...)
		}
		if len(ranks) < 2 {
			return done
		}
		groups := on.groups(ranks)
		channels := len(ranks)
		for _, g := range groups {
			channels = min(channels, len(g))
		}
		for c := range channels {
			part := chunk(bytes, c, channels)
			for n := range 2 {
				half := chunk(part, n, 2)
				pieces := int(min(max((half+TreePiece-1)/TreePiece, 1), TreePieces))
				t := newTree(nodeTree(groups, c, n))
				for p := range pieces {
					t.piece(s, ranks, chunk(half, p, pieces), ready, done)
				}
			}
		}
		return done
	}
}

// nodeTree returns the parents of a channel's tree: places in the groups' numbering.
func nodeTree(groups [][]int, channel, n int) []int {
	ranks := 0
	for _, g := range groups {
		ranks += len(g)
	}
	parents := make([]int, ranks)
	for node, up := range TreeParents(len(groups), n) {
		g := groups[node]
		for k := 1; k < len(g); k++ { // a chain that ends at the channel's GPU
			parents[g[(channel+k)%len(g)]] = g[(channel+k-1)%len(g)]
		}
		if parents[g[channel]] = -1; up >= 0 {
			parents[g[channel]] = groups[up][channel]
		}
	}
	return parents
}

func seq(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// tree is one tree with the transfers scheduled in it.
type tree struct {
	parents  []int
	children [][]int
	order    []int     // leaves first
	up, down [][]int32 // by rank: deliveries of its sends to the parent, and of the data from it
}

func newTree(parents []int) *tree {
	n := len(parents)
	t := &tree{parents: parents, children: make([][]int, n), up: make([][]int32, n), down: make([][]int32, n)}
	for r, p := range parents {
		if p >= 0 {
			t.children[p] = append(t.children[p], r)
		}
	}
	var visit func(r int)
	visit = func(r int) {
		for _, c := range t.children[r] {
			visit(c)
		}
		t.order = append(t.order, r)
	}
	for r, p := range parents {
		if p < 0 {
			visit(r)
		}
	}
	return t
}

// slot is the delivery that frees a connection's oldest slot.
func slot(sent []int32) []int32 {
	if len(sent) < treeSlots {
		return nil
	}
	return sent[len(sent)-treeSlots : len(sent)-treeSlots+1]
}

// piece schedules one piece up and down.
func (t *tree) piece(s Sink, ranks []int, b unit.Bytes, ready, done [][]int32) {
	n := len(t.parents)
	got := make([][]int32, n) // this piece's deliveries from the children
	for _, r := range t.order {
		after := append(append(append([]int32(nil), ready[r]...), got[r]...), slot(t.up[r])...)
		p := t.parents[r]
		if p < 0 {
			got[r] = after
			continue
		}
		id := s.Transfer(ranks[r], ranks[p], b, after...)
		t.up[r] = append(t.up[r], id)
		got[p] = append(got[p], id)
	}
	sum := make([][]int32, n) // dependencies of a rank's complete sum
	for i := n - 1; i >= 0; i-- {
		r := t.order[i]
		if t.parents[r] < 0 {
			sum[r] = got[r]
		}
		for _, c := range t.children[r] {
			after := append(append([]int32(nil), sum[r]...), slot(t.down[c])...)
			id := s.Transfer(ranks[r], ranks[c], b, after...)
			t.down[c] = append(t.down[c], id)
			sum[c] = []int32{id}
		}
		done[r] = append(done[r], sum[r]...)
	}
}

// HalvingDoubling is the all-reduce by recursive halving and doubling (Thakur et al. 2005): log2(n) exchanges of
// ever smaller parts, and the reverse. n must be a power of two.
func HalvingDoubling(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) ([][]int32, error) {
	n := len(ranks)
	if n&(n-1) != 0 {
		return nil, fmt.Errorf("halving and doubling needs a power of two of ranks, found %d", n)
	}
	last := make([][]int32, n)
	for i := range last {
		last[i] = append(last[i], ready[i]...)
	}
	exchange := func(distance int, b unit.Bytes) {
		next := make([][]int32, n)
		for i := range n {
			id := s.Transfer(ranks[i], ranks[i^distance], b, last[i]...)
			next[i^distance] = append(next[i^distance], id)
		}
		for i := range next { // a rank continues after both its send and its receive
			next[i] = append(next[i], last[i]...)
		}
		last = next
	}
	part := bytes
	var sizes []unit.Bytes
	for d := n / 2; d >= 1; d /= 2 {
		part = (part + 1) / 2
		sizes = append(sizes, part)
		exchange(d, part)
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		exchange(1<<(len(sizes)-1-i), sizes[i])
	}
	return last, nil
}
