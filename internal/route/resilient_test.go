package route

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A table of buckets distributes the buckets of failed ports evenly over the others. Flows on working ports stay,
// and if all ports work hashing equals ECMP's.
func TestRefill(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := 1 << rapid.IntRange(0, 5).Draw(rt, "ports")
		whole := make([]int32, n)
		for i := range whole {
			whole[i] = int32(100 + 7*i)
		}
		buckets := n << rapid.IntRange(0, 4).Draw(rt, "buckets")
		table := Refill(whole, whole, buckets)
		live := slices.Clone(whole)
		for range rapid.IntRange(0, n-1).Draw(rt, "gone") {
			at := rapid.IntRange(0, len(live)-1).Draw(rt, "port")
			live = slices.Delete(live, at, at+1)
		}
		broken := Refill(whole, live, buckets)
		got := map[int32]int{}
		for b := range table {
			if slices.Contains(live, table[b]) && broken[b] != table[b] {
				rt.Fatalf("bucket %d moved from %d, which works, to %d", b, table[b], broken[b])
			}
			if !slices.Contains(live, broken[b]) {
				rt.Fatalf("bucket %d is at %d, which is gone", b, broken[b])
			}
			got[broken[b]]++
		}
		per, taken := buckets/n, buckets-buckets/n*len(live)
		for _, p := range live {
			if more := got[p] - per; more < taken/len(live) || more > (taken+len(live)-1)/len(live) {
				rt.Fatalf("port %d took over %d of %d buckets, %d are live", p, more, taken, len(live))
			}
		}
		flow := rapid.Uint32().Draw(rt, "flow")
		if whole[Hashed(flow, 3, n)] != table[Hashed(flow, 3, len(table))] {
			rt.Fatal("a whole group hashes as ECMP does")
		}
	})
	if got := Refill([]int32{1, 2}, []int32{3}, 4); !slices.Equal(got, []int32{3, 3, 3, 3}) {
		t.Errorf("ways that it never had: %v", got)
	}
	if got := Refill([]int32{1, 2, 3}, []int32{1, 3}, 1); !slices.Equal(got, []int32{1, 1, 3}) {
		t.Errorf("fewer buckets than ports: %v", got)
	}
}
