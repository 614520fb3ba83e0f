package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cause"
	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// Advice is a proposed change, and its saving if it was simulated.
type Advice struct {
	result.Remedy
	Error string
}

// Why prints the causes of a run's time above line rate, and a table of remedies: the least step time with each, and
// the step time of a simulated one.
func Why(w io.Writer, s *result.Summary, all []Advice) {
	account, _ := Account(s)
	head := fmt.Sprintf("%s: step %s, %s of it above line rate", s.Name, dur(s.StepTime)+fidelityOf(s),
		percent(float64(account.Lost())/float64(s.StepTime)))
	if AtBound(s) {
		head = Answer(s)
		if s.Collectives[0].BoundWhy != "NIC" { // more NICs do not help
			all = slices.DeleteFunc(slices.Clone(all), func(a Advice) bool {
				return a.Cause == cause.SharedNIC.Get().Key
			})
		}
	} else if why := MainCause(s); why != "" {
		head += "; main cause: " + why
	}
	screen.Painted(w, screen.Answer, "", head)
	lost(w, s, false)
	idleTimes(w, s)
	fmt.Fprintln(w)
	refuted := slices.DeleteFunc(slices.Clone(all), func(a Advice) bool { return !a.Refuted })
	all = slices.DeleteFunc(slices.Clone(all), func(a Advice) bool { return a.Refuted })
	if len(all) == 0 {
		none := "No remedy of the network is known that saves 0.5 % of the step."
		if x := idleOf(s); x.large(s) {
			none = strings.TrimSuffix(none, ".") + "; " + x.matter
		}
		fmt.Fprintln(w, none)
	}
	failed, estimates := advices(w, s, "Remedy", screen.Remedy, all)
	if len(refuted) > 0 {
		fmt.Fprintln(w)
		_, more := advices(w, s, "Simulated, no remedy", screen.Baseline, refuted)
		estimates = estimates || more
	}
	for _, why := range failed {
		Labelled(w, "Not simulated: ", why)
	}
	if estimates {
		text := "at best: step time without the cause, estimated by a model of the run"
		if slices.ContainsFunc(all, func(a Advice) bool {
			return a.Tried && a.Error == "" && a.Saved == a.Expected && a.Cause != result.OtherSetting
		}) {
			text += ", or with its best remedy, if that is less"
		}
		if len(s.Simulated) > 0 {
			var names []string
			for _, key := range s.Simulated {
				if c, ok := cause.Find(key); ok {
					names = append(names, nameOf(s, c.ID))
				}
			}
			text += "; simulated for " + strings.Join(names, ", ")
		}
		if i := slices.IndexFunc(all, func(a Advice) bool { return a.Limit != "" }); i >= 0 {
			text += "; no less than the busiest NIC needs: " + all[i].Limit
		}
		screen.Painted(w, screen.Baseline, "", text)
	}
}

// advices prints a table of remedies, or of refuted ones. It returns why some failed, and whether it has estimates.
func advices(w io.Writer, s *result.Summary, head string, style screen.Style, all []Advice) (failed []string,
	estimates bool) {
	if len(all) == 0 {
		return nil, false
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Cause"}, {Head: "at best", Rare: true},
		{Head: "simulated", Rare: true}, {Head: "change", Rare: true}, {Head: head, Left: true}}}
	last, least := "", ""
	for i := range all {
		a := &all[i]
		name, estimate, simulated, change := "", "", "", ""
		if cause, best := ofCause(s, a); a.Cause != last || best != least {
			if estimate = best; a.Cause != last {
				name = cause
			}
			last, least, estimates = a.Cause, best, estimates || best != unit.NotApplicable
		}
		switch {
		case a.Error != "":
			if simulated = "failed"; !slices.Contains(failed, a.Error) {
				failed = append(failed, a.Error)
			}
		case a.Tried:
			simulated = dur(s.StepTime - a.Saved)
			change = unit.ShowChange(float64(s.StepTime-a.Saved), float64(s.StepTime))
		}
		t.AddStyled(style, name, estimate, simulated, change, remedy(&a.Remedy))
	}
	t.Print(w)
	return failed, estimates
}

// ofCause names the cause that a remedy is for, and the least step time with the remedy. "–": there is no run
// without the cause.
func ofCause(s *result.Summary, a *Advice) (name, estimate string) {
	c, ok := cause.Find(a.Cause)
	switch {
	case a.Cause == result.Bubble:
		return "pipeline bubble", unit.NotApplicable
	case a.Cause == result.OtherSetting:
		return "another setting", unit.NotApplicable
	case !ok:
		return a.Cause, unit.NotApplicable
	case c.ID == cause.SharedNIC, c.ID == cause.StorageNIC, c.ID == cause.LateRank, !s.Chain.Expects() && !a.Simulated:
		return nameOf(s, c.ID), unit.NotApplicable
	}
	return nameOf(s, c.ID), dur(s.StepTime - a.Expected)
}

// remedy formats a remedy: what to change, its settings, and the hardware that it needs.
func remedy(r *result.Remedy) string {
	text := r.Says
	if len(r.Set) > 0 {
		text += ": --set " + strings.Join(r.Set, " --set ")
	}
	if r.Needs != "" {
		text += " (needs " + r.Needs + ")"
	}
	return text
}
