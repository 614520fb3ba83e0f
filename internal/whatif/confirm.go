package whatif

import (
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// What is worth another run: a cause that costs so much of the step, or saves as much by estimate; and how many such
// runs are made.
const (
	leastConfirmed = 0.02
	mostConfirmed  = 3
)

// confirmHops is how many packet-hops runs that nobody asked for have at most, all together: two tenths of a second.
const confirmHops = 2_000_000

// Small returns the limits of further runs that nobody asked for, and false for a run that is too large for them.
func Small(of *result.Summary) (Limits, bool) {
	small := of.PacketHops > 0 && of.PacketHops <= confirmHops/2
	return Limits{Hops: confirmHops, Time: unit.Time(10 * of.StepTime)}, small
}

// Confirm simulates a finished run without each of its largest causes and replaces the estimates of what that saves
// by the results. It returns whether it changed the summary. What cannot be simulated within limits, whose packet-hops
// are those of all these runs together, leaves an estimate; so does a change that takes something else away as well.
func Confirm(p *scenario.Plan, of *result.Summary, l Limits) bool {
	if !of.Complete || of.Chain == nil || of.StepTime <= 0 {
		return false
	}
	known := facts.Of(p)
	facts.Count(known, of)
	most := l.Hops
	for _, id := range of.Chain.Ranked() {
		worth := float64(max(of.Chain.Saving[id], of.Chain.Costs(id))) >= leastConfirmed*float64(of.StepTime)
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
		of.Chain.Saving[id] = of.StepTime - o.Summary.StepTime
		of.Simulated = append(of.Simulated, id.Get().Key)
	}
	if len(of.Simulated) == 0 {
		return false
	}
	of.Remedies = nil
	for _, r := range facts.Remedies(known, of.Chain, of.StepTime) {
		of.Remedies = append(of.Remedies, told(&r, of))
	}
	return true
}
