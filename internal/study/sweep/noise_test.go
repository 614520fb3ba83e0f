package sweep

import "testing"

// Means are compared by seed. A variation common to all seeds does not hide a difference, few seeds show none, and
// the level is Student's (Gosset 1908: 2.776 at four degrees of freedom).
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
		// mean 1, standard error 1/2.776 ± 1 %, by seeds that differ more
		{ranked(10, 20, 30, 40, 50), ranked(11-1.01*0.8055, 21-1.01*0.8055, 31, 41+1.01*0.8055, 51+1.01*0.8055), 0, 1},
		{ranked(10, 20, 30, 40, 50), ranked(11-0.99*0.8055, 21-0.99*0.8055, 31, 41+0.99*0.8055, 51+0.99*0.8055), 0, 0},
		{ranked(10, 10, 10, 10, 10), ranked(11, 11, 11, 11, 999), 0, 0}, // ranks
	} {
		a := &Analysis{Ranking: []Ranked{c.a, c.b}}
		if equal, near := a.Noise(); equal != c.equal || near != c.near {
			t.Errorf("%v and %v: %d equal, %d near, want %d, %d", c.a.Seeds, c.b.Seeds, equal, near, c.equal, c.near)
		}
	}
}

// JSON marks points that are as good as the best, as the table does, even if all points failed.
func TestNoiseInReport(t *testing.T) {
	s := &Study{}
	ranked := func(mean float64, seeds ...float64) Ranked {
		return Ranked{Stats: []Stat{{Mean: mean}}, Seeds: seeds, Figures: make(Means, len(Figures))}
	}
	near := ranked(26.25, 14, 18, 36, 37)
	a := &Analysis{Baseline: &near, Ranking: []Ranked{ranked(25, 10, 20, 30, 40), near}}
	r := s.Report(a, nil, 2)
	if r.Best[0].Noise || !r.Best[1].Noise || !r.Near || r.Best[1].Seeds != 4 {
		t.Errorf("%+v, scenario within noise: %v", r.Best, r.Near)
	}
	if even := ranked(25, 40, 30, 20, 10); !a.Tie(&near) || !a.Tie(&even) {
		t.Error("a point within the noise, or with the same mean, does not tie")
	}
	if far := ranked(26, 11, 21.1, 30.9, 41); a.Tie(&far) {
		t.Error("a point that is worse by every seed ties")
	}
	if a.Ranking = nil; s.Report(a, nil, 2).Near {
		t.Error("within the noise of no point")
	}
}
