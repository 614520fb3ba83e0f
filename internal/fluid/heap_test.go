package fluid

import (
	"cmp"
	"math/rand"
	"slices"
	"testing"
)

// TestHeap compares with sorting: elements leave in order of their keys, whatever is pushed in between.
func TestHeap(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		var h Heap[int64, int]
		var want []Entry[int64, int]
		for i := range 200 {
			if len(want) > 0 && random.Intn(3) == 0 {
				slices.SortFunc(want, func(a, b Entry[int64, int]) int {
					return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Then, b.Then))
				})
				if got := h.Pop(); got != want[0] {
					t.Fatalf("%v leaves, want %v", got, want[0])
				}
				want = want[1:]
				continue
			}
			at := int64(random.Intn(20))
			h.Push(at, int64(i), i)
			want = append(want, Entry[int64, int]{at, int64(i), i})
		}
	}
}
