package facts

import (
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// LeastCost is the share of a step that a cause must cost, or a run without it save, for a remedy to be listed.
const LeastCost = 0.005

// Remedy is a change of a scenario, for a cause of a run. A change without settings and edits is advice in words.
type Remedy struct {
	Of cause.ID
	cause.Change
}

// Remedies lists possible changes of a run, those of the leading cause first. Remedies that the scenario has already
// are omitted; a remedy of two causes is listed with both.
func Remedies(known *cause.Facts, s *result.Summary) (all []Remedy) {
	step := s.Chain
	ids := step.Ranked(int64(LeastCost*float64(s.StepTime)), s.Simulated...)
	for _, id := range step.Overlapped() {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		c, worth := id.Get(), step.Saves(id)
		if !step.Expects() || c.Lasting || c.Outside() || slices.Contains(s.Simulated, c.Key) {
			worth = max(worth, step.Costs(id)) // its remedies are simulated too, or no run is without it
		}
		if float64(worth) < LeastCost*float64(s.StepTime) {
			continue
		}
		some := c.Remedies(known)
		if len(some) == 0 && c.Advice != "" && !(c.Crossing && known.Inside) {
			some = []cause.Change{{Says: c.Advice}}
		}
		for _, change := range some {
			if change.IsPossible() {
				all = append(all, Remedy{id, change})
			}
		}
	}
	return all
}

// Result is the remedy of a run as its files, terminal and page have it.
func (r *Remedy) Result(s *result.Summary) result.Remedy {
	key := r.Of.Get().Key
	x := result.Remedy{Cause: key, Expected: s.Chain.Saving[r.Of], Simulated: slices.Contains(s.Simulated, key),
		Says: r.Says, Set: r.Set, Needs: r.Needs}
	switch { // a run without latency is without more: no cable saves that
	case r.Of == cause.Latency && len(r.Set) > 0:
		x.Expected = min(x.Expected, s.StoredLatency)
	case r.Of == cause.Latency:
		x.Expected = min(x.Expected, s.Chain.Costs(cause.Latency))
	}
	if SavesNothing(s, r.Of) {
		x.Cause, x.Expected, x.Simulated = result.OtherSetting, 0, false
	}
	switch beyond := s.Chain.Beyond[r.Of]; {
	case beyond == 0 || x.Cause == result.OtherSetting:
	case r.keepsPayload():
		x.Limit = s.Busiest.Show()
	default:
		x.Expected += beyond
	}
	return x
}

// SavesNothing reports that a run without a cause was simulated and takes as long, or longer. A remedy of it that saves
// something changes something else.
func SavesNothing(s *result.Summary, id cause.ID) bool {
	return slices.Contains(s.Simulated, id.Get().Key) &&
		float64(s.Chain.Saves(id)) < result.Chance*float64(s.StepTime)
}

// keepsPayload reports whether a remedy leaves the payload of each NIC and its rate unchanged. Of advice in words, that
// for NICs does not.
func (r *Remedy) keepsPayload() bool {
	for _, s := range r.Set {
		key, _, _ := strings.Cut(s, "=")
		switch first, _, _ := strings.Cut(key, "."); first {
		case "cc", "lb", "switch", "transport":
		default:
			return false
		}
	}
	return len(r.Set) > 0 || r.Of != cause.SharedNIC && r.Of != cause.StorageNIC
}
