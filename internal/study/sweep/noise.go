package sweep

import "railyard/internal/result"

// Noise counts the other points whose mean of the first objective equals the best point's, and those within the noise.
func (a *Analysis) Noise() (equal, near int) {
	best := a.Ranking[0]
	for i := range a.Ranking[1:] {
		switch r := &a.Ranking[1+i]; {
		case r.Stats[0].Mean == best.Stats[0].Mean:
			equal++
		case a.Near(r):
			near++
		}
	}
	return equal, near
}

// Near reports whether the first objective of a point, or of the scenario, is within the noise of the best one's: their
// means differ, but not significantly.
func (a *Analysis) Near(r *Ranked) bool {
	if len(a.Ranking) == 0 {
		return false
	}
	best := &a.Ranking[0]
	return r.Stats[0].Mean != best.Stats[0].Mean && !result.Differ(best.Seeds, r.Seeds)
}

// Tie reports whether the first objective of a point, or of the scenario, equals the best one's or is within its noise.
func (a *Analysis) Tie(r *Ranked) bool {
	return len(a.Ranking) > 0 && (r.Stats[0].Mean == a.Ranking[0].Stats[0].Mean || a.Near(r))
}
