package report

import (
	"fmt"
	"io"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// idle is time in which the rank that ended last neither computed nor waited for transfers.
type idle struct {
	time         int64 // ps
	name, matter string
}

// large reports whether idle time is worth a line.
func (x *idle) large(s *result.Summary) bool {
	return float64(x.time) >= result.LeastIdle*float64(max(1, s.StepTime))
}

// idleOf returns the larger of the pipeline's bubble and the wait for other ranks.
func idleOf(s *result.Summary) idle {
	if s.Waiting > s.Bubble {
		return idle{s.Waiting, waitingFor(s), "the network does not change the work of ranks (above)."}
	}
	return idle{s.Bubble, "pipeline bubble", "the pipeline bubble is a matter of the schedule (above)."}
}

// dominant is the minimum share of a wait, or of the cost of slow ranks, at which a single rank is named for it.
const dominant = 0.9

// ranksOf names ranks, the one with the longest time first.
func ranksOf(ranks []int32, first, whole int64) string {
	switch {
	case len(ranks) == 1, float64(first) >= dominant*float64(whole):
		return fmt.Sprintf("rank %d", ranks[0])
	case len(ranks) == 2:
		return fmt.Sprintf("ranks %d and %d", ranks[0], ranks[1])
	default:
		return fmt.Sprintf("ranks %d, %d and others", ranks[0], ranks[1])
	}
}

// nameOf names a cause, and with it the slow ranks.
func nameOf(s *result.Summary, id cause.ID) string {
	if id == cause.SlowRank {
		return slowRanks(&s.Step)
	}
	return id.Get().Name
}

// slowRanks names the slow ranks of a step.
func slowRanks(s *result.Step) string {
	var ranks []int32
	var whole int64
	for _, x := range s.SlowRanks {
		ranks, whole = append(ranks, x.Rank), whole+x.Excess
	}
	if len(ranks) == 0 {
		return cause.SlowRank.Get().Name
	}
	return "slow " + ranksOf(ranks, s.SlowRanks[0].Excess, whole)
}

// waitingFor names the ranks that the rank that ended last waited for, or the start of the work.
func waitingFor(s *result.Summary) string {
	var ranks []int32
	var named int64
	for _, x := range s.WaitedFor {
		ranks, named = append(ranks, x.Rank), named+x.Time
	}
	if len(ranks) == 0 || 2*named < s.Waiting {
		return "waiting for the start of the work"
	}
	return "waiting for " + ranksOf(ranks, s.WaitedFor[0].Time, s.Waiting)
}

// Idle describes relevant idle times and slow ranks, and the changes that shorten idle times: no remedy of the network
// does.
func Idle(s *result.Summary) (lines []string) {
	share := func(ps int64) string {
		return fmt.Sprintf("%s (%s of the step)", dur(ps), percent(float64(ps)/float64(s.StepTime)))
	}
	if x := (idle{time: s.Bubble}); x.large(s) {
		lines = append(lines, fmt.Sprintf("Pipeline bubble: %s: more microbatches, workload.training.schedule=interleaved with vpp, or zero-bubble reduce it; railyard plan search compares layouts.", share(s.Bubble)))
	}
	if x := (idle{time: s.Waiting}); x.large(s) {
		line := fmt.Sprintf("W%s: %s.", waitingFor(s)[1:], share(s.Waiting))
		if len(s.WaitedFor) > 0 {
			if top := &s.WaitedFor[0]; top.Path > 0 {
				line += fmt.Sprintf(" Rank %d (%s) computes for %s on the critical path.", top.Rank, top.GPU, share(top.Path))
			}
			line += " Remedy: balance the work of ranks."
		}
		lines = append(lines, line)
	}
	if float64(s.Slow) >= worthALine*float64(max(1, s.StepTime)) {
		for _, x := range s.SlowRanks[:min(len(s.SlowRanks), 2)] {
			lines = append(lines, fmt.Sprintf("Slow rank %d (%s) computes for %s, its siblings for %s (median).", x.Rank,
				x.GPU, dur(x.Compute), dur(x.Usual)))
		}
	}
	return lines
}

// idleTimes prints idle times.
func idleTimes(w io.Writer, s *result.Summary) {
	for _, line := range Idle(s) {
		Wrap(w, "", line)
	}
}
