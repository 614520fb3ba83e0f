package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
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

// dominant is the minimum share of a wait at which a single rank is named for it.
const dominant = 0.9

// nameOf names a cause, and with it the slow ranks.
func nameOf(s *result.Summary, id cause.ID) string {
	if id == cause.SlowRank {
		return slowRanks(&s.Step)
	}
	return id.Get().Name
}

// slowRanks names the slow ranks of a step. They are a range if they are adjacent and their excess over siblings
// differs by at most a factor of two.
func slowRanks(s *result.Step) string {
	all := s.SlowRanks
	switch {
	case len(all) == 0:
		return cause.SlowRank.Get().Name
	case slices.ContainsFunc(all, func(x result.SlowRank) bool { return x.Kind != "" }):
		var kinds []string
		for _, x := range slowKinds(s) {
			if x.Kind == "" {
				kinds = append(kinds, fmt.Sprint("rank ", x.Rank))
				continue
			}
			kinds = append(kinds, fmt.Sprint(x.ranks, " ", x.Kind))
		}
		return "slower GPUs (" + strings.Join(kinds, ", ") + ")"
	case len(all) == 1:
		return fmt.Sprintf("slow rank %d", all[0].Rank)
	case len(all) == 2:
		return fmt.Sprintf("slow ranks %d and %d", all[0].Rank, all[1].Rank)
	}
	from, to := all[0].Rank, all[0].Rank
	for _, x := range all {
		from, to = min(from, x.Rank), max(to, x.Rank)
	}
	if int(to-from) == len(all)-1 && all[0].Excess() <= 2*all[len(all)-1].Excess() {
		return fmt.Sprintf("slow ranks %d to %d", from, to)
	}
	return fmt.Sprintf("slow ranks %d, %d and %s", all[0].Rank, all[1].Rank, unit.Plural(len(all)-2, "other"))
}

// slowKind is a kind of GPUs that are slower than others of a training: the slowest of them, and their number. Other
// slow ranks are one each.
type slowKind struct {
	result.SlowRank
	ranks int
}

// slowKinds returns the kinds of GPUs that are slower than others of a training, the slowest first.
func slowKinds(s *result.Step) (kinds []slowKind) {
	for _, x := range s.SlowRanks {
		i := slices.IndexFunc(kinds, func(k slowKind) bool { return k.Kind == x.Kind && x.Kind != "" })
		if i < 0 {
			i, kinds = len(kinds), append(kinds, slowKind{SlowRank: x})
		}
		kinds[i].ranks++
	}
	return kinds
}

// waitingFor names the ranks that the rank that ended last waited for, or the start of the work.
func waitingFor(s *result.Summary) string {
	var named int64
	all := s.WaitedFor
	for _, x := range all {
		named += x.Time
	}
	switch {
	case len(all) == 0 || 2*named < s.Waiting:
		return "waiting for the start of the work"
	case len(all) == 1, float64(all[0].Time) >= dominant*float64(s.Waiting):
		if all[0].Alike > 0 {
			return fmt.Sprintf("waiting for rank %d and %s", all[0].Rank, unit.Plural(all[0].Alike, "other"))
		}
		return fmt.Sprintf("waiting for rank %d", all[0].Rank)
	case len(all) == 2:
		return fmt.Sprintf("waiting for ranks %d and %d", all[0].Rank, all[1].Rank)
	default:
		return fmt.Sprintf("waiting for ranks %d, %d and others", all[0].Rank, all[1].Rank)
	}
}

// exposed describes the exposed communication of a training whose transfers run at line rate, which no remedy of the
// network shortens; "" if it is little, or contention is a tenth of it.
func exposed(s *result.Summary) string {
	all := s.ExposedTP + s.ExposedPP + s.ExposedDP + s.ExposedCP + s.ExposedEP
	account, _ := Account(s)
	if s.MFU == 0 || !s.Complete || account == nil || float64(all) < worthExposed*float64(s.StepTime) ||
		10*account.Lost() > all {
		return ""
	}
	const text = "Exposed communication: %s (%s of the step), at line rate but for %s: faster links, more overlap or another layout shorten it; railyard plan search compares layouts."
	return fmt.Sprintf(text, dur(all), percent(float64(all)/float64(s.StepTime)), dur(account.Lost()))
}

// worthExposed is the share of the step from which on exposed communication at line rate is worth a line.
const worthExposed = 0.1

// Idle describes relevant idle times, communication at line rate and slow ranks, and the changes that shorten them: no
// remedy of the network does.
func Idle(s *result.Summary) (lines []string) {
	share := func(ps int64) string {
		return fmt.Sprintf("%s (%s of the step)", dur(ps), percent(float64(ps)/float64(s.StepTime)))
	}
	if x := (idle{time: s.Bubble}); x.large(s) {
		const schedule = "more microbatches, workload.training.schedule=interleaved with vpp, or zero-bubble reduce %s; railyard plan search compares layouts."
		line := fmt.Sprintf("Pipeline bubble: %s: ", share(s.Bubble))
		if 10*s.Uneven > s.Bubble {
			line += fmt.Sprintf("%s of it blocked on a stage that computes longer, whatever the schedule; ", dur(s.Uneven))
			line += fmt.Sprintf(schedule, "the rest")
		} else {
			line += fmt.Sprintf(schedule, "it")
		}
		lines = append(lines, line)
	}
	if x := (idle{time: s.Waiting}); x.large(s) && s.Complete { // else ranks wait for those that were lost
		line := fmt.Sprintf("W%s: %s.", waitingFor(s)[1:], share(s.Waiting))
		if len(s.WaitedFor) > 0 {
			if top := &s.WaitedFor[0]; top.Path > 0 {
				line += fmt.Sprintf(" Rank %d (%s) computes for %s on the critical path.", top.Rank, top.GPU, share(top.Path))
			}
			line += " Remedy: balance the work of ranks."
		}
		lines = append(lines, line)
	}
	if text := exposed(s); text != "" {
		lines = append(lines, text)
	}
	if float64(s.Slow) < worthALine*float64(max(1, s.StepTime)) {
		return lines
	}
	for i, x := range slowKinds(&s.Step) {
		if x.Kind != "" {
			lines = append(lines, fmt.Sprintf("Slower GPUs: %d %s compute for %s, %s for %s.", x.ranks, x.Kind,
				dur(x.Compute), x.Fastest, dur(x.Usual)))
		} else if i < 2 {
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
