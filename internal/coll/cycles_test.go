package coll

import "testing"

// Cycles of a mesh visit every GPU once and share no link in one direction. There are n-1 of them up to 8 GPUs,
// except for 4 and 6, for which this is impossible (Tillson 1980).
func TestCycles(t *testing.T) {
	want := map[int]int{2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 6, 8: 7, 9: 8, 10: 9, 11: 10, 16: 8}
	for n := 1; n <= 16; n++ {
		used := map[[2]int]bool{}
		all := Cycles(n)
		for i, c := range all {
			seen := map[int]bool{}
			for k, a := range c {
				b := c[(k+1)%n]
				if n > 1 && used[[2]int{a, b}] || seen[a] || i == 0 && a != k {
					t.Fatalf("%d GPUs: %v", n, all)
				}
				used[[2]int{a, b}], seen[a] = true, true
			}
			if len(seen) != n {
				t.Fatalf("%d GPUs: %v", n, c)
			}
		}
		if w, ok := want[n]; ok && len(all) != w {
			t.Errorf("%d GPUs: %d cycles, want %d: %v", n, len(all), w, all)
		}
	}
}
