package whatif

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// What is worth another run: a cause that costs so much of the step, or saves as much by estimate; and how many causes
// and remedies are simulated.
const (
	leastConfirmed = 0.02
	mostConfirmed  = 3
	mostRemedies   = 5
)

// confirmHops limits the total packet-hops of runs that the user did not request: two tenths of a second.
const confirmHops = 2_000_000

// Small returns the limits of further runs that the user did not request, and false for a run that is too large for
// them.
func Small(of *result.Summary) (Limits, bool) {
	small := of.PacketHops > 0 && of.PacketHops <= confirmHops/2
	return Limits{Hops: confirmHops, Time: unit.Time(10 * of.StepTime)}, small
}

// Confirm simulates a finished run without each of its largest causes and replaces the estimates of what that saves
// by the results. It simulates the first remedy of each cause too, and drops one that saves less than
// facts.LeastCost of the step for the next. It returns whether it changed the summary. Changes that cannot be
// simulated within limits, whose packet-hops are the sum of all these runs, keep their estimate; so does a change
// that removes another part.
func Confirm(p *scenario.Plan, of *result.Summary, l Limits) bool {
	if !of.Complete || of.Chain == nil || of.StepTime <= 0 {
		return false
	}
	known := facts.Of(p)
	facts.Count(known, of)
	most := l.Hops
	for _, id := range of.Chain.Ranked() {
		worth := float64(max(of.Chain.Saves(id), of.Chain.Costs(id))) >= leastConfirmed*float64(of.StepTime)
		without := id.Get().Without(known)
		if !worth || !without.IsPossible() || without.Doubt != "" {
			continue
		}
		if len(of.Simulated) == mostConfirmed || most > 0 && l.Hops < of.PacketHops {
			break
		}
		o, err := Of(p).Run(&without, l)
		if err != nil {
			l.Hops -= of.PacketHops
			continue
		}
		l.Hops -= o.Summary.PacketHops
		of.Chain.Saving[id], of.Chain.Beyond[id] = of.StepTime-o.Summary.StepTime, 0
		of.Simulated = append(of.Simulated, id.Get().Key)
	}
	if len(of.Simulated) == 0 {
		return false
	}
	of.LimitSavings()
	of.Remedies = nil
	var refuted []cause.Change
	helps, runs := map[cause.ID]bool{}, 0
	for _, r := range facts.Remedies(known, of) {
		x, enough := r.Result(of), most == 0 || l.Hops >= of.PacketHops
		if slices.ContainsFunc(refuted, func(c cause.Change) bool { return same(&c, &r.Change) }) {
			continue
		}
		if changes(&r.Change) && !helps[r.Of] && runs < mostRemedies && enough {
			o, err := Of(p).Run(&r.Change, l)
			runs++
			if err != nil {
				l.Hops -= of.PacketHops
			} else {
				l.Hops -= o.Summary.PacketHops
				saved := of.StepTime - o.Summary.StepTime
				if helps[r.Of] = helpful(saved, of.StepTime); !helps[r.Of] {
					refuted = append(refuted, r.Change)
					continue
				}
				if x.Cause == result.OtherSetting {
					x.Expected, x.Simulated = saved, true
				}
			}
		}
		of.Remedies = append(of.Remedies, x)
	}
	return true
}

// helpful reports whether what a remedy saved of a step, in a simulation, is worth a word.
func helpful(saved, step int64) bool { return float64(saved) >= facts.LeastCost*float64(step) }
