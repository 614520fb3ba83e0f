package coll

import (
	"reflect"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// NCCL's tree of eight ranks (docs/references.md, nccl-trees), and its mirror image.
func TestTreeParents(t *testing.T) {
	if got := TreeParents(8, 0); !reflect.DeepEqual(got, []int{-1, 2, 4, 2, 0, 6, 4, 6}) {
		t.Errorf("tree 0: %v", got)
	}
	if got := TreeParents(8, 1); !reflect.DeepEqual(got, []int{1, 3, 1, 7, 5, 3, 5, -1}) {
		t.Errorf("tree 1: %v", got)
	}
}

// Both trees reach every rank, no rank has more than two children, and the depth is logarithmic. With an even
// number every rank is a leaf in one tree and inside the other.
func TestDoubleTree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 3000).Draw(rt, "ranks")
		leaf := make([]int, n)
		for tree := range 2 {
			p := TreeParents(n, tree)
			children := make([]int, n)
			roots := 0
			for r, up := range p {
				if up < 0 {
					roots++
					continue
				}
				if children[up]++; children[up] > 2 {
					rt.Fatalf("tree %d of %d: rank %d has more than two children", tree, n, up)
				}
				depth := 0
				for x := r; p[x] >= 0; x = p[x] {
					if depth++; depth > 14 {
						rt.Fatalf("tree %d of %d: rank %d is %d deep", tree, n, r, depth)
					}
				}
			}
			if roots != 1 {
				rt.Fatalf("tree %d of %d has %d roots", tree, n, roots)
			}
			for r, c := range children {
				if c == 0 {
					leaf[r]++
				}
			}
		}
		for r, l := range leaf {
			if n%2 == 0 && l != 1 {
				rt.Fatalf("of %d ranks, %d is a leaf in %d trees", n, r, l)
			}
		}
	})
}

// Trees and halving-doubling transfer a ring's total bytes in fewer rounds.
func TestTreeVolumes(t *testing.T) {
	for _, n := range []int{2, 4, 8, 64} {
		const s = 1 * unit.MiB
		ranks := seq(n)
		l := newLedger()
		done := NodeTrees(Even(1))(l, ranks, s, make([][]int32, n))
		if got := sum(l); got != 2*unit.Bytes(n-1)*s || len(done) != n {
			t.Errorf("tree of %d moves %v, want %v", n, got, 2*unit.Bytes(n-1)*s)
		}
		l2 := newLedger()
		done, err := HalvingDoubling(l2, ranks, s, make([][]int32, n))
		if err != nil || len(done) != n || sum(l2) != 2*unit.Bytes(n-1)*s {
			t.Errorf("halving-doubling of %d moves %v: %v", n, sum(l2), err)
		}
		ring := newLedger()
		RingAllReduce(ring, ranks, s, make([][]int32, n))
		if n > 4 && (deepest(l) >= deepest(ring) || deepest(l2) >= deepest(ring)) {
			t.Errorf("%d ranks: tree %d, halving-doubling %d, ring %d rounds", n, deepest(l), deepest(l2),
				deepest(ring))
		}
	}
	if _, err := HalvingDoubling(newLedger(), seq(6), 1, make([][]int32, 6)); err == nil {
		t.Error("six ranks are halved")
	}
}

func sum(l *ledger) (total unit.Bytes) {
	for _, b := range l.sent {
		total += b
	}
	return total
}

func deepest(l *ledger) (d int) {
	for _, x := range l.depth {
		d = max(d, x)
	}
	return d
}

// A single rank transfers nothing, and its dependencies are unchanged.
func TestTreeOfOne(t *testing.T) {
	l := newLedger()
	done := NodeTrees(Even(1))(l, []int{5}, unit.MiB, [][]int32{{3, 4}})
	if !reflect.DeepEqual(done, [][]int32{{3, 4}}) || len(l.sent) != 0 {
		t.Errorf("%d transfers, then %v", len(l.sent), done)
	}
}
