package web

import (
	"slices"

	"railyard/internal/result"
)

// stepLost lists what the step lost, down to 0.5 % of it.
func (r *Directory) stepLost() []StepLoss {
	all, s := []StepLoss{}, &r.Summary
	if s.Chain == nil {
		return all
	}
	for _, id := range s.Chain.Ranked() {
		c := id.Get()
		x := StepLoss{CauseInfo: CauseInfo{c.Key, c.Name, c.Color, c.About}, Own: s.Chain.Own[id],
			Reaction: s.Chain.Reaction[id], Saving: s.Chain.Saving[id]}
		if 200*max(s.Chain.Costs(id), x.Saving) < s.StepTime {
			continue
		}
		if i := slices.IndexFunc(s.Remedies, func(r result.Remedy) bool { return r.Cause == c.Key }); i >= 0 {
			x.Remedy = &s.Remedies[i]
		}
		all = append(all, x)
	}
	return all
}
