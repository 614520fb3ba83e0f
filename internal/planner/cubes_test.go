package planner

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Both maps of each dimension are matchings of all fibres of the cubes in the torus. Only the failed cube's
// circuits change.
func TestCubesAreMatchings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := CubeInput{Side: rapid.IntRange(2, 5).Draw(t, "side"),
			Spares: rapid.IntRange(1, 3).Draw(t, "spares")}
		n := 1
		for d := range in.Along {
			in.Along[d] = rapid.IntRange(1, 4).Draw(t, "along")
			n *= in.Along[d]
		}
		in.Without = rapid.IntRange(1, n).Draw(t, "without")
		c, err := in.Plan()
		if err != nil {
			t.Fatal(err)
		}
		moved := 0
		for d, m := range c.Maps {
			for k, all := range [][]Circuit{m.Before, m.After} {
				used := map[int]bool{}
				for _, x := range all {
					if x[0] >= x[1] || used[x[0]] || used[x[1]] || x[1] > c.Ports || x[0]%2 == x[1]%2 {
						t.Fatalf("%+v: map %d along %d: %v of %v", in, k, d, x, all)
					}
					used[x[0]], used[x[1]] = true, true
				}
				if len(all) != n || k == 1 && (used[2*in.Without] || !used[2*n+2]) {
					t.Fatalf("%+v: map %d along %d: %v", in, k, d, all)
				}
			}
			if want := min(2, in.Along[d]); m.Dark != want {
				t.Fatalf("%+v: %d circuits end along %d, want %d", in, m.Dark, d, want)
			}
			moved += m.Dark * in.Side * in.Side
		}
		if c.Moved != moved || c.Circuits != 3*in.Side*in.Side*n {
			t.Fatalf("%+v: %d of %d move", in, c.Moved, c.Circuits)
		}
	})
	for want, in := range map[string]CubeInput{
		"cubes: ":   {Along: [3]int{0, 1, 1}, Side: 2},
		"side: ":    {Along: [3]int{1, 1, 1}, Side: 1},
		"without: ": {Along: [3]int{1, 1, 1}, Side: 2, Without: 2},
		"spares: ":  {Along: [3]int{2, 1, 1}, Side: 2, Without: 2},
	} {
		if _, err := in.Plan(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
