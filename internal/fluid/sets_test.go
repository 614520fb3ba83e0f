package fluid

import (
	"slices"
	"testing"
)

func TestSets(t *testing.T) {
	var s Sets
	var added [][]int32
	of := func(links ...int32) int32 {
		before := slices.Clone(links)
		at := s.Of(links, func(sorted []int32) int32 {
			added = append(added, sorted)
			return 100 + int32(len(added))
		})
		if !slices.Equal(links, before) {
			t.Errorf("%v became %v", before, links)
		}
		return at
	}
	if a, b, c, d := of(7), of(3, 1), of(1, 3), of(1, 3, 300); a != 7 || b != 101 || c != 101 || d != 102 {
		t.Errorf("%d %d %d %d", a, b, c, d)
	}
	if len(added) != 2 || !slices.Equal(added[0], []int32{1, 3}) {
		t.Errorf("%v", added)
	}
}
