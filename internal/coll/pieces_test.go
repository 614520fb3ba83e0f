package coll

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// sizes lists the sizes of transfers in order.
func sizes(r *record) (out []unit.Bytes) {
	for _, s := range r.sends {
		out = append(out, s.bytes)
	}
	return out
}

// TestChunksOfRings sends 7 bytes around five ranks in parts of 1, 1, 2, 1 and 2. In round k of a reduce-scatter
// rank i sends part i - k. In the following all-gather it sends part i + 1 - k, the sum that it has (Patarasuk and
// Yuan 2009).
func TestChunksOfRings(t *testing.T) {
	for name, c := range map[string]struct {
		run  Algorithm
		want []unit.Bytes
	}{
		"reduce-scatter": {RingReduceScatter, []unit.Bytes{
			1, 1, 2, 1, 2,
			2, 1, 1, 2, 1,
			1, 2, 1, 1, 2,
			2, 1, 2, 1, 1,
		}},
		"all-gather": {RingAllGather, []unit.Bytes{
			1, 2, 1, 2, 1,
			1, 1, 2, 1, 2,
			2, 1, 1, 2, 1,
			1, 2, 1, 1, 2,
		}},
	} {
		if r, _ := recorded(c.run, seq(5), 7); !slices.Equal(sizes(r), c.want) {
			t.Errorf("%s sends %v, want %v", name, sizes(r), c.want)
		}
	}
}

// TestRingIsScatterAndGather: a ring all-reduce sends a reduce-scatter's transfers, then an all-gather's.
func TestRingIsScatterAndGather(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, bytes := rapid.IntRange(1, 12).Draw(t, "ranks"), unit.Bytes(rapid.IntRange(0, 1000).Draw(t, "bytes"))
		whole, _ := recorded(RingAllReduce, seq(n), bytes)
		first, _ := recorded(RingReduceScatter, seq(n), bytes)
		then, _ := recorded(RingAllGather, seq(n), bytes)
		if want := append(sizes(first), sizes(then)...); !slices.Equal(sizes(whole), want) {
			t.Fatalf("%d ranks, %d bytes: %v, want %v", n, bytes, sizes(whole), want)
		}
	})
}

// TestPieces: trees and slices send pieces of 512 KiB (NCCL's 4 MiB in 8 steps, docs/references.md, nccl-tuning),
// at most 1,024 of them. A transfer without a need for pieces is one.
func TestPieces(t *testing.T) {
	const piece = 524_288
	for _, c := range []struct {
		bytes unit.Bytes
		want  int
	}{
		{0, 1}, {1, 1}, {piece - 1, 1}, {piece, 1}, {piece + 1, 2}, {2 * piece, 2}, {2*piece + 1, 3}, {9 * piece, 9},
		{1023*piece + 1, 1024}, {1024 * piece, 1024}, {1024*piece + 1, 1024}, {5000 * piece, 1024},
	} {
		for name, x := range map[string]struct {
			run   Algorithm
			bytes unit.Bytes
			sends int // of a piece between two ranks
		}{
			"broadcast":  {TreeBroadcast, c.bytes, 1},
			"all-reduce": {NodeTrees(Even(1)), 2 * c.bytes, 2 * 2}, // a half by each tree, up and down
			"slices":     {Sliced(RingAllReduce, piece/2, 8), c.bytes, 2 * 2},
		} {
			r, _ := recorded(x.run, seq(2), x.bytes)
			total := unit.Bytes(0)
			for _, s := range sizes(r) {
				total += s
				if each := c.bytes / unit.Bytes(c.want); s > each+1 {
					t.Errorf("%s of %d: a transfer of %d, want about %d", name, x.bytes, s, each)
				}
			}
			if moves := map[string]unit.Bytes{"broadcast": 1, "all-reduce": 2, "slices": 2}[name]; total != moves*x.bytes {
				t.Errorf("%s of %d moves %d", name, x.bytes, total)
			}
			if len(r.sends) != c.want*x.sends {
				t.Errorf("%s of %d: %d transfers, want %d pieces of %d", name, x.bytes, len(r.sends), c.want, x.sends)
			}
		}
	}
}

