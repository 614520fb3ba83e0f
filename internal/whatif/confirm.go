package whatif

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"railyard/internal/exec"
	"railyard/internal/facts"
	"railyard/internal/parallel"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// What is worth another run: a cause that costs so much of the step, or saves as much by estimate; and how many causes
// and remedies are simulated.
const (
	leastConfirmed = 0.02
	mostConfirmed  = 3
	mostRemedies   = 8
)

// Limits of runs that the user did not request: the total packet-hops, some seconds of a core, and the messages of a
// run as flows. A run may have a quarter of the packet-hops.
const (
	confirmHops  = 48_000_000
	confirmFlows = 2_000
)

// Small returns the limits of further runs that the user did not request, and false for a run that is too large for
// them.
func Small(of *result.Summary) (Limits, bool) {
	small := of.PacketHops > 0 && of.PacketHops <= confirmHops/4
	if of.PacketHops == 0 { // flows
		small = of.Flows.Count <= confirmFlows
	}
	return Limits{Hops: confirmHops, Time: unit.Time(10 * of.StepTime)}, small
}

// Confirm simulates a finished run without each of its largest causes and replaces the estimates of what that saves
// by the results. It simulates remedies too, the first of each cause first, and sorts them by what they save. It
// returns whether it changed the summary. Changes that cannot be simulated within limits, whose packet-hops are the
// sum of all these runs, keep their estimate; so does a change that removes another part.
func Confirm(p *scenario.Plan, of *result.Summary, l Limits) bool {
	if !of.Complete || of.Chain == nil || of.StepTime <= 0 {
		return false
	}
	known := facts.Of(p)
	facts.Count(known, of)
	limited, causes, tries := l.Hops > 0 && of.PacketHops > 0, mostConfirmed, 0
	if limited { // half of the runs that the limit allows: the others are for remedies
		causes = int(max(1, min(mostConfirmed, l.Hops/of.PacketHops/2)))
	}
	for _, id := range of.Chain.Ranked(0) {
		worth := float64(max(of.Chain.Saves(id), of.Chain.Costs(id))) >= leastConfirmed*float64(of.StepTime)
		without := id.Get().Without(known)
		if !worth || !without.IsPossible() || without.Doubt != "" {
			continue
		}
		if tries == causes || limited && l.Hops < of.PacketHops {
			break
		}
		tries++
		one := l
		if limited {
			one.Hops = min(l.Hops, 4*of.PacketHops)
		}
		o, err := Of(p).Run(&without, one)
		if err != nil {
			l.Hops -= one.Hops
			continue
		}
		l.Hops -= o.Summary.PacketHops
		of.Chain.Saving[id], of.Chain.Beyond[id] = of.StepTime-o.Summary.StepTime, 0
		of.Simulated = append(of.Simulated, id.Get().Key)
	}
	if len(of.Simulated) > 0 {
		of.LimitSavings()
	}
	all, n := candidates(known, of), mostRemedies
	if limited {
		n = int(min(mostRemedies, l.Hops/of.PacketHops))
	}
	if some := First(all, n); len(some) > 0 {
		l.Hops /= int64(len(some))
		tryAll(some, p, of.StepTime, l)
		Learn(p, of, all)
	} else if len(of.Simulated) == 0 {
		return false
	}
	worth := func(r *Remedy) int64 { // untried ones stand before those that do not help
		if r.Refuted {
			return math.MinInt64
		}
		return r.Saved
	}
	slices.SortStableFunc(all, func(a, b Remedy) int { return cmp.Compare(worth(&b), worth(&a)) })
	of.Remedies = nil
	for _, r := range all {
		r.Tried = r.Tried && r.Error == ""
		of.Remedies = append(of.Remedies, r.Remedy)
	}
	return true
}

// tryAll simulates remedies: on all cores if packet-hops are limited, else each with all of the memory.
func tryAll(some []*Remedy, p *scenario.Plan, step int64, l Limits) {
	if watch := l.Watch; watch != nil {
		turn := make(chan struct{}, 1) // one observation at a time
		l.Watch = func(at exec.Progress) bool {
			turn <- struct{}{}
			defer func() { <-turn }()
			return watch(at)
		}
	}
	var jobs []parallel.Job
	for _, r := range some {
		jobs = append(jobs, parallel.Job{Do: func() { r.Try(Of(p), step, l) }})
	}
	workers := 1
	if l.Hops > 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	parallel.Run(jobs, workers, 0)
}
