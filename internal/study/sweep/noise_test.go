package sweep

import "testing"

// Means are compared by seed: what all seeds share does not hide a difference, few seeds show none, and the level is
// Student's (Gosset 1908: 2.776 at four degrees of freedom).
func TestNoise(t *testing.T) {
	ranked := func(x ...float64) Ranked {
		mean := 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		return Ranked{Stats: []Stat{{Mean: mean}}, Seeds: x}
	}
	for _, c := range []struct {
		a, b        Ranked
		equal, near int
	}{
		{ranked(10, 20, 30, 40), ranked(11, 21.1, 30.9, 41), 0, 0}, // ranges overlap, every seed is worse by 1
		{ranked(10, 20, 30, 40), ranked(14, 18, 36, 37), 0, 1},
		{ranked(10, 20), ranked(11, 23), 0, 1}, // two seeds: t = 12.7
		{ranked(10, 20), ranked(11, 21), 0, 0},
		{ranked(10), ranked(11), 0, 0},
		{ranked(10, 20), ranked(20, 10), 1, 0},
		// mean 1, standard error 1/2.776 ± 1 %
		{ranked(0, 0, 0, 0, 0), ranked(1-1.01*0.8055, 1-1.01*0.8055, 1, 1+1.01*0.8055, 1+1.01*0.8055), 0, 1},
		{ranked(0, 0, 0, 0, 0), ranked(1-0.99*0.8055, 1-0.99*0.8055, 1, 1+0.99*0.8055, 1+0.99*0.8055), 0, 0},
	} {
		a := &Analysis{Ranking: []Ranked{c.a, c.b}}
		if equal, near := a.Noise(); equal != c.equal || near != c.near {
			t.Errorf("%v and %v: %d equal, %d near, want %d, %d", c.a.Seeds, c.b.Seeds, equal, near, c.equal, c.near)
		}
	}
}