// TestSlots permits eight pieces in flight on a connection of a tree: the ninth waits until the first has arrived.
func TestSlots(t *testing.T) {
	r, done := recorded(TreeBroadcast, seq(2), 20*524_288)
	for p, s := range r.sends {
		want := []int32{0, 1} // both ranks are ready
		if p >= 8 {
			want = append(want, r.first+int32(p)-8)
		}
		if s.src != 0 || s.dst != 1 || !slices.Equal(s.after, want) {
			t.Errorf("piece %d goes from %d to %d after %v, want %v", p, s.src, s.dst, s.after, want)
		}
	}
	if len(done[1]) != 1+20 || !slices.Equal(done[0], []int32{0}) {
		t.Errorf("done after %v", done)
	}
	r, _ = recorded(NodeTrees(Even(1)), seq(2), 2*20*524_288) // the first tree has the first 40 transfers
	up, down := 0, 0
	for _, s := range r.sends[:40] {
		sent, before := &up, "up"
		if s.src == r.sends[1].src {
			sent, before = &down, "down"
		}
		at := int32(*sent)*2 + map[string]int32{"up": 0, "down": 1}[before]
		if wants := r.first + at - 16; slices.Contains(s.after, wants) != (*sent >= 8) {
			t.Errorf("piece %d %s waits for %v, of its connection's slots for %d from the ninth on", *sent, before,
				s.after, wants)
		}
		*sent++
	}
}

// TestSliceWaitsForItsSlot: a slice begins when the one that precedes it by slots is done.
func TestSliceWaitsForItsSlot(t *testing.T) {
	one := func(s Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
		id := s.Transfer(ranks[0], ranks[1], b, ready[0]...)
		return [][]int32{{id}, {id}}
	}
	for slots := 1; slots <= 4; slots++ {
		r, done := recorded(Sliced(one, 10, slots), seq(2), 200) // ten pieces of 20
		for p, s := range r.sends {
			want := int32(0)
			if p >= slots {
				want = r.first + int32(p-slots)
			}
			if s.bytes != 20 || !slices.Equal(s.after, []int32{want}) {
				t.Errorf("%d slots: piece %d has %d bytes after %v, want %d", slots, p, s.bytes, s.after, want)
			}
		}
		if len(r.sends) != 10 || len(done[0]) != 10 {
			t.Errorf("%d slots: %d pieces, done after %d", slots, len(r.sends), len(done[0]))
		}
	}
}

// TestHalvingWaitsForBoth: in each exchange a rank waits for its send and its receive of the previous one. The
// partners of four ranks are 2 apart, 1, 1, 2 (Thakur et al. 2005).
func TestHalvingWaitsForBoth(t *testing.T) {
	r := &record{first: 4}
	done, err := HalvingDoubling(r, seq(4), 8, [][]int32{{0}, {1}, {2}, {3}})
	if err != nil {
		t.Fatal(err)
	}
	partners := []int{2, 1, 1, 2}
	after := [4][]int32{{0}, {1}, {2}, {3}}
	for round, apart := range partners {
		var next [4][]int32
		for i := range 4 {
			s := r.sends[4*round+i]
			slices.Sort(s.after)
			if s.src != i || s.dst != i^apart || s.bytes != []unit.Bytes{4, 2, 2, 4}[round] ||
				!slices.Equal(s.after, after[i]) {
				t.Errorf("round %d: %+v, want rank %d after %v", round, s, i, after[i])
			}
			next[i] = append(slices.Clone(after[i]), 4+int32(4*round+(i^apart))) // sent by the partner
		}
		for i := range 4 {
			after[i] = next[i]
			slices.Sort(after[i])
		}
	}
	for i := range done {
		if slices.Sort(done[i]); !slices.Equal(done[i], after[i]) {
			t.Errorf("rank %d is done after %v, want %v", i, done[i], after[i])
		}
	}
}

// TestAsMany compares servers by how many of some ranks each has.
func TestAsMany(t *testing.T) {
	on := Even(4)
	for _, c := range []struct {
		ranks []int
		want  bool
	}{
		{[]int{0, 1, 4, 5}, true}, {[]int{0, 1, 4}, false}, {[]int{0, 4, 8}, true}, {[]int{3}, true},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, true}, {[]int{0, 4, 5}, false}, {[]int{0, 4, 5, 8}, false},
	} {
		if got := on.AsMany(c.ranks); got != c.want {
			t.Errorf("%v on servers of four: %v, want %v", c.ranks, got, c.want)
		}
	}
}
