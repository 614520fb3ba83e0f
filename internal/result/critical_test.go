package result

import (
	"testing"

	"pgregory.net/rapid"
)

// TestMergeCritical draws paths and merges them to a few pieces. They are still contiguous, with all time and all
// operations, and each piece has rank and class of its longest part.
func TestMergeCritical(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rows []CriticalRow
		at := rapid.Int64Range(0, 100).Draw(rt, "from")
		for range rapid.IntRange(1, 60).Draw(rt, "pieces") {
			end := at + rapid.Int64Range(1, 1000).Draw(rt, "length")
			rows = append(rows, CriticalRow{Start: at, End: end, Rank: rapid.Int32Range(0, 2).Draw(rt, "rank"),
				Peer:  rapid.Int32Range(-1, 1).Draw(rt, "peer"),
				Class: rapid.SampledFrom([]string{"forward", "dp"}).Draw(rt, "class"), Ops: 1})
			at = end
		}
		most := rapid.IntRange(1, 60).Draw(rt, "most")
		got := MergeCritical(rows, most)
		if len(got) > most && len(got) > 1 && len(got) != len(MergeCritical(rows, 1<<20)) {
			rt.Fatalf("%d pieces, at most %d", len(got), most)
		}
		if len(got) > most {
			rt.Fatalf("%d pieces of at most %d", len(got), most)
		}
		k, last, ops := 0, rows[0].Start, 0
		for _, p := range got {
			if p.Start != last {
				rt.Fatalf("a piece begins at %d, the one before ends at %d", p.Start, last)
			}
			longest, alike := int64(0), false
			for ; k < len(rows) && rows[k].End <= p.End; k++ {
				longest = max(longest, rows[k].End-rows[k].Start)
				alike = alike || rows[k].Rank == p.Rank && rows[k].Class == p.Class &&
					rows[k].computes() == p.computes()
			}
			if last, ops = p.End, ops+int(p.Ops); !alike || longest == 0 {
				rt.Fatalf("piece %+v is none of its parts", p)
			}
		}
		if last != at || ops != len(rows) {
			rt.Fatalf("to %d of %d, for %d operations of %d", last, at, ops, len(rows))
		}
	})
}

// TestMergeCriticalOfOneRank: neighbours of one rank and class are one piece. Neighbours of another class, or a
// transfer among computations, are not.
func TestMergeCriticalOfOneRank(t *testing.T) {
	got := MergeCritical([]CriticalRow{{0, 10, 1, -1, "forward", 1}, {10, 15, 1, -1, "forward", 1},
		{15, 20, 1, 2, "forward", 1}, {20, 30, 1, 3, "forward", 1}, {30, 40, 2, -1, "forward", 1},
		{40, 50, 2, -1, "dp", 1}}, 100)
	want := []CriticalRow{{0, 15, 1, -1, "forward", 2}, {15, 30, 1, 3, "forward", 2}, {30, 40, 2, -1, "forward", 1},
		{40, 50, 2, -1, "dp", 1}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("piece %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
