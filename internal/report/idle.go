package report

import (
	"fmt"
	"io"

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

// dominant is the share of a wait from which on one rank stands for it.
const dominant = 0.9

// waitingFor names the ranks that the rank that ended last waited for, or the start of the work.
func waitingFor(s *result.Summary) string {
	var named int64
	for _, x := range s.WaitedFor {
		named += x.Time
	}
	switch all := s.WaitedFor; {
	case len(all) == 0, 2*named < s.Waiting:
		return "waiting for the start of the work"
	case len(all) == 1, float64(all[0].Time) >= dominant*float64(s.Waiting):
		return fmt.Sprintf("waiting for rank %d", all[0].Rank)
	case len(all) == 2:
		return fmt.Sprintf("waiting for ranks %d and %d", all[0].Rank, all[1].Rank)
	default:
		return fmt.Sprintf("waiting for ranks %d, %d and others", all[0].Rank, all[1].Rank)
	}
}

// Idle describes idle times that are worth a line, and what shortens them: no remedy of the network does.
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
			top := &s.WaitedFor[0]
			line += fmt.Sprintf(" Rank %d (%s) computes for %s on the critical path. Remedy: balance the work of ranks.",
				top.Rank, top.GPU, share(top.Path))
		}
		lines = append(lines, line)
	}
	return lines
}

// idleTimes prints idle times.
func idleTimes(w io.Writer, s *result.Summary) {
	for _, line := range Idle(s) {
		Wrap(w, "", line)
	}
}
