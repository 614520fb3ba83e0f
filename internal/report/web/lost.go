package web

import (
	"slices"

	"railyard/internal/result"
)

// stepLost lists what the step lost to causes above 0.5 % of it, the largest saving first, and to those below.
func (r *Directory) stepLost() (all, minor []StepLoss) {
	s := &r.Summary
	if s.Chain == nil {
		return nil, nil
	}
	for _, id := range s.Chain.Ranked() {
		c := id.Get()
		x := StepLoss{CauseInfo: CauseInfo{c.Key, c.Name, c.Color, c.About}, Own: s.Chain.Own[id],
			Reaction: s.Chain.Reaction[id], Saving: s.Chain.Saving[id]}
		if i := slices.IndexFunc(s.Remedies, func(r result.Remedy) bool { return r.Cause == c.Key }); i >= 0 {
			x.Remedy = &s.Remedies[i]
		}
		if 200*max(s.Chain.Costs(id), x.Saving) < s.StepTime {
			minor = append(minor, x)
		} else {
			all = append(all, x)
		}
	}
	return all, minor
}
