package inside

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// A switch gives every GPU one pipe out and one in for all its peers. A mesh gives every ordered pair its own pipe.
func TestWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "GPUs")
		rate := unit.Rate(rapid.IntRange(1, 900).Draw(t, "rate")) * unit.Gbps
		for _, f := range []*Fabric{Switched(n, rate), Mesh(n, rate)} {
			users := map[int32]map[[2]int]bool{}
			for from := range n {
				for to := range n {
					if from == to {
						continue
					}
					if f.Rate(from, to) != rate {
						t.Fatalf("%d to %d: %v", from, to, f.Rate(from, to))
					}
					for _, p := range f.Way(from, to, nil) {
						if users[p] == nil {
							users[p] = map[[2]int]bool{}
						}
						users[p][[2]int{from, to}] = true
					}
				}
			}
			pipes, each := n*(n-1), 1
			if f.Kind() == "NVLink" {
				pipes, each = 2*n, n-1
			}
			if len(users) != pipes || len(f.Rates) != pipes || f.Slowest() != rate || f.Check() != nil {
				t.Fatalf("%d pipes are used of %d, want %d", len(users), len(f.Rates), pipes)
			}
			for p, pairs := range users {
				if len(pairs) != each {
					t.Fatalf("pipe %d serves %d pairs, want %d", p, len(pairs), each)
				}
			}
		}
	})
}

// If a fabric does not connect all of its GPUs, the error names two unconnected ones.
func TestApart(t *testing.T) {
	f := Pairs([][]unit.Rate{{0, 1, 1}, {1, 0, 0}, {1, 1, 0}})
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "GPU 2 cannot reach GPU 3") {
		t.Error(err)
	}
	if err := Switched(MaxGPUs+1, unit.Gbps).Check(); err == nil {
		t.Error("more GPUs than NVLink joins are taken")
	}
}
